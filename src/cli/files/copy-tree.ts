// The copy of trees: walks ahead of the files, many at once, names what could not be had, and tries once more what may come later.
import { setMaxListeners } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type DriveEntry,
  type DriveReader,
  isProblem,
  type TreeFilter,
} from '../../drive/interface/reader.js'
import { asFailure, Failure } from '../../failure.js'
import { parentOf } from '../../layout.js'
import { Stop } from '../../terminal/exit.js'
import { copyFile, type FileRules } from './copy-file.js'
import { ensureDirectory, ensureLink, setTime } from './local-target.js'
import { mayComeLater } from './output.js'

/** One tree or file, and where it goes: the local path of its top. */
export interface CopyOrder {
  readonly path: string
  readonly target: string
}

export interface CopyRules extends FileRules {
  readonly jobs: number
  readonly follow: boolean
  readonly include: readonly string[] | undefined
  readonly exclude: readonly string[] | undefined
}

/** How far a copy is; numbers grow while it goes on. */
export interface CopyProgress {
  /** Files that the walk has found so far, and what they hold in bytes. */
  files: number
  bytes: number
  /** Files that are done, whether copied, there, or not to be had; and bytes that need not come any more. */
  filesDone: number
  bytesDone: number
  copied: number
  copiedBytes: number
  same: number
  links: number
  /** Links that lead out of what is copied, or nowhere. */
  linksOut: number
  isWalking: boolean
}

export const copyBegins = (): CopyProgress => ({
  files: 0,
  bytes: 0,
  filesDone: 0,
  bytesDone: 0,
  copied: 0,
  copiedBytes: 0,
  same: 0,
  links: 0,
  linksOut: 0,
  isWalking: true,
})

export interface CopyPorts {
  readonly reader: DriveReader
  readonly progress: CopyProgress
  readonly signal: AbortSignal
  /** What could not be had, by its path on the drive, or, where the local side is the reason, without one. */
  readonly failed: (path: string, failure: Failure) => void
}

/** Milliseconds before what failed is tried again. A service that is away is probed every two seconds. */
const againAfterMs = 2_500

interface Missing extends PlacedOrder {
  readonly failure: Failure
  /** Of a file that was counted. */
  readonly entry?: DriveEntry | undefined
}

/** What is copied, and the order that it is a part of. */
interface PlacedOrder extends CopyOrder {
  readonly top: CopyOrder
}

/** @throws Failure where the copy cannot go on: the local disk is full; the signal's reason */
export async function copyTrees(
  orders: readonly CopyOrder[],
  rules: CopyRules,
  ports: CopyPorts,
): Promise<void> {
  const directories: CopiedDirectory[] = []
  const whole = orders.map(order => ({ ...order, top: order }))
  const later: Missing[] = []
  for (const missing of await copyAll(whole, rules, ports, directories))
    if (mayComeLater(missing)) later.push(missing)
    else ports.failed(missing.path, missing.failure)
  if (later.length > 0) {
    for (const { entry } of later) if (entry !== undefined) uncount(entry, ports.progress)
    await sleep(againAfterMs, undefined, { signal: ports.signal })
    for (const { path, failure } of await copyAll(later, rules, ports, directories))
      ports.failed(path, failure)
  }
  // A new file changes the time of its directory: the deepest comes first, when all files are there.
  for (const { path, target, mtimeMs } of directories.toReversed()) {
    try {
      setTime(target, mtimeMs)
    } catch (thrown) {
      ports.failed(path, asFailure(thrown))
    }
  }
}

interface CopiedDirectory extends CopyOrder {
  readonly mtimeMs: number
}

/** It will be found again. */
function uncount({ size = 0 }: DriveEntry, progress: CopyProgress): void {
  progress.files -= 1
  progress.filesDone -= 1
  progress.bytes -= size
  progress.bytesDone -= size
}

async function copyAll(
  orders: readonly PlacedOrder[],
  rules: CopyRules,
  ports: CopyPorts,
  directories: CopiedDirectory[],
): Promise<readonly Missing[]> {
  const round = openRound(rules, ports, directories)
  ports.progress.isWalking = true
  try {
    for (const order of orders) await round.walk(order)
    ports.progress.isWalking = false
    await round.settled()
  } finally {
    // What is under way removes what it has written aside.
    await round.ended()
  }
  return round.missing
}

