// Desktop notices: an edit waits to be saved, or the sign-in has ended; each cause once until it is mended.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import type { Environment } from '../../config/places.js'
import type { ActivityPicture } from '../../drive/interface/control.js'
import { type Clock, every } from '../../remote/clock.js'
import { codeOf } from '../../system/error-code.js'

export interface Notice {
  readonly title: string
  readonly text: string
}

export type NoticeSource = Pick<ActivityPicture, 'mountPoint' | 'waiting' | 'signedOutBecause'>

/** Milliseconds between two looks; what is mended until the second one is not worth a notice. */
const lookEvery = 5_000
/** Edits that are named; more are counted. */
const namedAtMost = 3

/** The notices due after each look, in turn: what two looks in a row have found, and no earlier notice has told. */
export function openNotices(): (found: NoticeSource) => readonly Notice[] {
  let before = new Set<string>()
  let told = new Set<string>()

  return ({ mountPoint, waiting, signedOutBecause }) => {
    const edits = new Map(waiting.flatMap(({ record, why }) => (why === undefined ? [] : [[record, why]])))
    const causes = new Set([...edits.keys(), ...(signedOutBecause === undefined ? [] : [signedOut])])
    const isDue = (cause: string): boolean => before.has(cause) && !told.has(cause)
    const due = [...edits].filter(([record]) => isDue(record))
    const notices = [
      ...(due.length === 0 ? [] : [editsNotice(mountPoint, due)]),
      ...(signedOutBecause !== undefined && isDue(signedOut)
        ? [{ title: `calcfs: signed out of ${mountPoint}`, text: signedOutBecause }]
        : []),
    ]
    told = new Set([...causes].filter(cause => told.has(cause) || isDue(cause)))
    before = causes
    return notices
  }
}

/** No record is called so. */
const signedOut = ''

function editsNotice(mountPoint: string, edits: readonly [record: string, why: string][]): Notice {
  const named = edits.slice(0, namedAtMost).map(([record, why]) => `${record}: ${why}`)
  const more = edits.length - named.length
  return {
    title:
      edits.length === 1 ? 'calcfs: an edit is not saved' : `calcfs: ${edits.length} edits are not saved`,
    text: [
      ...named,
      ...(more > 0 ? [`and ${more} more`] : []),
      `The text is kept: calcfs status ${mountPoint}`,
    ].join('\n'),
  }
}

/** Why this machine shows no notices, as far as that can be seen without one; undefined where it may. */
export async function noticesObstacle(environment: Environment): Promise<string | undefined> {
  const { DBUS_SESSION_BUS_ADDRESS: bus, XDG_RUNTIME_DIR: runtime = '', DISPLAY: display } = environment
  const hasBus = bus || display || (isAbsolute(runtime) && existsSync(join(runtime, 'bus')))
  return run('notify-send', ['--version'], { timeout: showLimit }).then(
    () => (hasBus ? undefined : noNotices('there is no session bus')),
    noNotices,
  )
}

/** Looks until the returned function is called. `warn` is told once of a machine that shows no notices. */
export function showNotices(
  clock: Clock,
  look: () => Promise<NoticeSource>,
  warn: (sentence: string) => void,
): () => void {
  const due = openNotices()
  let isWarned = false

  async function round(): Promise<void> {
    for (const notice of due(await look()))
      await show(notice).catch((cause: unknown) => {
        if (!isWarned) warn(noNotices(cause))
        isWarned = true
      })
  }

  return every(clock, lookEvery, () => void round())
}

/** Milliseconds for the desktop to take a notice. */
const showLimit = 5_000

async function show({ title, text }: Notice): Promise<void> {
  const marked = text.replace(/[&<>]/g, found => `&#${found.charCodeAt(0)};`)
  await run('notify-send', ['--app-name=calcfs', '--', title, marked], { timeout: showLimit })
}

const run = promisify(execFile)

const noNotices = (cause: unknown): string =>
  codeOf(cause) === 'ENOENT'
    ? '--notify needs notify-send; run: apt-get install libnotify-bin'
    : `the desktop shows no notice (${cause instanceof Error ? cause.message.trim().split('\n').at(-1) : cause}); --notify needs a desktop session`
