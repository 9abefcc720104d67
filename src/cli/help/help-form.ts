// Form of every --help, the order of the commands in it, and advice for a line that commander refuses.
import { type Command, Help } from 'commander'
import { isUnlisted } from '../../terminal/settings.js'

/** The message of commander with a line of advice where there is one; a password in it is not repeated. */
export function withAdvice(message: string): string {
  const text = message.replace(/'(--(?:password|token))=[^']*'/, "'$1'")
  const advice = adviceFor(text)
  return advice === undefined ? text : `${text.trimEnd()}\n(${advice})\n`
}

function adviceFor(text: string): string | undefined {
  const [, dashes, name] = /unknown option '(--?)([^']+)'/.exec(text) ?? []
  if (dashes === '--' && (name === 'password' || name === 'token'))
    return `a ${name} is never a flag, which every user of this machine could read: ${ways[name]}`
  if (dashes === '-' && name !== undefined && /^[a-z][a-z-]+$/.test(name))
    return `a flag of several letters has two dashes: --${name}`
  if (/too many arguments for /.test(text))
    return "a name with blanks stands in quotes: 'projects/Water splitting'"
  return undefined
}

const ways = {
  password:
    'leave it out and calcfs login asks, or set CALCFS_PASSWORD, --password-file FILE or --password-command COMMAND',
  token: 'set CALCFS_TOKEN',
} as const

/** For `configureHelp`. A mistyped flag is still compared with the flags that are not listed. */
export const helpForm = {
  formatHelp(command: Command, helper: Help): string {
    const all = helper.visibleOptions(command)
    helper.visibleOptions = () => all.filter(option => !isUnlisted(option))
    return Help.prototype.formatHelp.call(helper, command, helper)
  },
  subcommandDescription: (command: Command): string => gist(command.description()),
}

/** The first part of a description, for a list of commands or flags. */
export const gist = (description: string): string => description.split(/[;:(]/)[0]?.trim() ?? ''

const groups: Readonly<Record<string, readonly string[]>> = {
  'Drives:': ['mount', 'unmount', 'status', 'mounts', 'top', 'log', 'metrics', 'refresh', 'why', 'info'],
  'Edits:': ['drafts', 'history', 'restore', 'report', 'delete'],
  'Contents:': ['cache', 'pin', 'unpin', 'pins'],
  'Without a mount:': ['ls', 'find', 'cat', 'get', 'resolve'],
  'Sign-in and settings:': ['login', 'logout', 'doctor', 'fleet', 'desktop', 'hand-over'],
  'Help, and a service to try:': ['help', 'completion', 'demo', 'serve'],
}

const others = 'Others:'

/** The heading above a command. */
export const groupOf = (name: string): string =>
  Object.entries(groups).find(([, names]) => names.includes(name))?.[0] ?? others

const order = Object.values(groups).flat()

/** For a sort: where a command stands; one without a group behind all. */
export function placeOf(name: string): number {
  const at = order.indexOf(name)
  return at === -1 ? order.length : at
}
