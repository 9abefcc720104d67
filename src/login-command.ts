// Lines to type, as messages name them: a text as one word of a shell, and the command that signs a user in at this service, whatever a configuration file says.

/** Without a user the last one of that service, or the one that the command asks for. */
export function loginCommand(address: string, user: string | undefined): string {
  if (user === undefined || user === '') return `calcfs login ${address}`
  return `calcfs login ${address} --user ${shellWord(user)}`
}

export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
