// The manual pages: the mdoc(7) files of this folder, filled from the table of settings, the --help of each command, and the topics of `calcfs help`; text is made safe for their language.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { otherVariables } from '../../config/config.js'
import { flagName, type Group, groups, groupTitles, settings, variableName } from '../../config/settings.js'
import { capital } from '../../edit/journal/draft-meta.js'
import { exitCodes, exitMeanings } from '../../terminal/exit.js'
import { packageRoot } from '../../terminal/package-root.js'
import { settingsIn, textTopics, topicText } from '../help/help.js'

type Parts = Readonly<Record<string, readonly string[]>>

/** @param date for the foot of each page */
export function manualPages(program: Command, date: Date): Readonly<Record<string, string>> {
  const day = date.toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' })
  const parts = {
    ...programParts(program),
    '@SETTINGS': groups.flatMap(settingLines),
    '@DATE': [`.Dd ${day}`],
  }
  return Object.fromEntries(
    ['calcfs.1', 'calcfs.conf.5', 'mount.calcfs.8'].map(name => [name, pageOf(name, parts)]),
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

const settingLines = (group: Group): readonly string[] => [
  `.Ss ${groupTitles[group]}`,
  ...list(settingsIn(group).flatMap(settingItem)),
]

const programParts = (program: Command): Parts => ({
  '@PROGRAM': typed(helpOf(program)),
  '@COMMANDS': commandLines(program, ''),
  '@TOPICS': textTopics.flatMap(topic => section(topicText(topic))),
  '@VARIABLES': list(
    Object.entries(otherVariables).flatMap(([name, says]) => [`.It Ev ${name}`, ...paragraph(`${says}.`)]),
  ),
  '@EXITS': list(
    Object.entries(exitMeanings).flatMap(([name, meaning]) => [
      `.It ${exitCodes[name as keyof typeof exitCodes]}`,
      ...paragraph(`${capital(meaning)}.`),
    ]),
  ),
})

/** Each command below this one, as its --help shows it. */
const commandLines = (command: Command, above: string): readonly string[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .flatMap(inner => {
      const name = `${above} ${inner.name()}`.trim()
      return [`.Ss ${safe(name)}`, ...typed(helpOf(inner)), ...commandLines(inner, name)]
    })

/** With the indent of a literal display, 80 columns. */
const helpWidth = 70

function helpOf(command: Command): readonly string[] {
  let text = ''
  const writeOut = (piece: string): void => {
    text += piece
  }
  command.configureOutput({ writeOut, getOutHelpWidth: () => helpWidth }).outputHelp()
  return text.trim().split('\n')
}

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

/** Characters that troff gives a meaning, and a dash that can be copied to a shell. */
function safe(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('→', '\\(->')
    .replaceAll('·', '\\(pc')
    .replace(/^([.'])/, '\\&$1')
}

/** A word of a macro's line: quoted, since blanks part its arguments and a macro's name in it would be called. */
const word = (text: string): string => `"${safe(text).replaceAll('"', '\\(dq')}"`

const paragraph = (text: string): readonly string[] =>
  text
    .replace(/\s+/g, ' ')
    .trim()
    .split(/(?<=[.:]) (?=[A-Z`])/)
    .map(sentence => safe(sentence.replaceAll('`', '')))

/** A text of docs/help/: a section with its title, and its lines as they are. */
function section(markdown: string): readonly string[] {
  const [title = '', ...lines] = markdown.trim().split('\n')
  return [`.Sh ${safe(title.replace(/^# /, '').toUpperCase())}`, ...typed(lines)]
}

function typed(lines: readonly string[]): readonly string[] {
  return ['.Bd -literal -offset indent', ...lines.map(line => safe(line)), '.Ed']
}

const longestLine = 78

/** Text lines broken at blanks, as mandoc asks for; macros and lines to type stay. */
function filled(lines: readonly string[]): readonly string[] {
  let isLiteral = false
  return lines.flatMap(line => {
    if (line.startsWith('.Bd -literal')) isLiteral = true
    if (line === '.Ed') isLiteral = false
    return isLiteral || line.startsWith('.') ? [line] : broken(line)
  })
}

function broken(line: string): readonly string[] {
  const at = line.length <= longestLine ? -1 : line.lastIndexOf(' ', longestLine)
  if (at <= 0) return [line]
  return [line.slice(0, at), ...broken(line.slice(at + 1).replace(/^([.'])/, '\\&$1'))]
}
