// `calcfs report`: lists a report here, replaces its calculations, or reorders them together with its formulas.
import type { Command } from 'commander'
import type { CallResult, Control } from '../../drive/interface/control.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { type JsonFlag, jsonFlag, printFound } from '../../terminal/print.js'
import { driveCommand, withDrive } from '../control/with-drive.js'
import { eachOf } from '../files/output.js'

interface SetFlags extends JsonFlag {
  readonly clear?: true
}

export const reportCommand = (): Command =>
  new CliCommand('report')
    .description('operations on reports that an edit of the file cannot do')
    .addCommand(addCommand())
    .addCommand(setCommand())
    .addCommand(renumberCommand())

const calculationHelp = 'an id, a path of the drive, or a path of the web pages: /db/…'

const addCommand = (): Command =>
  driveCommand('add')
    .description('list reports in reports/: the service cannot list them, so they are remembered here')
    .argument('<id...>', 'their numbers')
    .addOption(jsonFlag('an array of {"id", "title"}'))
    .action((ids: readonly string[], flags: JsonFlag, command: Command) =>
      withDrive(command, [], ({ control }) => add(control, ids, flags)),
    )
    .examples(
      ['calcfs report add 42', 'it is reports/42.json from now on'],
      ['calcfs report add 42 43 57', 'several'],
    )

/** A number that is wrong does not keep the others from being listed. */
async function add(control: Control, ids: readonly string[], flags: JsonFlag): Promise<void> {
  const addOne = async (id: string) => ({ id, ...(await control.addReport({ id })) })
  const told = ({ id, title }: { id: string; title: string }) => `report ${id} is listed: ${title}`
  process.exitCode = (await eachOf(ids, addOne, { ...flags, told })).exitCode
}

const setCommand = (): Command =>
  driveCommand('set')
    .description(
      'replace the calculations of a report, also where the service does not show them and an edit cannot',
    )
    .argument('<id>', 'its number')
    .argument('[calculation...]', calculationHelp)
    .option('--clear', 'set an empty list')
    .addOption(jsonFlag('{"id", "order", "shown"}'))
    .action((id: string, entries: readonly string[], flags: SetFlags, command: Command) =>
      withDrive(command, [], ({ control }) => set(control, { id, entries }, flags)),
    )
    .examples(
      ['calcfs report set 42 1234 1230 1251', 'these three, in this order'],
      ['calcfs report set 42 /db/anna/Dyes/TS1 1230', 'by a path of the web pages, too'],
      ['calcfs report set 42 --clear', 'none'],
    )

async function set(
  control: Control,
  asked: { readonly id: string; readonly entries: readonly string[] },
  flags: SetFlags,
): Promise<void> {
  if ((asked.entries.length === 0) !== (flags.clear === true))
    throw new Stop(
      exitCodes.usage,
      'name the calculations of the new list in their order, or say --clear alone for an empty one.',
    )
  const { order, shown } = await control.setReport(asked)
  const list = order.length === 0 ? 'no calculations' : order.join(', ')
  const seen = shown ? '' : '; the service took it, but does not show the list'
  printFound(flags, { id: asked.id, order, shown }, `report ${asked.id} has ${list}${seen}.`)
}

const renumberCommand = (): Command =>
  driveCommand('renumber')
    .description(
      'save a new order together with the formulas (c1, c2 …), so that each still means the same calculations',
    )
    .argument('<id>', 'its number')
    .argument('[calculation...]', `${calculationHelp}; default: the order of its unsent draft`)
    .addOption(jsonFlag('{"id", "order", "before", "after"}'))
    .action((id: string, entries: readonly string[], flags: JsonFlag, command: Command) =>
      withDrive(command, [], async ({ control }) => {
        const wish = entries.length === 0 ? undefined : entries
        const made = await control.renumber({ id, entries: wish })
        printFound(flags, { id, ...made }, renumbered(id, made))
      }),
    )
    .examples(
      ['calcfs report renumber 42', 'save the order that waits as a draft'],
      ['calcfs report renumber 42 1251 1234 1230', 'save this order'],
    )

function renumbered(id: string, { order, before, after }: CallResult<'renumber'>): string {
  const formulas = before.flatMap((formula, at) =>
    formula === after[at] ? [] : [`  ${oneLine(formula)}  →  ${oneLine(after[at] ?? '')}`],
  )
  return [`report ${id} has ${order.join(', ')}.`, ...formulas].join('\n')
}

const oneLine = (formula: string): string => formula.replace(/\s+/g, ' ')
