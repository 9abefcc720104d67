// Form of every --help, and advice for a line that commander refuses.
import { type Command, Help } from 'commander'
import { isUnlisted } from '../../terminal/settings.js'

/** The message of commander with a line of advice where there is one; a password in it is not repeated. */
export function withAdvice(message: string): string {
  const text = message.replace(/'(--(?:password|token))=[^']*'/, "'$1'")
  const [, command = ''] = /unknown command '(.*)'/.exec(text) ?? []
  const word = command.replace(/s$/, '')
  if (Object.hasOwn(otherWords, word)) return `${text.split('\n')[0]}\n(${otherWords[word]})\n`
  const advice = adviceFor(text)
  return advice === undefined ? text : `${text.trimEnd()}\n(${advice})\n`
}

/** Words that are tried for a command, and what they mean here. */
const otherWords: Readonly<Record<string, string>> = {
  undo: 'calcfs history PATH lists the texts that a record had, calcfs restore PATH@N saves one of them again',
  share: 'a project is shared by a text in its folder .shares, as .shares/new.json: calcfs help edits',
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
export const helpForm = (listsAll: boolean) => ({
  formatHelp(command: Command, helper: Help): string {
    const all = helper.visibleOptions(command)
    helper.visibleOptions = () => all.filter(option => listsAll || !isUnlisted(option))
    return Help.prototype.formatHelp.call(helper, command, helper)
  },
  subcommandDescription: (command: Command): string => gist(command.description()),
})

/** The first part of a description, for a list of commands or flags. */
export const gist = (description: string): string => description.split(/[;:(]/)[0]?.trim() ?? ''
