// The command that signs a user in, as messages name it: for this service and this user, whatever a configuration file says.

/** A shell takes other characters for its own. */
const isPlainWord = (text: string): boolean => /^[\w.@%+=:,-]+$/.test(text)

/** Without a user the last one of that service, or the one that the command asks for. */
export function loginCommand(address: string, user: string | undefined): string {
  if (user === undefined || user === '') return `calcfs login ${address}`
  const word = isPlainWord(user) ? user : `'${user.replaceAll("'", String.raw`'\''`)}'`
  return `calcfs login ${address} --user ${word}`
}
