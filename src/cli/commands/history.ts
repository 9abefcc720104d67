// `calcfs history` and `calcfs restore`: the texts that are kept of a record, and one of them saved again.
import type { Command } from 'commander'
import { createTwoFilesPatch } from 'diff'
import type { HistoryLine, RecordHistory } from '../../drive/interface/control.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { driveCommand } from '../control/with-drive.js'
import { pathHelp, withPath } from '../control/with-path.js'

const numberedHelp = 'a path and a number that calcfs history PATH lists: reports/42.json@3'

export function historyCommand(): Command {
  const command = driveCommand('history')
    .description(
      'list the texts of a record that are kept here for 90 days: when, by which mount, what changed; only those that were read, written or met on this machine',
    )
    .argument('<path>', pathHelp)
    .option('--json', 'print {"record", "unsaved", "versions"}')
    .action((path: string, flags: { json?: true }) =>
      withPath(command, path, async (control, at) => {
        const found = await control.history({ path: at })
        console.log(flags.json === true ? asJson(found) : asText(path, found))
      }),
    )
  return command.addCommand(showCommand()).addCommand(diffCommand())
}

function showCommand(): Command {
  const command = driveCommand('show')
    .description('print a text of the history')
    .argument('<path@n>', numberedHelp)
    .action((given: string) => {
      const { path, number } = numbered(given)
      return withPath(command, path, async (control, at) => {
        process.stdout.write((await control.historyText({ path: at, number, isPlain: false })).text)
      })
    })
  return command
}

function diffCommand(): Command {
  const command = driveCommand('diff')
    .description('print what changed from a text of the history to another one, or to the present text')
    .argument('<path@n>', numberedHelp)
    .argument('[path@m]', 'the later text; default: the present one')
    .action((given: string, other: string | undefined) => {
      const from = numbered(given)
      const to = other === undefined ? undefined : numbered(other)
      if (to !== undefined && to.path !== from.path)
        throw new Stop(exitCodes.usage, 'both texts are of one record: name its path twice.')
      return withPath(command, from.path, async (control, path) => {
        const [one, two] = await Promise.all(
          [from.number, to?.number].map(number => control.historyText({ path, number, isPlain: true })),
        )
        const label = to === undefined ? `${from.path}, as it is now` : (other ?? '')
        process.stdout.write(createTwoFilesPatch(given, label, one?.text ?? '', two?.text ?? ''))
      })
    })
  return command
}

export function restoreCommand(): Command {
  const command = driveCommand('restore')
    .description(
      'save a text of the history again, by the rules of any save; what is there now is kept in the history',
    )
    .argument('<path@n>', numberedHelp)
    .action((given: string) => {
      const { path, number } = numbered(given)
      return withPath(command, path, async (control, at) => {
        const { changed } = await control.restore({ path: at, number })
        console.log(
          changed === 'nothing'
            ? `${path} says what @${number} says already; nothing was sent.`
            : `${path} is as it was in @${number}: ${changed}.`,
        )
      })
    })
  return command
}

function numbered(given: string): { path: string; number: number } {
  const [, path, number] = /^(.+)@(\d+)$/.exec(given) ?? []
  if (path !== undefined && number !== undefined) return { path, number: Number(number) }
  throw new Stop(
    exitCodes.usage,
    `${given} names no text of a history; write PATH@N, with a number that calcfs history PATH lists.`,
  )
}

const time = (at: number): string => new Date(at).toISOString()

const asJson = (found: RecordHistory): string =>
  JSON.stringify(
    { ...found, versions: found.versions.map(({ at, ...rest }) => ({ ...rest, at: time(at) })) },
    null,
    2,
  )

function asText(path: string, { unsaved, versions }: RecordHistory): string {
  if (versions.length === 0) return `no text of ${path} was met here in the last 90 days.`
  const draft = unsaved ? ['not saved: the file shows a text that waits (calcfs drafts list)'] : []
  return [...draft, ...versions.map(lineOf)].join('\n')
}

function lineOf({ number, at, how, mount, changed, isNow }: HistoryLine): string {
  const by = mount === undefined ? '' : ` by ${mount}`
  return `@${number}  ${time(at)}  ${how}${by}${isNow ? ' (as it is now)' : ''}: ${changed}`
}
