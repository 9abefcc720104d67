// `calcfs drafts`: lists, shows, compares, sends and drops the edits that are not yet saved.
import type { Command } from 'commander'
import { createTwoFilesPatch } from 'diff'
import { adviceOn, typedFlags } from '../../advice.js'
import type { CallResult, Comparison, Control, DraftLine } from '../../drive/interface/control.js'
import { asFailure } from '../../failure.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop, sentenceOf } from '../../terminal/exit.js'
import {
  complain,
  type JsonFlag,
  jsonFlag,
  printBytes,
  printFound,
  printJson,
  printLine,
  printText,
  tell,
} from '../../terminal/print.js'
import { confirm } from '../../terminal/prompt.js'
import { configured } from '../../terminal/settings.js'
import { adviceLike, adviceOf, liveMounts, namesOneDrive, withAdvice } from '../control/choose.js'
import { driveCommand, wholeDriveCommand, withDraft, withDrive } from '../control/with-drive.js'
import { eachOf } from '../files/output.js'
import { describeDrafts, nothingWaits } from './status.js'

export function draftsCommand(): Command {
  const command = new CliCommand('drafts').description('list and handle edits that are not yet saved')
  for (const make of [listCommand, showCommand, diffCommand, sendCommand, dropCommand])
    command.addCommand(make())
  return command
}

const nameHelp = 'its name in calcfs drafts list (42.json, or 42), or the path of what it is a text of'

const listCommand = (): Command =>
  wholeDriveCommand('list')
    .description(
      'list them, and where no drive is named those of services that are not mounted; exit code 7 while there are any',
    )
    .addOption(jsonFlag('an array of drafts'))
    .action((_: string | undefined, flags: JsonFlag, command: Command) => list(command, flags))
    .examples(
      ['calcfs drafts list', 'what is not saved, and why'],
      ['calcfs drafts list ~/lab --json', 'the same for a script; exit code 7 while there is any'],
    )

async function list(command: Command, flags: JsonFlag): Promise<void> {
  const isNamed = await namesOneDrive(command)
  const { draftsOnDisk } = await import('../../app/account/notes.js')
  let elsewhere = isNamed ? [] : await draftsOnDisk(configured(command))
  const all: object[] = []
  function print(drafts: readonly DraftLine[], where: object, [none, heading]: readonly string[]): void {
    all.push(...drafts.map(draft => ({ ...draft, ...where })))
    if (flags.json === true) return
    const lines = drafts.length === 0 ? [`${none}.`] : describeDrafts(drafts)
    printLine((heading === undefined ? lines : [`${heading}:`, ...lines.map(line => `  ${line}`)]).join('\n'))
  }
  const drives = isNamed ? [undefined] : (await liveMounts()).map(({ path }) => path)
  const shown = new Set<string>()
  let failure: unknown
  for (const drive of drives) {
    if (drive !== undefined) command.setOptionValue('mount', drive)
    await withDrive(command, [], async ({ control, mountPoint }) => {
      const { service, user } = await control.status({})
      // Of one account any drive tells the same, those on no drive as well.
      if (shown.size === shown.add(`${service} ${user}`).size) return
      elsewhere = elsewhere.filter(one => one.service !== service || one.user !== user)
      const troubles = await control.places({})
      const advised = mountPoint === undefined ? adviceLike(command) : await adviceOf(mountPoint)
      const drafts = (await control.drafts({})).map(withAdvice(advised))
      const isOne = drives.length + elsewhere.length === 1
      const heading = isOne || mountPoint === undefined ? [] : [mountPoint]
      print(drafts, { mountPoint }, [nothingWaits(troubles), ...heading])
      for (const trouble of troubles) complain(trouble)
    }).catch((thrown: unknown) => {
      failure = thrown
    })
  }
  for (const { drafts, damaged, account, service, user } of elsewhere) {
    const named = { url: service ?? '…', user: user ?? '…' }
    const typed = drafts.map(withAdvice(advice => adviceOn(named, advice)))
    const heading = `${account}, on no drive that answers (${typedFlags(named)})`
    print(typed, { service, user }, [nothingWaits(damaged), heading])
    for (const { directory, cause } of damaged)
      complain(`${directory} cannot be read: ${sentenceOf(asFailure(cause))}`)
  }
  if (flags.json === true && (failure === undefined || all.length > 0)) printJson(all)
  else if (drives.length + elsewhere.length === 0) printLine('everything is saved.')
  if (failure !== undefined) throw failure
  if (all.length > 0) process.exitCode = exitCodes.unsent
}

