// The manual pages: the mdoc(7) files of this folder, filled from the table of settings, the --help of each command, and the topics of `calcfs help`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { otherVariables } from '../../config/config.js'
import { flagName, type Group, groups, groupTitles, settings, variableName } from '../../config/settings.js'
import { capital } from '../../edit/journal/draft-meta.js'
import { exitCodes, exitMeanings } from '../../terminal/exit.js'
import { packageRoot } from '../../terminal/package-root.js'
import { settingsIn, textTopics, topicText } from '../help/topics.js'
import { filled, paragraph, safe, section, typed, word } from './mdoc.js'

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
