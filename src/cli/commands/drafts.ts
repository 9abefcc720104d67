// `calcfs drafts`: lists, shows, compares, sends and drops the edits that are not yet saved.
import { Command } from 'commander'
import { createTwoFilesPatch } from 'diff'
import type { Comparison, Control, DraftLine } from '../../drive/interface/control.js'
import { asFailure } from '../../failure.js'
import { withExamples } from '../../terminal/examples.js'
import { exitCodes, Stop, sentenceOf } from '../../terminal/exit.js'
import { jsonFlag, printJson } from '../../terminal/json.js'
import { driveCommand, withDrive } from '../control/with-drive.js'

export function draftsCommand(): Command {
  const command = new Command('drafts').description('list and handle edits that are not yet saved')
  for (const make of [listCommand, showCommand, diffCommand, sendCommand, dropCommand])
    command.addCommand(make())
  return command
}

const nameHelp = 'as calcfs drafts list names it: 42.json, or 42'

function listCommand(): Command {
  const command = driveCommand('list')
    .description('list them; exit code 7 while there are any')
    .addOption(jsonFlag('an array of drafts'))
    .action((flags: { json?: true }) => withDrive(command, control => list(control, flags)))
  return withExamples(
    command,
    ['calcfs drafts list', 'what is not saved, and why'],
    ['calcfs drafts list --json', 'the same for a script; exit code 7 while there is any'],
  )
}

async function list(control: Control, flags: { json?: true }): Promise<void> {
  const drafts = await control.drafts({})
  if (flags.json === true) printJson(drafts.map(draft => ({ ...draft, since: time(draft.since) })))
  else console.log(drafts.length === 0 ? 'everything is saved.' : drafts.map(describeDraft).join('\n'))
  for (const trouble of await control.places({})) console.error(`calcfs: ${trouble}`)
  if (drafts.length > 0) process.exitCode = exitCodes.unsent
}

const time = (at: number): string => new Date(at).toISOString()

const describeDraft = ({ name, record, state, since, size, why }: DraftLine): string =>
  `${name}: ${record}, ${state} since ${time(since)}, ${size} bytes${why === undefined ? '' : `: ${why}`}`

function showCommand(): Command {
  const command = driveCommand('show')
    .description('print the text; NAME.why says why it is not saved, 42.theirs.json the other text')
    .argument('<draft>', nameHelp)
    .action((name: string) =>
      withDrive(command, async control => {
        process.stdout.write(Buffer.from((await control.show({ name })).base64, 'base64'))
      }),
    )
  return withExamples(
    command,
    ['calcfs drafts show 42.json', 'the text that is not saved'],
    ['calcfs drafts show 42.json.why', 'why it is not'],
  )
}

function diffCommand(): Command {
  const command = driveCommand('diff')
    .description('print what the text would change, as a unified diff from what the service has')
    .argument('<draft>', nameHelp)
    .addOption(jsonFlag('{"name", "against", "other", "mine"}, both texts whole'))
    .action((name: string, { json }: { json?: true }) =>
      withDrive(command, async control => {
        const compared = await control.diff({ name })
        if (json === true) printJson(compared)
        else process.stdout.write(unified(compared))
      }),
    )
  return withExamples(
    command,
    ['calcfs drafts diff 42.json', 'what a save would change'],
    ['calcfs drafts diff 42.json | less', 'of a long text'],
  )
}

const labels: Readonly<Record<Comparison['against'], string>> = {
  service: 'what the service has now',
  theirs: 'what the service had when the save met it',
  nothing: 'nothing: it is not on the service',
}

function unified({ name, against, other, mine }: Comparison): string {
  return createTwoFilesPatch(labels[against], `${name}, not saved`, other, mine)
}

interface SendFlags {
  readonly all?: true
  readonly json?: true
  readonly again?: true
}

function sendCommand(): Command {
  const command = driveCommand('send')
    .description('save a draft again, as its program would')
    .argument('[draft]', nameHelp)
    .option('--all', 'all drafts except those whose outcome is unknown')
    .option(
      '--again',
      'a new report whose outcome is unknown: send it again, although this may make a second one',
    )
    .addOption(jsonFlag('an array of {"name", "record"} that are saved'))
    .action((name: string | undefined, flags: SendFlags) =>
      withDrive(command, control => send(control, name, flags)),
    )
  return withExamples(
    command,
    ['calcfs drafts send 42.json', 'save this one once more'],
    ['calcfs drafts send --all', 'all of them; exit code 7 where one is still not saved'],
  )
}

async function send(control: Control, name: string | undefined, flags: SendFlags): Promise<void> {
  if ((name === undefined) === (flags.all !== true))
    throw new Stop(exitCodes.usage, 'name one draft, or say --all; calcfs drafts list names them.')
  if (name !== undefined) {
    const saved = await control.send({ name, again: flags.again === true })
    if (flags.json === true) printJson([saved])
    else console.log(savedLine(saved, flags.again === true))
    return
  }
  if (flags.again === true) throw new Stop(exitCodes.usage, '--again is for one draft at a time.')
  const drafts = await control.drafts({})
  if (drafts.length === 0 && flags.json !== true) console.log('everything is saved.')
  const failed: string[] = []
  const saved: SavedDraft[] = []
  for (const draft of drafts) {
    try {
      const one = await control.send({ name: draft.name, again: false })
      saved.push(one)
      if (flags.json !== true) console.log(savedLine(one, false))
    } catch (thrown) {
      failed.push(draft.name)
      console.error(`calcfs: ${sentenceOf(asFailure(thrown))}`)
    }
  }
  if (flags.json === true) printJson(saved)
  if (failed.length > 0) throw new Stop(exitCodes.unsent, `not saved: ${failed.join(', ')}`)
}

type SavedDraft = Awaited<ReturnType<Control['send']>>

const savedLine = ({ name, record }: SavedDraft, again: boolean): string =>
  `${name}: ${record} is saved${again ? '; check whether there are two of it now' : ''}.`

function dropCommand(): Command {
  const command = driveCommand('drop')
    .description('drop a draft; its record shows what the service has')
    .argument('<draft>', nameHelp)
    .addOption(jsonFlag('{"name", "record", "mayBeStored", "kept"}'))
    .action((asked: string, { json }: { json?: true }) =>
      withDrive(command, async control => {
        const dropped = await control.drop({ name: asked })
        if (json === true) {
          printJson(dropped)
          return
        }
        const { name, record, mayBeStored, kept } = dropped
        const where = kept === undefined ? '' : `; its text lies in ${kept} for 90 days`
        console.log(`${name} is given up${becameOf(record, mayBeStored)}${where}.`)
      }),
    )
  return withExamples(
    command,
    ['calcfs drafts drop 42.json', 'show what the service has; the text is kept for 90 days'],
    ['calcfs drafts drop 42', 'the same, by the number of the report'],
  )
}

function becameOf(record: string, mayBeStored: boolean): string {
  if (mayBeStored) return `, but it was sent, and the service may have stored it: look at ${record} there`
  return /\bnew\b/.test(record) ? ' and was not sent' : `, ${record} is as the service has it`
}