const showCommand = (): Command =>
  driveCommand('show')
    .description('print the text; NAME.why says why it is not saved, 42.theirs.json the other text')
    .argument('<draft>', nameHelp)
    .action((given: string, _: object, command: Command) =>
      withDraft(command, given, async (control, asked) => {
        await printBytes(Buffer.from((await control.show(asked)).base64, 'base64'))
      }),
    )
    .examples(
      ['calcfs drafts show 42.json', 'the text that is not saved'],
      ['calcfs drafts show ~/lab/reports/42.json', 'the same, by its path'],
      ['calcfs drafts show 42.json.why', 'why it is not'],
    )

const diffCommand = (): Command =>
  driveCommand('diff')
    .description('print what the text would change, as a unified diff from what the service has')
    .argument('<draft>', nameHelp)
    .addOption(jsonFlag('{"name", "against", "other", "mine"}, both texts whole'))
    .action((given: string, { json }: JsonFlag, command: Command) =>
      withDraft(command, given, async (control, asked) => {
        const compared = await control.diff(asked)
        if (json === true) printJson(compared)
        else printText(unified(compared))
      }),
    )
    .examples(
      ['calcfs drafts diff 42.json', 'what a save would change'],
      ['calcfs drafts diff 42.json | less', 'of a long text'],
    )

const labels: Readonly<Record<Comparison['against'], string>> = {
  service: 'what the service has now',
  theirs: 'what the service had when the save met it',
  nothing: 'nothing: it is not on the service',
}

/** As diff(1): without a difference there is nothing to print. */
function unified({ name, against, other, mine }: Comparison): string {
  return other === mine ? '' : createTwoFilesPatch(labels[against], `${name}, not saved`, other, mine)
}

interface Flags extends JsonFlag {
  readonly all?: true
  readonly again?: true
  readonly yes?: true
}

const sendCommand = (): Command =>
  driveCommand('send')
    .description('save a draft again, as its program would')
    .argument('[draft]', nameHelp)
    .option('--all', 'all drafts except those whose outcome is unknown')
    .option(
      '--again',
      'a new report whose outcome is unknown: send it again, although this may make a second one',
    )
    .addOption(jsonFlag('an array of {"name", "record"} that are saved'))
    .action((given: string | undefined, flags: Flags, command: Command) => send(command, given, flags))
    .examples(
      ['calcfs drafts send 42.json', 'save this one once more'],
      ['calcfs drafts send --all', 'all of them; exit code 7 where one is still not saved'],
    )

async function send(command: Command, given: string | undefined, flags: Flags): Promise<void> {
  refuseUnclear(given, flags)
  if (given !== undefined)
    return withDraft(command, given, async (control, asked) => {
      const saved = await control.send({ ...asked, again: flags.again === true })
      printFound(flags, [saved], savedLine(saved, flags.again === true))
    })
  if (flags.again === true) throw new Stop(exitCodes.usage, '--again is for one draft at a time.')
  await withDrive(command, [], async ({ control }) => {
    const names = namesToEnd(await control.drafts({}))
    if (names.length === 0 && flags.json !== true) printLine('everything is saved.')
    const told = (saved: CallResult<'send'>): string => savedLine(saved, false)
    const { all } = await eachOf(names, name => control.send({ name, again: false }), { ...flags, told })
    const failed = all.map(({ path }) => path).join(', ')
    if (failed === '') return
    const where = 'the reasons are above, and in calcfs drafts list'
    throw new Stop(exitCodes.unsent, `not saved: ${failed}; ${where}.`)
  })
}

