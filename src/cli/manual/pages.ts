// The manual pages: the mdoc(7) files of this folder, filled from the table of settings, the commands, and the topics of `calcfs help`; and docs/settings.md.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { otherVariables } from '../../config/config.js'
import { flagName, settings, variableName } from '../../config/settings.js'
import { exampleLines, examplesOf } from '../../terminal/examples.js'
import { exitCodes } from '../../terminal/exit.js'
import { packageRoot } from '../../terminal/package-root.js'
import { isUnlisted } from '../../terminal/settings.js'
import { groups, groupTitles, settingsIn, textTopics, topicText } from '../help/topics.js'
import { optionName } from '../mount/mount-helper.js'
import {
  argumentWords,
  filled,
  flagItem,
  heading,
  namedCommands,
  paragraph,
  safe,
  section,
  type Title,
  typed,
  word,
} from './mdoc.js'

type Parts = Readonly<Record<string, readonly string[]>>

/** File names, and their texts. */
export function manualPages(program: Command, date: Date): Readonly<Record<string, string>> {
  const pages: readonly (readonly [Omit<Title, 'date'>, Parts])[] = [
    [
      { name: 'calcfs', section: 1, says: 'a computational-chemistry data platform as a drive' },
      programParts(program),
    ],
    [
      { name: 'calcfs.conf', section: 5, says: 'settings of calcfs' },
      { '@SETTINGS': ofSettings(settingItem) },
    ],
    [
      { name: 'mount.calcfs', section: 8, says: 'mount a calcfs drive by mount(8) and fstab(5)' },
      { '@OPTIONS': ofSettings(optionItem) },
    ],
  ]
  return Object.fromEntries(
    pages.map(([title, parts]) => {
      const name = `${title.name}.${title.section}`
      return [name, pageOf(name, { '@HEADING': heading({ ...title, date }), ...parts })]
    }),
  )
}

/** A line of the file that names a part stands for that part. */
function pageOf(name: string, parts: Parts): string {
  const file = join(packageRoot(), 'src/cli/manual', `${name}.mdoc`)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return `${filled(lines.flatMap(line => parts[line] ?? [line])).join('\n')}\n`
}

const list = (items: readonly string[]): readonly string[] =>
  items.length === 0 ? [] : ['.Bl -tag -width Ds', ...items, '.El']

const ofSettings = (item: (name: keyof typeof settings) => readonly string[]): readonly string[] =>
  groups.flatMap(group => [`.Ss ${safe(groupTitles[group])}`, ...list(settingsIn(group).flatMap(item))])

const programParts = (program: Command): Parts => ({
  '@FLAGS': list(program.createHelp().visibleOptions(program).flatMap(flagItem)),
  '@COMMANDS': namedCommands(program).flatMap(([name, command]) => commandLines(name, command)),
  '@TOPICS': textTopics.flatMap(topic => section(topicText(topic))),
  '@VARIABLES': list(
    Object.entries(otherVariables).flatMap(([name, says]) => [`.It Ev ${name}`, ...paragraph(`${says}.`)]),
  ),
  '@EXITS': list(
    Object.entries(exitSays).flatMap(([name, says]) => [
      `.It ${exitCodes[name as keyof typeof exitCodes]}`,
      ...paragraph(`${says}.`),
    ]),
  ),
})

const exitSays: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'Done',
  failed: 'Failed, or answered with no',
  usage: 'A wrong flag, argument or setting: the same call will fail again',
  signIn: 'The service refused the user name, password or token, or the sign-in has ended',
  unreachable: 'The service or the daemon of a drive did not answer',
  noFuse: 'This machine cannot mount: FUSE is missing or not allowed',
  mountPoint: 'The mount point is missing, not empty, or no mount of calcfs',
  unsent: 'Edits wait to be saved',
}