/** One pass over trees. */
function openRound(rules: CopyRules, ports: CopyPorts, directories: CopiedDirectory[]) {
  const { reader, progress } = ports
  const over = new AbortController()
  const signal = AbortSignal.any([ports.signal, over.signal])
  // Every file under way hears it.
  setMaxListeners(0, signal)
  const missing: Missing[] = []
  const underWay = new Set<Promise<void>>()
  const made = new Set<string>()
  let wake = () => {}

  /** A full disk, or a daemon that hangs, ends the copy; anything else is a missing file. */
  function met(thrown: unknown, place: PlacedOrder, entry?: DriveEntry): void {
    if (signal.aborted) return
    const failure = asFailure(thrown)
    if (thrown instanceof Stop) over.abort(thrown)
    else if (failure.kind === 'no-space') over.abort(failure)
    else missing.push({ ...place, failure, entry })
  }

  async function walk(order: PlacedOrder): Promise<void> {
    const { path, target, top } = order
    const blocked: string[] = []
    const filter: TreeFilter = { include: rules.include, exclude: rules.exclude }
    const asked = { path, top: top.path, attributes: true, follow: rules.follow, filter }
    for await (const items of reader.tree(asked, signal))
      for (const item of items) {
        signal.throwIfAborted()
        const below = item.path === path ? '' : item.path.slice(path === '/' ? 1 : path.length + 1)
        const place = { path: item.path, target: join(target, below), top }
        if (blocked.some(directory => item.path.startsWith(`${directory}/`))) continue
        if (isProblem(item)) met(item.failure, place)
        else if (!isSafe(below)) met(unsafe(item.path), { ...place, target })
        else if (!(await taken(item, place))) blocked.push(item.path)
      }
  }

  /** False where nothing below can be copied. */
  async function taken(entry: DriveEntry, place: PlacedOrder): Promise<boolean> {
    try {
      if (entry.type === 'directory') await directory(entry, place)
      else if (entry.type === 'link') await link(entry, place)
      else await begin(entry, place)
      return true
    } catch (thrown) {
      met(thrown, place)
      signal.throwIfAborted()
      return entry.type !== 'directory'
    }
  }

  /** Where only some files are wanted, directories come with the first of them. */
  async function directory({ mtime }: DriveEntry, { path, target }: CopyOrder): Promise<void> {
    if (rules.include !== undefined) return
    await make(target)
    if (mtime !== undefined) directories.push({ path, target, mtimeMs: mtime })
  }

  async function make(target: string): Promise<void> {
    if (made.has(target)) return
    await ensureDirectory(target)
    made.add(target)
  }

  /** Of a copy with `include`: the directories between the top and this file. */
  async function makeAbove(target: string, top: CopyOrder): Promise<void> {
    if (rules.include === undefined || target === top.target || made.has(parentOf(target))) return
    await makeAbove(parentOf(target), top)
    await make(parentOf(target))
  }

  async function link({ target: leadsTo, mtime }: DriveEntry, place: PlacedOrder): Promise<void> {
    if (leadsTo === undefined) return
    if (leadsTo.startsWith('/'))
      throw new Failure('broken', `${place.path}: a link of the drive leads to ${leadsTo}`)
    await makeAbove(place.target, place.top)
    await ensureLink(place.target, leadsTo, mtime)
    progress.links += 1
    if (!isInside(join(parentOf(place.path), leadsTo), place.top.path)) progress.linksOut += 1
  }

  async function begin(entry: DriveEntry, place: PlacedOrder): Promise<void> {
    // Its problem is the next item.
    if (entry.size === undefined) return
    await makeAbove(place.target, place.top)
    progress.files += 1
    progress.bytes += entry.size
    while (underWay.size >= rules.jobs) await oneEnded()
    const copying = one(entry, place).finally(() => {
      underWay.delete(copying)
      wake()
    })
    underWay.add(copying)
  }

  /** One waits at a time. Not a race of all, which costs each file as much as there are others. @throws the signal's reason */
  async function oneEnded(): Promise<void> {
    await new Promise<void>(ended => {
      wake = ended
    })
    signal.throwIfAborted()
  }

  /** Never rejects. */
  async function one(entry: DriveEntry, place: PlacedOrder): Promise<void> {
    let arrived = 0
    const counted = (bytes: number): void => {
      arrived += bytes
      progress.bytesDone += bytes
    }
    try {
      const outcome = await copyFile(entry, place.target, { reader, rules, signal, counted })
      if (outcome === 'same') progress.same += 1
      else {
        progress.copied += 1
        progress.copiedBytes += entry.size ?? 0
      }
    } catch (thrown) {
      met(thrown, place, entry)
    }
    progress.bytesDone += (entry.size ?? 0) - arrived
    progress.filesDone += 1
  }

  return {
    missing,
    walk,
    async settled() {
      while (underWay.size > 0) await oneEnded()
      signal.throwIfAborted()
    },
    async ended() {
      await Promise.all(underWay)
    },
  }
}

const isInside = (path: string, top: string): boolean =>
  top === '/' || path === top || path.startsWith(`${top}/`)

/** The drive makes names safe itself; this holds whatever a daemon says: a copy never leaves its directory. */
const isSafe = (below: string): boolean =>
  below === '' || !(below.includes('\0') || /(^|\/)(\.{0,2})(\/|$)/.test(below))

const unsafe = (path: string): Failure =>
  new Failure('broken', `${JSON.stringify(path)} has no name for a file; it is not copied`)
