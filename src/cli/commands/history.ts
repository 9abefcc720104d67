// `calcfs history` and `calcfs restore`: the texts that are kept of a record, and one of them saved again.
import type { Command } from 'commander'
import { shellWord } from '../../advice.js'
import type { CallResult, HistoryLine } from '../../drive/interface/control.js'
import { isAbsent } from '../../failure.js'
import { localText } from '../../system/time-text.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import {
  type JsonFlag,
  jsonFlag,
  printBytes,
  printFound,
  printJson,
  printText,
} from '../../terminal/print.js'
import { pathHelp } from '../control/choose.js'
import { driveCommand, withPath } from '../control/with-drive.js'

const numberedHelp = 'a path and a number that calcfs history PATH lists: reports/42.json@3'

export const historyCommand = (): Command =>
  driveCommand('history')
    .description(
      'list the texts of a record that are kept here for 90 days: when, by which mount, what changed; only those that were read, written or met on this machine',
    )
    .argument('<path>', pathHelp)
    .addOption(jsonFlag('{"record", "unsaved", "versions"}'))
    .action((path: string, flags: JsonFlag, command: Command) =>
      withPath(command, path, async (control, at) => {
        const found = await control.history({ path: at }).catch((thrown: unknown) => {
          if (!isAbsent(thrown) || !oneText.test(path)) throw thrown
          const shown = `calcfs history show ${shellWord(path)} prints it`
          throw new Stop(exitCodes.usage, `${path} is written as one text of a history is: ${shown}.`)
        })
        printFound(flags, found, asText(path, found))
      }),
    )
    .examples(
      ['calcfs history ~/lab/reports/42.json', 'the texts it had, the latest first'],
      ["calcfs history 'projects/Water splitting' --json", "of a project's record, for a script"],
    )
    .addCommand(showCommand())
    .addCommand(diffCommand())

const showCommand = (): Command =>
  driveCommand('show')
    .description('print a text of the history')
    .argument('<path@n>', numberedHelp)
    .addOption(jsonFlag('{"path", "number", "stored", "text"}'))
    .action((given: string, _: object, command: Command) => {
      const { path, number } = numbered(given)
      return withPath(command, path, async (control, at) => {
        const { stored, text } = await control.historyText({ path: at, number, isPlain: false })
        if (wantsJson(command)) printJson({ path: at, number, stored, text })
        else await printBytes(text)
      })
    })
    .examples(
      ['calcfs history show reports/42.json@3', 'the whole text'],
      ['calcfs history show reports/42.json@3 > new-42.json', 'to make a new report of it'],
    )

const diffCommand = (): Command =>
  driveCommand('diff')
    .description('print what changed from a text of the history to another one, or to the present text')
    .argument('<path@n>', numberedHelp)
    .argument('[path@m]', 'the later text; default: the present one')
    .addOption(
      jsonFlag(
        '{"path", "from", "to", "earlier", "later"}, both texts whole, "earlierStored", "laterStored"',
      ),
    )
    .action((given: string, other: string | undefined, _: object, command: Command) => {
      const from = numbered(given)
      const to = other === undefined ? undefined : numbered(other)
      if (to !== undefined && to.path !== from.path)
        throw new Stop(exitCodes.usage, 'both texts are of one record: name its path twice.')
      return withPath(command, from.path, async (control, path) => {
        const [one, two] = await Promise.all(
          [from.number, to?.number].map(number => control.historyText({ path, number, isPlain: true })),
        )
        const [earlier, later] = [one?.text ?? '', two?.text ?? '']
        const stored = { earlierStored: one?.stored, laterStored: two?.stored }
        if (wantsJson(command)) {
          printJson({ path, from: from.number, to: to?.number, earlier, later, ...stored })
          return
        }
        // As diff(1): without a difference there is nothing to print.
        if (earlier === later) return
        const label = to === undefined ? `${from.path}, as it shows now` : (other ?? '')
        const { createTwoFilesPatch } = await import('diff')
        printText(createTwoFilesPatch(marked(given, one), marked(label, two), earlier, later))
      })
    })
    .examples(
      ['calcfs history diff reports/42.json@3', 'what changed since then'],
      ['calcfs history diff reports/42.json@3 reports/42.json@4', 'what changed between the two'],
    )

export const restoreCommand = (): Command =>
  driveCommand('restore')
    .description(
      'save a text of the history again, by the rules of any save; what is there now is kept in the history',
    )
    .argument('<path@n>', numberedHelp)
    .addOption(jsonFlag('{"path", "number", "changed"}'))
    .action((given: string, flags: JsonFlag, command: Command) => {
      const { path, number } = numbered(given)
      return withPath(command, path, async (control, at) => {
        const { changed } = await control.restore({ path: at, number })
        const same = `${path} says what @${number} says already; nothing was sent.`
        const told = changed === 'nothing' ? same : `${path} is as it was in @${number}: ${changed}.`
        printFound(flags, { path: at, number, changed }, told)
      })
    })
    .examples(
      ['calcfs restore reports/42.json@3', 'as calcfs history numbers it'],
      ['calcfs restore ~/lab/reports/42/order.txt@2', 'the order of a report alone'],
    )

/** `history` has that flag as well, and takes it first. */
const wantsJson = (command: Command): boolean => command.optsWithGlobals<JsonFlag>().json === true

const oneText = /^(.+)@(\d+)$/

function numbered(given: string): { path: string; number: number } {
  const [, path, number] = oneText.exec(given) ?? []
  if (path !== undefined && number !== undefined) return { path, number: Number(number) }
  throw new Stop(
    exitCodes.usage,
    `${given} names no text of a history; write PATH@N, with a number that calcfs history PATH lists.`,
  )
}

/** The text of a diff that the service never had. */
const marked = (label: string, text: { readonly stored?: boolean | undefined } | undefined): string =>
  text?.stored === false ? `${label}, never stored` : label

function asText(path: string, { unsaved, versions }: CallResult<'history'>): string {
  const draft = unsaved ? ['not saved: the file shows a text that waits (calcfs drafts list)'] : []
  const none = [`no text of ${path} was met here in the last 90 days.`]
  return [...draft, ...(versions.length === 0 ? none : versions.map(lineOf))].join('\n')
}

function lineOf({ number, at, how, stored, mount, changed, isNow }: HistoryLine): string {
  const by = mount === undefined ? '' : ` by ${mount}`
  const never = stored === false ? ', never stored; it would have changed' : ''
  return `@${number}  ${localText(at)}  ${how}${by}${isNow ? ' (now)' : ''}${never}: ${changed}`
}
