// Help: the form of every --help, the advice for a line that commander refuses, and `calcfs help [WORD…]`: a command's, or a topic, a text in docs/help/ each and the list of all settings, which the manual has too.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Argument, type Command, Help } from 'commander'
import { otherVariables } from '../../config/config.js'
import { nearestPhrase } from '../../config/nearest.js'
import {
  type Group,
  groups,
  groupTitles,
  settingNames,
  settings,
  variableName,
} from '../../config/settings.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { packageRoot } from '../../terminal/package-root.js'
import { printText } from '../../terminal/print.js'
import { flagOf, isUnlisted } from '../../terminal/settings.js'

export const textTopics = ['edits', 'conflicts', 'deleting', 'names', 'offline'] as const
export const topics = [...textTopics, 'settings'] as const
type Topic = (typeof topics)[number]

const isTopic = (name: string): name is Topic => topics.some(topic => topic === name)

/** Markdown: `# ` and the title, paragraphs, lists with `- `, lines to type behind four blanks. Plain enough to read as it is. */
export function topicText(topic: Topic): string {
  return topic === 'settings'
    ? settingsText()
    : readFileSync(join(packageRoot(), 'docs/help', `${topic}.md`), 'utf8')
}

export const settingsIn = (group: Group) => settingNames.filter(name => settings[name].group === group)

const settingsIntro = `# All settings

Each is a flag, a variable and a key of ~/.config/calcfs/config.toml or of
/etc/calcfs/config.toml: --ttl-listing 1m, CALCFS_TTL_LISTING=1m, and
ttl-listing = "1m". The flag goes before the variable, the variable before the
profile ([profiles.NAME], --profile NAME), the profile before the rest of the
file, the user's file before the machine's. With --config FILE that file counts
alone. Durations are 500ms, 30s, 5m, 12h or 7d, sizes 500M or 10G, switches yes
or no. A setting that may be given several times is a list in the file, and has
a line for each in its variable.

Passwords and tokens are no flags. In this order: CALCFS_TOKEN, CALCFS_PASSWORD,
the systemd credential calcfs-password, then of the nearest place that has one,
and names no other user: password-command, password-file, token, password (these
two in a file of mode 0600). Without any the token of \`calcfs login\` counts.
The file alone has profile, the profile to take, and [dialect.fields] and
[dialect.query."ENDPOINT"] for a service that names its fields otherwise.`

function settingsText(): string {
  const item = (name: string, ...lines: readonly string[]): string =>
    [`    ${name}`, ...lines.map(line => `        ${line}`)].join('\n')
  const parts = groups.map(group => {
    const items = settingsIn(group).map(name => {
      const { help, initial } = settings[name]
      const preset = initial === undefined ? '' : ` (default ${initial})`
      return item(flagOf(name), variableName(name), `${help}${preset}`)
    })
    return [`## ${groupTitles[group]}`, ...items].join('\n\n')
  })
  const others = Object.entries(otherVariables).map(([name, says]) => item(name, says))
  return `${[settingsIntro, ...parts, '## Other variables', ...others].join('\n\n')}\n`
}

/** @param whole makes the command line, whose commands are looked up */
export const helpCommand = (whole: (listsAll: boolean) => Promise<Command>): Command =>
  new CliCommand('help')
    .description('print the help of a command, or a topic: how edits are saved, what a conflict is, …')
    .addArgument(new Argument('[topic...]', `a command, or one of ${topics.join(', ')}`))
    .option('--all', 'with every setting that works as a flag there')
    .action(async (words: readonly string[], { all = false }: { readonly all?: boolean }) => {
      const [topic = ''] = words
      if (words.length === 1 && isTopic(topic)) printText(topicText(topic))
      else found(words, await whole(all)).outputHelp()
    })
    .examples(
      ['calcfs help edits', 'how a save reaches the service'],
      ['calcfs help drafts send', 'as calcfs drafts send --help'],
      ['calcfs help settings | less', 'all flags, variables and keys'],
    )

function found(words: readonly string[], program: Command): Command {
  let at = program
  for (const word of words) {
    const inner = at.commands.find(command => command.name() === word)
    if (inner === undefined)
      throw new Stop(
        exitCodes.usage,
        `there is no help on '${words.join(' ')}'${nearestPhrase(word, [...topics, ...at.commands.map(one => one.name())])}; calcfs help lists the commands, and the topics are ${topics.join(', ')}.`,
      )
    at = inner
  }
  return at
}

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
  if (dashes === '--' && name === 'list')
    return 'calcfs pins, calcfs drafts list and calcfs history PATH list what there is'
  if (dashes === '--' && name === 'mount')
    return '--mount stands behind its command; mount, unmount, status, top and log take the drive without it'
  if (/missing required argument 'url'|unknown command 'https?:/.test(text))
    return 'write calcfs mount https://lab.example.org ~/lab, or calcfs mount --profile NAME ~/lab'
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
  minWidthToWrap: 30,
  subcommandDescription: (command: Command): string => gist(command.description()),
})

/** The first part of a description, for a list of commands or flags. */
export const gist = (description: string): string => description.split(/[;:(]/)[0]?.trim() ?? ''
