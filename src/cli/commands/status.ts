// `calcfs status [DIR]`: the state of each mounted drive, and whether anything is unsaved.
import type { Command } from 'commander'
import { loginCommand } from '../../advice.js'
import type { DraftLine, Status } from '../../drive/interface/control.js'
import { drivesOfUser } from '../../mount/mount-point.js'
import { localText } from '../../system/time-text.js'
import { CliCommand } from '../../terminal/command.js'
import { type ExitCode, exitCodeOf, exitCodes, sentenceOf } from '../../terminal/exit.js'
import { complain, type JsonFlag, jsonFlag, printJson, printLine } from '../../terminal/print.js'
import { configured } from '../../terminal/settings.js'
import { adviceOf, selectedDrives, withAdvice } from '../control/choose.js'
import { askEach, settled } from '../control/daemon.js'
import { pinText } from '../files/pin.js'

export const statusCommand = (): Command =>
  new CliCommand('status')
    .description(
      'show the state of the mounted drives; exit code 7 while an edit is not saved, else 3 where the sign-in has ended, 4 where the service is away',
    )
    .argument('[drive]', 'one drive; default: all of yours')
    .addOption(jsonFlag('an array of status objects'))
    .action((directory: string | undefined, flags: JsonFlag, command: Command) =>
      show(command, directory, flags),
    )
    .examples(
      ['calcfs status', 'every drive of yours'],
      ['calcfs status ~/lab --json', 'one drive, for a script'],
      ['calcfs status ~/lab >/dev/null || echo look', 'is all saved, and does the service answer?'],
    )

async function show(command: Command, directory: string | undefined, flags: JsonFlag): Promise<void> {
  const paths =
    directory === undefined ? (await drivesOfUser()).map(({ path }) => path) : await selectedDrives(directory)
  const all = await askEach(paths, async drive => asTyped(await drive.status({ check: true })))
  const { answers: known, problems } = settled(all)
  if (flags.json === true) printJson(all.map((one, at) => jsonOf(one, paths[at])))
  else if (all.length === 0) printLine('no drive of yours is mounted.')
  else if (known.length > 0) printLine(known.map(describeStatus).join('\n\n'))
  for (const problem of problems) complain(sentenceOf(problem))
  const waiting = directory === undefined ? await waitingElsewhere(command, known) : []
  for (const sentence of waiting) complain(sentence)
  process.exitCode = waiting.length > 0 ? exitCodes.unsent : codeOf(known, problems)
}

async function asTyped(status: Status): Promise<Status> {
  return { ...status, unsent: status.unsent.map(withAdvice(await adviceOf(status.mountPoint))) }
}

/** The unsaved texts of accounts of which no drive tells. */
async function waitingElsewhere(command: Command, known: readonly Status[]): Promise<readonly string[]> {
  const { draftsOnDisk } = await import('../../app/account/notes.js')
  return (await draftsOnDisk(configured(command))).flatMap(({ account, service, user, drafts }) => {
    if (drafts.length === 0 || known.some(one => one.service === service && one.user === user)) return []
    const what = drafts.length === 1 ? 'an edit is' : `${drafts.length} edits are`
    return [`${account}: ${what} not saved, and on no drive that answers; calcfs drafts list names them.`]
  })
}

/** In order: unsaved edits, drives that do not answer, what the user can fix, outages. */
function codeOf(known: readonly Status[], problems: readonly unknown[]): ExitCode {
  if (known.some(({ unsent }) => unsent.length > 0)) return exitCodes.unsent
  if (problems.length > 0) return exitCodeOf(problems[0])
  if (known.some(({ answers, signedIn }) => answers && signedIn === false)) return exitCodes.signIn
  return known.every(({ answers }) => answers) ? exitCodes.done : exitCodes.unreachable
}

const jsonOf = (one: PromiseSettledResult<Status>, mountPoint: string | undefined): object =>
  one.status === 'fulfilled' ? one.value : { mountPoint, problem: sentenceOf(one.reason) }

function otherThingsLine(count = 0): readonly string[] {
  if (count === 0) return []
  const who = count === 1 ? 'id on the service stands' : 'ids on the service stand'
  return [`  ${count} ${who} for other things than before: was it set up again, or restored from a backup?`]
}

/** A daemon may tell a fact without its time. */
const moment = (at: string | undefined): string => (at === undefined ? 'some time' : localText(at))

/** Milliseconds from which an answer counts as slow. */
const slowMs = 1_500

