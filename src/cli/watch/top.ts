// `calcfs top [DRIVE]`: what goes on in the drives now, redrawn each second.
import type { Command } from 'commander'
import type { ActivityPicture } from '../../drive/interface/control.js'
import { mountAt } from '../../mount/mount-point.js'
import { bytesText, durationText } from '../../terminal/amount.js'
import { CliCommand } from '../../terminal/command.js'
import { sentenceOf } from '../../terminal/exit.js'
import { complain, type JsonFlag, jsonFlag, printJson, printLine } from '../../terminal/print.js'
import { noneMounted, selectedDrives } from '../control/choose.js'
import { askEach, settled } from '../control/daemon.js'
import { isScreen, openScreen, untilInterrupted } from './screen.js'

interface Flags extends JsonFlag {
  readonly once?: true
}

/** Milliseconds between two pictures. */
const everyMs = 1_000

export const topCommand = (): Command =>
  new CliCommand('top')
    .description(
      'show what goes on in the drives now: calls, what they wait for, requests, downloads, saves; Ctrl-C ends it',
    )
    .argument('[drive]', 'one drive; default: the one you stand in, or all of yours')
    .option('--once', 'print one picture, with rates since the mount, and end')
    .addOption(jsonFlag('an array of one picture of each drive'))
    .action((drive: string | undefined, flags: Flags) => top(drive, flags))
    .examples(
      ['calcfs top', 'every drive of yours, each second'],
      ['calcfs top ~/lab --once', 'one picture'],
      ['calcfs top ~/lab --json', 'one picture for a script'],
    )

async function top(drive: string | undefined, flags: Flags): Promise<void> {
  const paths = await selectedDrives(drive)
  if (paths.length === 0) noneMounted()
  const isOnce = flags.once === true || flags.json === true || !isScreen(process.stdout)
  if (!isOnce) return redrawn(paths)
  const { answers: pictures, problems } = await picturesOf(paths)
  if (pictures.length === 0) throw problems[0]
  if (flags.json === true) printJson(pictures)
  else printLine(pictures.map(picture => topText(picture, undefined)).join('\n\n'))
  for (const problem of problems) complain(sentenceOf(problem))
}

const picturesOf = async (paths: readonly string[]) =>
  settled(await askEach(paths, drive => drive.activity({})))

async function redrawn(paths: readonly string[]): Promise<void> {
  const screen = await openScreen(process.stdout)
  let before = new Map<string, ActivityPicture>()
  let ended: unknown
  await untilInterrupted(everyMs, async () => {
    const { answers: pictures, problems } = await picturesOf(paths)
    if (pictures.length === 0) {
      ended = problems[0]
      return false
    }
    screen.show(pictures.map(picture => topText(picture, before.get(picture.mountPoint))).join('\n\n'))
    before = new Map(pictures.map(picture => [picture.mountPoint, picture]))
    return true
  })
  screen.end()
  if (ended === undefined) return
  const left = await Promise.all(paths.map(mountAt))
  // A daemon answers until its drive is unmounted: one that is gone has ended in order.
  if (left.every(mount => mount === undefined))
    for (const path of paths) printLine(`${path} is not mounted any more.`)
  else complain(sentenceOf(ended))
}

const rowsAtMost = 8
const longestName = 60

/** Without an earlier picture rates are those since the mount. */
function topText(now: ActivityPicture, before: ActivityPicture | undefined): string {
  const seconds = Math.max(0.001, between(before?.at ?? now.since, now.at) / 1000)
  return [
    `${now.mountPoint}: ${now.service} as ${now.user}, mounted for ${durationText(between(now.since, now.at))}`,
    ...serviceLines(now),
    `  requests   ${requestLine(now, before, seconds)}`,
    ...section('calls', callRows(now, before, seconds), 'none yet'),
    ...section('waiting', waitingRows(now), 'no call waits for its answer'),
    ...section('downloads', downloadRows(now), 'none'),
    ...section('saving', draftRows(now.saves, now.at), 'nothing'),
    ...section('not saved', draftRows(now.waiting, now.at), 'nothing: everything is saved'),
  ].join('\n')
}

