// Walks under way: which program takes a step, how far ahead of it is asked, and when it is given up.
import { lastNameOf, parentOf } from '../../layout.js'
import { type Instant, instant, type RequestContext } from '../../remote/remote.js'
import { type DirectoryNode, isDirectory, type Node } from '../nodes/node.js'
import { type AccessLevel, type AccessPattern, openAccessPattern } from './access-pattern.js'
import type { AskedHow } from './content-prefetch.js'
import { type FileQuestions, openFileQuestions } from './file-questions.js'
import { type ListedDirectory, placeOf } from './listed-directory.js'
import type { PrefetchQueue, PrefetchSource, PrefetchTask } from './queue.js'
import { openWalker, type Walker } from './walker.js'

export interface Walks {
  /** The directory at this path was listed by the user's program. */
  listed(path: string): void
  /** The folder at this path, which stands in a directory that is known, is entered. */
  step(path: string): void
  /** Something was done to a file of this kind, in the folder at `path`. */
  note(path: string, kind: string, level: AccessLevel): void
  /** There is room for more of what lies ready. */
  nudge(): void
  /** Gives up every walk without a step since then; answers whether any is left. */
  leftSince(since: Instant): boolean
}

export interface WalkPorts {
  readonly queue: PrefetchQueue
  /** How many guesses may be under way side by side, now. */
  readonly room: () => number
  /** A directory as it was listed last. */
  readonly known: (path: string) => ListedDirectory | undefined
  /** Lists a directory and keeps what it shows. */
  readonly list: (path: string, node: DirectoryNode, context: RequestContext) => Promise<ListedDirectory>
  /** Does to a file what is usually done to its kind. */
  readonly askFor: (path: string, node: Node, how: AskedHow) => Promise<unknown>
  /** Nothing is left to ask of it: what is done to it, which is in memory, takes no request. */
  readonly isKnown: (node: Node, level: AccessLevel) => boolean
  /** No more contents are fetched for now. */
  readonly full: () => boolean
  readonly now: () => Instant
}

/** A walker with what is asked for it. */
interface Walk {
  readonly walker: Walker
  readonly pattern: AccessPattern
  readonly questions: FileQuestions
  readonly source: PrefetchSource
  /** Folders that were foreseen and not entered yet, in the order in which they are expected. */
  readonly ahead: Set<string>
  /** Those of them whose directory it may not enter any further. */
  readonly presumed: Set<string>
  /** Those of them that lead to other folders, and have no files to ask for. */
  readonly through: Set<string>
  /** How many folders ahead are asked for; doubles with every step. */
  reach: number
  steppedAt: Instant
}

const walksAtMost = 16
const reachAtFirst = 4
/** Where no order is known, any folder of the set may be the next: so many of them are asked for. */
const reachAtMost = 1_024
/** Questions that are asked ahead of a walk in order, for each that may be under way: what is on its way, and what lies ready. */
const questionsPerSlot = 6
/** Folders that are only presumed, at least and for so many questions that were used. */
const presumedAtLeast = 8
const usedPerPresumed = 16
/** A person takes longer from one folder to the next one. */
const hastilyMs = 500
/** Steps further apart than these milliseconds are none of one walk. */
const togetherMs = 10_000