function serviceLine(status: Status): string {
  const { answers, signedIn, requests, answersInMs = 0 } = status
  if (!answers) return `  the service has been away since ${moment(status.awaySince)}: ${status.awayBecause}`
  if (signedIn === false)
    return `  ${status.signedOutBecause} (since ${moment(status.signedOutSince)}); what is kept is shown meanwhile`
  if (answersInMs >= slowMs)
    return `  the service answers slowly, in ${(answersInMs / 1000).toFixed(1)} s (${requests} requests so far)`
  return `  the service answers (${requests} requests so far)`
}

function signInLine({ service, user, signedIn, signedInUntil, signInRenewed }: Status): readonly string[] {
  if (signedInUntil === undefined || signedIn === false) return []
  const then = signInRenewed === true ? 'renewed by itself' : `then run ${loginCommand(service, user)}`
  return [`  signed in until ${localText(signedInUntil)}, ${then}`]
}

/** The usual way to the kernel is no news. */
function kernelLine({ kernel, kernelBecause }: Status): readonly string[] {
  const because = kernelBecause === undefined ? '' : `: ${kernelBecause}`
  return kernel === 'libfuse' ? [`  the kernel is spoken to through libfuse${because}`] : []
}

function describeStatus(status: Status): string {
  const { unsent, deleting, removedInVain, keptHere, places, pins, lacking } = status
  return [
    `${status.mountPoint}: ${status.service} as ${status.user}, access ${status.access}, process ${status.pid}, since ${localText(status.since)}`,
    `  ${status.top}`,
    serviceLine(status),
    ...signInLine(status),
    ...(lacking.length === 0 ? [] : [`  this instance lacks ${lacking.join(', ')}`]),
    ...kernelLine(status),
    ...(status.fleet === undefined ? [] : [`  ${fleetText(status.fleet)}`]),
    ...otherThingsLine(status.otherThings),
    unsent.length === 0 ? `  ${nothingWaits(places)}` : '  not saved:',
    ...describeDrafts(unsent).map(line => `    ${line}`),
    ...section('pinned', pins.map(pinText)),
    ...section(
      'deleted after a pause; touch takes it back',
      deleting.map(({ path, what, since }) => `${path} (${what}, removed ${localText(since)})`),
    ),
    ...section('removed here, but not deleted, and there again (calcfs why PATH says why)', removedInVain),
    ...section(
      'kept on this machine only; a report is made under a name like reports/new-dyes.json',
      keptHere.map(path => path.slice(1)),
    ),
    ...places.map(trouble => `  ${trouble}`),
  ].join('\n')
}

/** Empty where there is nothing to list. */
const section = (heading: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`  ${heading}:`, ...lines.map(line => `    ${line}`)]

/** Advice that several have in common stands once, behind them. */
export function describeDrafts(drafts: readonly DraftLine[]): readonly string[] {
  const common = ({ name, whatToDo }: DraftLine) => whatToDo?.replaceAll(name, 'NAME')
  return [...new Set(drafts.map(common))].flatMap(advice => {
    const alike = drafts.filter(draft => common(draft) === advice)
    const told = alike.length > 1 ? advice : alike[0]?.whatToDo
    return [...alike.map(describeDraft), ...(told === undefined ? [] : [`  ${told}`])]
  })
}

function describeDraft({ name, record, path, state, since, size, why }: DraftLine): string {
  const at = path === undefined ? '' : ` (${path.slice(1)})`
  return `${name}: ${record}${at}, ${state.replaceAll('-', ' ')} since ${localText(since)}, ${size} bytes${why === undefined ? '' : `: ${why}`}`
}

/** Of a drive with no unsaved edit; a program whose write failed left none where the drive's own directories are in trouble. */
export const nothingWaits = (troubles: readonly unknown[]): string =>
  troubles.length === 0 ? 'everything is saved' : 'no edit waits to be saved'

/** Without a full stop. */
export function fleetText(fleet: NonNullable<Status['fleet']>): string {
  const { address, mounts, saved, asked, passedByBecause } = fleet
  const savings = `${saved} of ${saved + asked} requests saved by it`
  return passedByBecause === undefined
    ? `the fleet ${address} has ${mounts} ${mounts === 1 ? 'mount' : 'mounts'}, ${savings} here`
    : `the fleet ${address} is passed by: ${passedByBecause}; the service is asked alone (${savings} before)`
}
