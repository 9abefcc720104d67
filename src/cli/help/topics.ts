// Topics of `calcfs help`: a text in docs/help/ each, which the manual has too; and the list of all settings.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Group, settingNames, settings, variableName } from '../../config/settings.js'
import { otherVariables } from '../../config/variables.js'
import { packageRoot } from '../../terminal/package-root.js'
import { flagOf } from '../../terminal/settings.js'

/** Those with a text of their own. */
export const textTopics = ['edits', 'conflicts', 'names', 'offline'] as const
export const topics = [...textTopics, 'settings'] as const
export type Topic = (typeof topics)[number]

export const isTopic = (name: string): name is Topic => topics.some(topic => topic === name)

/** Markdown: `# ` and the title, paragraphs, lists with `- `, lines to type behind four blanks. Plain enough to read as it is. */
export function topicText(topic: Topic): string {
  return topic === 'settings'
    ? settingsText()
    : readFileSync(join(packageRoot(), 'docs/help', `${topic}.md`), 'utf8')
}

/** What the settings of a group are about, in the order in which they are listed. */
export const groupTitles: Readonly<Record<Group, string>> = {
  service: 'The service and the way to it',
  drive: 'The drive',
  log: 'The log',
}

export const groups: readonly Group[] = ['service', 'drive', 'log']

export const settingsIn = (group: Group) => settingNames.filter(name => settings[name].group === group)

const settingsIntro = `# All settings

Each is a flag, a variable and a key of ~/.config/calcfs/config.toml (or of
/etc/calcfs/config.toml): --ttl-listing 1m, CALCFS_TTL_LISTING=1m, and
ttl-listing = "1m", or listing = "1m" below [ttl]. The flag goes before the
variable, the variable before the profile, the profile before the rest of the
file. Durations are 500ms, 30s, 5m, 12h or 7d, sizes 500M or 10G, switches yes
or no. A setting that may be given several times is a list in the file, and has
a line for each in its variable.
`

function settingsText(): string {
  const parts = groups.map(group => {
    const lines = settingsIn(group).map(name => {
      const { help, initial } = settings[name]
      const preset = initial === undefined ? '' : ` (default ${initial})`
      return `${flagOf(name)}\n    ${variableName(name)}\n    ${help}${preset}`
    })
    return [`## ${groupTitles[group]}`, ...lines].join('\n\n')
  })
  const others = Object.entries(otherVariables).map(([name, says]) => `${name}\n    ${says}`)
  return `${[settingsIntro.trimEnd(), ...parts, '## Other variables', ...others].join('\n\n')}\n`
}
