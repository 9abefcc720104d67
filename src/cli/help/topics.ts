// `calcfs help [WORD…]`: the help of a command, or a topic: a text in docs/help/ each, which the manual has too, and the list of all settings, which is docs/settings.md.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { Argument } from 'commander'
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
import { flagOf } from '../../terminal/settings.js'

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
