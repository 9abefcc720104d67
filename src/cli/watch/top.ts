// `calcfs top [DRIVE]`: what goes on in the drives now, redrawn each second.

import { Command } from 'commander'
import type { ActivityPicture, Control } from '../../drive/interface/control.js'
import { mountAt } from '../../mount/mount-point.js'
import { withExamples } from '../../terminal/examples.js'
import { exitCodes, Stop, sentenceOf } from '../../terminal/exit.js'
import { jsonFlag, printJson } from '../../terminal/json.js'
import { complain, printLine } from '../../terminal/print.js'
import { driveAt } from '../control/find-daemon.js'
import { chosenMount, liveMounts } from '../control/select-mount.js'
import { goneSentence, isScreen, openScreen, untilInterrupted } from './screen.js'
import { topText } from './top-text.js'

interface Flags {
  readonly once?: true
  readonly json?: true
}

/** Milliseconds between two pictures. */
const everyMs = 1_000

export function topCommand(): Command {
  const command = new Command('top')
    .description(
      'show what goes on in the drives now: calls, what they wait for, requests, downloads, saves; Ctrl-C ends it',
    )
    .argument('[drive]', 'one drive; default: all of yours')
    .option('--once', 'print one picture, with rates since the mount, and end')
    .addOption(jsonFlag('an array of one picture of each drive'))
    .action((drive: string | undefined, flags: Flags) => top(drive, flags))
  return withExamples(
    command,
    ['calcfs top', 'every drive of yours, each second'],
    ['calcfs top ~/lab --once', 'one picture'],
    ['calcfs top ~/lab --json', 'one picture for a script'],
  )
}

async function top(drive: string | undefined, flags: Flags): Promise<void> {
  const paths = await watchedDrives(drive)
  const controls = await Promise.all(paths.map(driveAt))
  const isOnce = flags.once === true || flags.json === true || !isScreen(process.stdout)
  if (!isOnce) return redrawn(paths, controls)
  const { pictures, problems } = await picturesOf(controls)
  if (pictures.length === 0) throw problems[0]
  if (flags.json === true) printJson(pictures.map(jsonOf))
  else printLine(pictures.map(picture => topText(picture, undefined)).join('\n\n'))
  for (const problem of problems) complain(sentenceOf(problem))
}

async function watchedDrives(drive: string | undefined): Promise<readonly string[]> {
  const named = drive === undefined ? undefined : await chosenMount(drive)
  const paths = named === undefined ? (await liveMounts()).map(({ path }) => path) : [named]
  if (paths.length > 0) return paths
  throw new Stop(exitCodes.mountPoint, 'no drive is mounted; calcfs mount brings one up.')
}

/** One drive that hangs does not hide the others. */
async function picturesOf(
  controls: readonly Control[],
): Promise<{ readonly pictures: readonly ActivityPicture[]; readonly problems: readonly unknown[] }> {
  const found = await Promise.allSettled(controls.map(control => control.activity({})))
  return {
    pictures: found.flatMap(one => (one.status === 'fulfilled' ? [one.value] : [])),
    problems: found.flatMap(one => (one.status === 'rejected' ? [one.reason] : [])),
  }
}

/** Ends with the last of the drives. */
async function redrawn(paths: readonly string[], controls: readonly Control[]): Promise<void> {
  const screen = await openScreen(process.stdout)
  let before = new Map<string, ActivityPicture>()
  let ended: unknown
  await untilInterrupted(everyMs, async () => {
    const { pictures, problems } = await picturesOf(controls)
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
  if (left.every(mount => mount === undefined)) for (const path of paths) printLine(goneSentence(path))
  else complain(sentenceOf(ended))
}

/** Dates as everywhere in `--json`. */
function jsonOf({ at, since, saves, waiting, ...rest }: ActivityPicture): object {
  const date = (time: number): string => new Date(time).toISOString()
  const dated = (drafts: ActivityPicture['saves']) =>
    drafts.map(draft => ({ ...draft, since: date(draft.since) }))
  return { ...rest, at: date(at), since: date(since), saves: dated(saves), waiting: dated(waiting) }
}
