// `calcfs delete PATH…`: lists, asks once, and deletes; also more than the drive lets a program delete at once.
import type { Command } from 'commander'
import type { Control, DeletableItem } from '../../drive/interface/control.js'
import { asFailure } from '../../failure.js'
import { filesText } from '../../terminal/amount.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodeOf, exitCodes, Stop, sentenceOf } from '../../terminal/exit.js'
import { complain, type JsonFlag, jsonFlag, printJson, printLine } from '../../terminal/print.js'
import { confirm } from '../../terminal/prompt.js'
import { chosenMounted, mountFlag } from '../control/choose.js'
import { driveAt, NoAnswer } from '../control/daemon.js'

interface Flags extends JsonFlag {
  readonly yes?: true
}

export const deleteCommand = (): Command =>
  new CliCommand('delete')
    .description(
      'delete calculations, reports, shares and empty projects for good: lists them, and asks once (needs --access manage at the mount)',
    )
    .argument('<path...>', 'paths below a mount, or of the drive: reports/42.json')
    .option(...mountFlag)
    .option('--yes', 'do not ask')
    .addOption(jsonFlag('with --yes: an array of {"path", "kind", "id", "title", "outcome"}'))
    .action((paths: readonly string[], flags: Flags, command: Command) => deleteAll(command, paths, flags))
    .examples(
      ['calcfs delete ~/lab/projects/Dyes/TS1_old', 'one calculation, after a question'],
      [
        'calcfs delete --yes projects/Dyes/run* reports/42.json',
        'several, from inside the drive, without one',
      ],
    )

async function deleteAll(command: Command, given: readonly string[], flags: Flags): Promise<void> {
  if (flags.json === true && flags.yes !== true)
    throw new Stop(exitCodes.usage, '--json asks nothing; add --yes, or leave --json out and be asked.')
  const { mountPoint, paths } = await chosenMounted(command, given)
  const drive = await driveAt(mountPoint)
  const things = await drive.deletion({ paths: paths.map(({ path }) => path) }).catch((cause: unknown) => {
    throw new Stop(exitCodeOf(cause), `nothing was deleted: ${sentenceOf(cause)}`, { cause })
  })
  if (flags.json !== true) for (const thing of things) printLine(describeItem(thing))
  const what = things.length === 1 ? 'this' : `these ${things.length}`
  if (flags.yes !== true) await confirm(`Delete ${what}? It cannot be undone.`, 'nothing was deleted.')
  await deleteItems(drive, things, flags)
}

type Outcome = 'deleted' | 'stays' | 'unknown'

async function deleteItems(drive: Control, things: readonly DeletableItem[], { json }: Flags): Promise<void> {
  const outcomes: (Pick<DeletableItem, 'path' | 'kind' | 'id' | 'title'> & { readonly outcome: Outcome })[] =
    []
  for (const thing of things) {
    const { path, kind, id, title } = thing
    const outcome = await outcomeOf(drive, thing)
    outcomes.push({ path, kind, id, title, outcome })
    if (json !== true && outcome === 'deleted') printLine(`deleted ${kind} ${id} ${title}`)
  }
  if (json === true) printJson(outcomes)
  const count = (of: Outcome): number => outcomes.filter(({ outcome }) => outcome === of).length
  const sums = [
    count('stays') === 0 ? [] : `${count('stays')} of ${things.length} were not deleted`,
    count('unknown') === 0 ? [] : `the outcome of ${count('unknown')} of ${things.length} is unknown`,
  ].flat()
  if (sums.length > 0) throw new Stop(exitCodes.failed, `${sums.join('; ')}.`)
}

/** Unknown after a request that was sent but not answered, or of a daemon that did not answer. */
async function outcomeOf(drive: Control, thing: DeletableItem): Promise<Outcome> {
  try {
    await drive.delete({ thing })
    return 'deleted'
  } catch (thrown) {
    const isUnknown = thrown instanceof NoAnswer || asFailure(thrown).kind === 'outcome-unknown'
    complain(
      isUnknown
        ? `whether ${thing.path} was deleted is unknown: ${sentenceOf(thrown)}; look before you try again.`
        : `${thing.path} was not deleted: ${sentenceOf(thrown)}`,
    )
    return isUnknown ? 'unknown' : 'stays'
  }
}

function describeItem({ path, kind, id, title, files, reports }: DeletableItem): string {
  const inside = files === undefined ? '' : `, ${filesText(files)}`
  const held =
    reports.length === 0
      ? ''
      : `; its row goes from report${reports.length === 1 ? '' : 's'} ${reports.join(', ')}`
  return `${kind} ${id} ${title} (${path}${inside})${held}`
}