export function openWalks({ queue, room, known, list, askFor, isKnown, full, now }: WalkPorts): Walks {
  /** The one that took a step last comes last. */
  const walks = new Set<Walk>()
  const active = new Set<Walk>()
  let lastListed = ''

  function step(path: string): void {
    const above = known(parentOf(path))
    if (above === undefined || placeOf(above, lastNameOf(path)) === undefined) return
    const walk = walkTo(path)
    const hastily = now() - walk.steppedAt < hastilyMs
    walks.delete(walk)
    walks.add(walk)
    walk.steppedAt = now()
    active.add(walk)
    const { walker, questions } = walk
    if (walker.last !== path) {
      if (walker.distance(path) === 0) {
        walk.source.wake()
        return
      }
      const before = parentOf(walker.last)
      walker.step(path, hastily)
      if (parentOf(path) !== before) questions.cameTo(folder => isBeyond(walk, folder))
      if (walker.isWalking) walk.reach = Math.min(Math.max(reachAtFirst, walk.reach * 2), reachAtMost)
    }
    passBy(walk, path)
    takeOff(walk, path)
    questions.enter(path)
    arrived(walk, path)
    walk.source.wake()
  }

  /** What it does there is asked for at once, whether or not it was foreseen. */
  function arrived(walk: Walk, path: string): void {
    const folder = known(path)
    if (folder === undefined) return
    walk.questions.add(folder, false)
    walk.questions.enter(path)
  }

  /** The walk has not come to the directory that this folder lies in. */
  const isBeyond = ({ walker }: Walk, folder: string): boolean => !walker.wasIn(parentOf(folder))

  /** It is not expected any more. */
  function takeOff({ ahead, through }: Walk, path: string): void {
    ahead.delete(path)
    through.delete(path)
  }

  /** In an order, what was expected before this folder is not expected any more. */
  function passBy(walk: Walk, path: string): void {
    const { walker, ahead, presumed, questions } = walk
    for (const other of presumed) if (!ahead.has(other) || !walker.isPresumed(other)) presumed.delete(other)
    if (!walker.isInOrder) return
    for (const other of ahead) {
      if (other === path || !walker.isBehind(other)) continue
      takeOff(walk, other)
      questions.drop(other)
      // Should the order turn out to be none, it is expected still.
      walker.unforesee(other)
    }
  }

  /** The walk whose next step this is, else a new one. */
  function walkTo(path: string): Walk {
    let nearest: Walk | undefined
    let least: number | undefined
    for (const walk of [...walks].reverse()) {
      if (!isTogether(walk)) continue
      const distance = walk.walker.distance(path)
      if (distance === undefined || (least !== undefined && distance >= least)) continue
      nearest = walk
      least = distance
    }
    if (nearest !== undefined) return nearest
    // A program that is somewhere else has left; if it was another one, the next step shows it.
    const before = [...walks].at(-1)
    before?.source.rest()
    const walk = walkAfter(path, before !== undefined && isTogether(before) ? before : undefined)
    for (const oldest of walks) {
      if (walks.size < walksAtMost) break
      leave(oldest)
      walks.delete(oldest)
    }
    return walk
  }

  const isTogether = ({ steppedAt }: Walk): boolean => now() - steppedAt <= togetherMs

  /** A step that fits no order may still be the same program's: what it has done is kept. */
  function walkAfter(path: string, before: Walk | undefined): Walk {
    const top = lastListed === parentOf(path) ? lastListed : undefined
    if (before === undefined || !active.has(before) || before.walker.wasIn(path)) {
      const pattern = before?.pattern.copy() ?? openAccessPattern()
      const walker = openWalker(path, known, top, before?.walker.descends ?? false)
      return walkOf({
        walker,
        pattern,
        questions: openFileQuestions(pattern),
        ahead: [],
        presumed: [],
        reach: 0,
      })
    }
    const pattern = before.pattern.copy()
    const { ahead, presumed, reach } = before
    const questions = before.questions.fork(pattern)
    return walkOf({ walker: before.walker.fork(), pattern, questions, ahead, presumed, reach })
  }

  function walkOf({
    ahead,
    presumed,
    ...past
  }: Pick<Walk, 'walker' | 'pattern' | 'questions' | 'reach'> & {
    readonly ahead: Iterable<string>
    readonly presumed: Iterable<string>
  }): Walk {
    const walk: Walk = {
      ...past,
      source: queue.source(() => next(walk)),
      ahead: new Set(ahead),
      presumed: new Set(presumed),
      through: new Set(),
      steppedAt: now(),
    }
    return walk
  }

  /** What is wanted most now: folders as far as the link needs them, then what is done to their files. */
  function next(walk: Walk): PrefetchTask | undefined {
    return nextFolder(walk) ?? nextFile(walk)
  }

  function aheadHere({ walker, ahead }: Walk): number {
    const here = `${parentOf(walker.last)}/`
    let count = 0
    for (const path of ahead) if (path.startsWith(here) && !path.includes('/', here.length)) count += 1
    return count
  }

  function nextFolder(walk: Walk): PrefetchTask | undefined {
    const { walker, ahead, presumed, through, questions, reach } = walk
    const wanted = questionsPerSlot * room()
    const needed = Math.ceil(wanted / (1 + questions.perFolder))
    const most = walker.isInOrder ? Math.min(reach, Math.max(reachAtFirst, needed)) : reach
    const isEnough = ahead.size - through.size >= most || ahead.size >= Math.max(most, wanted)
    // What lies ready farther off is no reason to wait in this directory.
    if (isEnough && (!walker.isInOrder || aheadHere(walk) >= most)) return undefined
    const mayPresume = presumed.size < Math.max(presumedAtLeast, questions.used / usedPerPresumed)
    const found = isEnough ? walker.foreseeHere() : walker.foresee(mayPresume)
    if (found === undefined) return undefined
    const { path, place, above } = found
    const node = above.folders[place]?.node
    if (node === undefined || !isDirectory(node)) return undefined
    ahead.add(path)
    if (walker.isPresumed(path)) presumed.add(path)
    return async (context, signal) => {
      try {
        hear(walk, await list(path, node, context))
      } catch (thrown) {
        takeOff(walk, path)
        if (signal.aborted) walker.unforesee(path)
        throw thrown
      }
    }
  }

  /** For those, too, that were made of this walk meanwhile. */
  function hear(asking: Walk, folder: ListedDirectory): void {
    for (const walk of walks) {
      const { walker, ahead, questions } = walk
      const isAhead = ahead.has(folder.path)
      if (walk !== asking && !isAhead) continue
      walker.heard()
      if (isAhead && folder.folders.length > 0) walk.through.add(folder.path)
      if (isAhead) questions.add(folder, isBeyond(walk, folder.path))
      else if (walker.last === folder.path) arrived(walk, folder.path)
      if (walk !== asking) walk.source.nudge()
    }
  }

  function nextFile({ questions }: Walk): PrefetchTask | undefined {
    for (;;) {
      const question = questions.next(
        ({ dentry, level, isHere }) =>
          isHere || dentry.node.kind !== 'content' || level === 'looked' || !full(),
      )
      if (question === undefined) return undefined
      const { path, dentry, level, isHere } = question
      if (!isKnown(dentry.node, level))
        return (context, signal) => askFor(path, dentry.node, { level, isHere, context, signal })
    }
  }

  function leave(walk: Walk): void {
    active.delete(walk)
    walk.source.rest()
    walk.reach = 0
    for (const path of walk.ahead) {
      walk.questions.drop(path)
      walk.walker.unforesee(path)
    }
    walk.ahead.clear()
    walk.through.clear()
    walk.presumed.clear()
  }

  return {
    listed(path) {
      lastListed = path
    },
    step,
    note(path, kind, level) {
      for (const walk of [...walks].reverse()) {
        if (walk.walker.last !== path) continue
        walk.steppedAt = now()
        walk.pattern.note(path, kind, level)
        return walk.source.nudge()
      }
    },
    nudge() {
      for (const { source } of active) source.nudge()
    },
    leftSince(since) {
      for (const walk of active) if (walk.steppedAt <= since) leave(walk)
      for (const walk of walks) if (walk.steppedAt <= instant(since - togetherMs)) walks.delete(walk)
      return active.size > 0
    },
  }
}
