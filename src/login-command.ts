// The command that signs a user in, as messages name it: for this service and this user, whatever a configuration file says.
import { shellWord } from './shell-word.js'

/** Without a user the last one of that service, or the one that the command asks for. */
export function loginCommand(address: string, user: string | undefined): string {
  if (user === undefined || user === '') return `calcfs login ${address}`
  return `calcfs login ${address} --user ${shellWord(user)}`
}