function serviceLines({ awayBecause, signedOutBecause }: ActivityPicture): readonly string[] {
  if (awayBecause !== undefined) return [`  the service is away: ${awayBecause}`]
  return signedOutBecause === undefined ? [] : [`  ${signedOutBecause}`]
}

const between = (from: string, to: string): number => Date.parse(to) - Date.parse(from)

/** Empty lists are said on the line of their heading. */
function section(heading: string, rows: readonly string[], none: string): readonly string[] {
  const [first = none, ...rest] = rows
  const shown = rest.slice(0, rowsAtMost - 1)
  const more = rest.length - shown.length
  return [
    `  ${heading.padEnd(10)} ${first}`,
    ...shown.map(row => `  ${''.padEnd(10)} ${row}`),
    ...(more > 0 ? [`  ${''.padEnd(10)} and ${more} more`] : []),
  ]
}

const rate = (count: number, seconds: number): string => {
  const perSecond = count / seconds
  return `${perSecond >= 10 || perSecond === 0 ? Math.round(perSecond) : perSecond.toFixed(1)}/s`
}

function outcomesOf({ requests }: Pick<ActivityPicture, 'requests'>): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const { outcomes } of requests)
    for (const [outcome, count] of Object.entries(outcomes))
      sums.set(outcome, (sums.get(outcome) ?? 0) + count)
  return sums
}

function requestLine(now: ActivityPicture, before: ActivityPicture | undefined, seconds: number): string {
  const known = before === undefined ? new Map<string, number>() : outcomesOf(before)
  const lately = [...outcomesOf(now)]
    .map(([outcome, count]) => [outcome, count - (known.get(outcome) ?? 0)] as const)
    .filter(([, count]) => count > 0)
    .toSorted(([, one], [, other]) => other - one)
  const words = lately.map(([outcome, count]) => `${outcome} ${rate(count, seconds)}`)
  const received = now.received - (before?.received ?? 0)
  return `${words.length === 0 ? 'none' : words.join(', ')}; ${now.requestsUnderWay} under way, ${bytesText(received / seconds)}/s`
}

function callRows(
  now: ActivityPicture,
  before: ActivityPicture | undefined,
  seconds: number,
): readonly string[] {
  return now.calls
    .map(({ verb, count, failed, milliseconds }) => {
      const earlier = before?.calls.find(call => call.verb === verb)
      const lately = count - (earlier?.count ?? 0)
      const took = milliseconds - (earlier?.milliseconds ?? 0)
      return { verb, count, failed, lately, meanMs: lately === 0 ? undefined : took / lately }
    })
    .toSorted((one, other) => other.lately - one.lately || other.count - one.count)
    .map(({ verb, count, failed, lately, meanMs }) =>
      [
        `${verb.padEnd(10)} ${rate(lately, seconds).padStart(8)}`,
        ` ${meanMs === undefined ? '' : durationShort(meanMs)}`.padEnd(12),
        `${count} in all${failed === 0 ? '' : `, ${failed} failed`}`,
      ].join(' '),
    )
}

const durationShort = (milliseconds: number): string =>
  milliseconds < 10 ? `${milliseconds.toFixed(2)} ms` : durationText(milliseconds)

const waitingRows = ({ underWay }: ActivityPicture): readonly string[] =>
  underWay.map(({ verb, path, milliseconds, waitsFor }) => {
    const cause = waitsFor === undefined ? '' : `, for ${waitsFor}`
    return `${durationText(milliseconds).padStart(8)} ${verb} ${shortened(path)}${cause}`
  })

const downloadRows = ({ downloads }: ActivityPicture): readonly string[] =>
  downloads.map(({ name, arrived, length }) => {
    const of = length === undefined ? '' : ` of ${bytesText(length)}`
    return `${shortened(name)}: ${bytesText(arrived)}${of}`
  })

const draftRows = (drafts: ActivityPicture['waiting'], at: string): readonly string[] =>
  drafts.map(({ record, state, since, why }) => {
    const reason = why === undefined ? '' : `: ${why}`
    return `${record} (${state.replaceAll('-', ' ')}, for ${durationText(Math.max(0, between(since, at)))})${reason}`
  })

/** The end of a path says more than its beginning. */
const shortened = (name: string): string =>
  name.length <= longestName ? name : `…${name.slice(1 - longestName)}`