function commandLines(name: string, command: Command): readonly string[] {
  const options = command
    .createHelp()
    .visibleOptions(command)
    .filter(
      option => !isUnlisted(option) && option.helpGroupHeading === undefined && option.long !== '--help',
    )
  const takesSettings = command.options.some(
    option => isUnlisted(option) || option.helpGroupHeading !== undefined,
  )
  const args = command.registeredArguments
  return [
    `.Ss ${safe(name)}`,
    '.Bd -ragged -compact',
    '.Nm calcfs',
    `.Cm ${word(name)}`,
    ...(options.length === 0 ? [] : ['.Op Ar option ...']),
    ...(args.length === 0 ? [] : [`.${argumentWords(args)}`]),
    '.Ed',
    '.Pp',
    ...paragraph(`${capital(command.description())}.`),
    ...list([
      ...args
        .filter(one => one.description !== '')
        .flatMap(one => [`.It Ar ${word(one.name())}`, ...paragraph(`${one.description}.`)]),
      ...options.flatMap(flagItem),
    ]),
    ...(takesSettings ? ['.Pp', 'The settings of', '.Xr calcfs.conf 5', 'work as flags here, too.'] : []),
    ...typed(exampleLines(examplesOf(command))),
  ]
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function settingItem(name: keyof typeof settings): readonly string[] {
  const { value, help, initial, repeatable } = settings[name]
  const values = value === undefined ? 'yes or no' : value.replace(/[<>]/g, '')
  return [
    `.It Cm ${word(flagName(name))} = Ar ${word(values)}`,
    ...paragraph(`${capital(help)}.`),
    ...(repeatable ? ['May be given several times.'] : []),
    ...(initial === undefined ? [] : ['Default:', `.Ql ${word(initial)} .`]),
    `.Pq Fl ${word(`-${flagName(name)}`)} , Ev ${variableName(name)}`,
  ]
}

function optionItem(name: keyof typeof settings): readonly string[] {
  const { value, help, initial } = settings[name]
  const option =
    value === undefined
      ? word(optionName(name))
      : `${word(`${optionName(name)}=`)} Ns Ar ${word(value.replace(/[<>]/g, ''))}`
  return [
    `.It Cm ${option}`,
    ...paragraph(`${capital(help)}.`),
    ...(initial === undefined ? [] : ['Default:', `.Ql ${word(initial)} .`]),
  ]
}

const intro = `# Settings

Made by \`npm run pages\` from \`src/config/settings.ts\`; a test compares the two. \`calcfs help settings\` and calcfs.conf(5) have the same.

Each is a flag, a variable and a key of \`~/.config/calcfs/config.toml\` or \`/etc/calcfs/config.toml\`: \`--ttl-listing 1m\`, \`CALCFS_TTL_LISTING=1m\`, \`ttl-listing = "1m"\` (or \`listing = "1m"\`
below \`[ttl]\`). The flag goes before the variable, the variable before the profile (\`[profiles.NAME]\`, \`--profile NAME\`), the profile before the rest of the file, the user's file before the machine's. With \`--config FILE\` that file counts alone.
Durations are \`500ms\`, \`30s\`, \`5m\`, \`12h\` or \`7d\`, sizes \`500M\` or \`10G\`, switches \`yes\` or \`no\`. A setting that may be given several times is a list in the file, and has a line for each in its variable.`

const secrets = `Passwords and tokens are no flags. In this order: \`CALCFS_TOKEN\`, \`CALCFS_PASSWORD\`, the systemd credential \`calcfs-password\`, \`password-command\`, \`password-file\`, then \`token\` and \`password\` of a configuration file
of mode 0600. Without any of them the token of \`calcfs login\` counts. The file alone has \`profile\`, the profile to take, and \`[dialect.fields]\` and \`[dialect.query."ENDPOINT"]\` for a service that names its fields otherwise.`

/** The whole page. */
export function settingsPage(): string {
  const tables = groups.map(group =>
    [
      `## ${groupTitles[group]}`,
      '',
      '| setting | default | what it is |',
      '|---|---|---|',
      ...settingsIn(group).map(rowOf),
    ].join('\n'),
  )
  const others = Object.entries(otherVariables).map(([name, says]) => `| \`${name}\` | ${says} |`)
  const last = [
    '## Secrets and other variables',
    '',
    secrets,
    '',
    '| variable | what it is |',
    '|---|---|',
    ...others,
  ]
  return `${[intro, ...tables, last.join('\n')].join('\n\n')}\n`
}

function rowOf(name: keyof typeof settings): string {
  const { value, help, initial, repeatable } = settings[name]
  const flag = `\`--${flagName(name)}${value === undefined ? '' : ` ${value}`}\``
  const says = help.replaceAll('|', '\\|')
  return `| ${flag}<br>\`${variableName(name)}\` | ${initial === undefined ? '' : `\`${initial}\``} | ${says}${repeatable ? ' (a list)' : ''} |`
}