function refuseUnclear(given: string | undefined, flags: Flags): void {
  if ((given === undefined) === (flags.all !== true))
    throw new Stop(exitCodes.usage, 'name one draft, or say --all; calcfs drafts list names them.')
}

const savedLine = ({ name, record }: CallResult<'send'>, again: boolean): string =>
  `${name}: ${record} is saved${again ? '; check whether there are two of it now' : ''}.`

const dropCommand = (): Command =>
  driveCommand('drop')
    .description('drop a draft; its record shows what the service has')
    .argument('[draft]', nameHelp)
    .option('--all', 'all drafts; asks once')
    .option('--yes', 'with --all: do not ask')
    .addOption(jsonFlag('{"name", "record", "mayBeStored", "kept"}, with --all an array of them'))
    .action((given: string | undefined, flags: Flags, command: Command) => drop(command, given, flags))
    .examples(
      ['calcfs drafts drop 42.json', 'show what the service has; the text is kept for 90 days'],
      ['calcfs drafts drop ~/lab/reports/42/order.txt', 'the same, by its path'],
      ['calcfs drafts drop --all', 'all of them, after a question'],
      ['calcfs drafts drop --all --yes --mount ~/lab', 'those of one drive, without one'],
    )

async function drop(command: Command, given: string | undefined, flags: Flags): Promise<void> {
  refuseUnclear(given, flags)
  if (given !== undefined)
    return withDraft(command, given, async (control, { name, path }) => {
      const dropped = await control.drop({ name, path })
      printFound(flags, dropped, droppedLine(dropped))
    })
  await withDrive(command, [], ({ control }) => dropAll(control, flags))
}

async function dropAll(control: Control, flags: Flags): Promise<void> {
  const drafts = await control.drafts({})
  if (drafts.length === 0 && flags.json !== true) return printLine('everything is saved.')
  const shown = new Set(drafts.map(textKey))
  if (flags.yes !== true && drafts.length > 0) await confirmDrop(drafts)
  const meant = (await control.drafts({})).filter(draft => shown.has(textKey(draft)))
  const drop = (name: string) => control.drop({ name })
  process.exitCode = (await eachOf(namesToEnd(meant), drop, { ...flags, told: droppedLine })).exitCode
}

/** The last first: the names of those before it stay. */
const namesToEnd = (drafts: readonly DraftLine[]): string[] => drafts.map(({ name }) => name).toReversed()

/** A text that was written since the question is another one. */
const textKey = ({ name, record, size, since }: DraftLine): string =>
  JSON.stringify([name, record, size, since])

async function confirmDrop(drafts: readonly DraftLine[]): Promise<void> {
  tell(describeDrafts(drafts).join('\n'))
  if (!process.stdin.isTTY)
    throw new Stop(exitCodes.usage, 'this is no terminal to ask at; say --yes to give all of these up.')
  const what = drafts.length === 1 ? 'this text' : `these ${drafts.length} texts`
  await confirm(`Give ${what} up? Copies are kept for 90 days.`, 'nothing was given up.')
}

function droppedLine({ name, record, mayBeStored, kept, next }: CallResult<'drop'>): string {
  const where = kept === undefined ? '' : `; its text lies in ${kept} for 90 days`
  const shows = next === undefined ? 'is as the service has it' : `shows another text, ${next}`
  const unsent = /\bnew\b/.test(record) ? ' and was not sent' : `, ${record} ${shows}`
  const became = mayBeStored
    ? `, but it was sent, and the service may have stored it: look at ${record} there`
    : unsent
  return `${name} is given up${became}${where}.`
}
