// Lines to type, as messages name them: a text as one word of a shell, and the command that signs a user in at this service, whatever a configuration file says.

/** Without a user the last one of that service, or the one that the command asks for. */
export function loginCommand(address: string, user: string | undefined): string {
  if (user === undefined || user === '') return `calcfs login ${address}`
  return `calcfs login ${address} --user ${shellWord(user)}`
}

/** The end of a sentence about a sign-in that is refused; `from` is the place that its password or token is given at. */
export function signInMend(address: string, user: string | undefined, from: string | undefined): string {
  const command = `run \`${loginCommand(address, user)}\``
  return from === undefined ? command : `correct ${from}, or unset it and ${command}`
}

export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
