// Walks under way: which folders programs go through, and what is asked ahead of them.
import { LRUCache } from 'lru-cache'
import { parentOf } from '../../layout.js'
import type { Instant, RequestContext } from '../../remote/remote.js'
import { type Dentry, type DirectoryNode, isDirectory, type Node } from '../nodes/node.js'
import { type AccessLevel, type AccessPattern, fileClassOf } from './access-pattern.js'
import type { AskedHow, ContentPrefetch } from './content-prefetch.js'
import { type FileQuestion, FileQuestions } from './file-questions.js'
import type { ListedDirectory } from './listed-directory.js'
import type { PrefetchQueue, PrefetchTask } from './queue.js'
import type { SiblingPrefetch } from './siblings.js'

export interface WalkPorts {
  readonly queue: Pick<PrefetchQueue, 'goOn' | 'nudge' | 'wake'>
  readonly siblings: Pick<SiblingPrefetch, 'next'>
  readonly room: () => number
  readonly known: (path: string) => ListedDirectory | undefined
  readonly list: (path: string, node: DirectoryNode, context: RequestContext) => Promise<ListedDirectory>
  readonly askFor: (path: string, node: Node, how: AskedHow) => Promise<unknown>
  readonly contents: Pick<ContentPrefetch, 'isKnown' | 'full'>
  readonly now: () => Instant
}

/** So many folders of a directory make a walk through it. */
const walkedAtLeast = 2
const reachAtFirst = 4
const reachAtMost = 1_024
/** How far the nearest folders are looked for, each way. */
const lookAtMost = 256

/** The way of programs through the folders of one directory, and which of them are the next: the nearest, both ways. */
class Trail {
  /** Entered, or something in it was: the step that did so last. */
  readonly entered = new Map<number, number>()
  readonly passed = new Set<number>()
  /** Listed ahead, or about to be, and not entered; true while it counts as waiting. */
  readonly ahead = new Map<number, boolean>()
  /** Folders that were entered, here and below. */
  used = 0
  /** Folders that are listed ahead and not entered, here and below; where a walk goes on in one, its folders count in its place. */
  waiting = 0
  /** Levels of folders below this directory that were entered. */
  depth = 1
  last = 0
  private reach = reachAtFirst
  private order: 0 | 1 = 0

  constructor(
    readonly folder: ListedDirectory,
    public steppedAt: Instant,
    /** Its folders were gone through before: a program finds them listed, sooner than they are foreseen. */
    private readonly isAgain: boolean,
  ) {}

  /** The rest of its folders is expected. */
  get isWalked(): boolean {
    return this.entered.size >= walkedAtLeast
  }

  pathOf(place: number): string {
    return `${this.folder.path}/${this.folder.folders[place]?.name ?? ''}`
  }

  step(place: number, isBelow: boolean, step: number, at: Instant): void {
    if (!this.entered.has(place)) this.order = this.nearerOrder(place)
    this.entered.set(place, step)
    if (isBelow) this.passed.add(place)
    this.last = place
    this.steppedAt = at
  }

  /** Others were listed ahead than the one that was entered: more of them may be the next. */
  missed(): void {
    if (this.waiting > 0 && !this.isAgain) this.reach = Math.min(this.reach * 2, reachAtMost)
  }

  /** True if one more may be listed ahead: twice what was used at most, and no more than the link needs; where some were missed there is no order, and any may be the next. Beside a folder that programs are half-way through, a few are expected. */
  hasRoom(needed: number, below: Trail | undefined): boolean {
    const isHalfThrough = below?.isWalked === true && below.entered.size * 2 >= below.folder.folders.length
    if (!this.isWalked) return isHalfThrough && this.waiting < reachAtFirst
    const times = this.reach > reachAtFirst ? 4 : 2
    return this.waiting < Math.min(this.used * times, Math.max(needed, this.reach))
  }

  /** Its folders, from the last one on, the nearest first and both ways. */
  *nearest(): Generator<number> {
    const { sequence, positions } = this.folder.orders[this.order]
    const from = positions[this.last] ?? 0
    yield this.last
    for (let off = 1; off <= lookAtMost; off += 1) {
      const [next, before] = [sequence[from + off], sequence[from - off]]
      if (next === undefined && before === undefined) return
      if (next !== undefined) yield next
      if (before !== undefined) yield before
    }
  }

  /** The order in which the step from the last folder to this one is shorter. */
  private nearerOrder(place: number): 0 | 1 {
    const [listing = 0, names = 0] = this.folder.orders.map(({ positions }) =>
      Math.abs((positions[place] ?? 0) - (positions[this.last] ?? 0)),
    )
    if (listing === names) return this.order
    return listing < names ? 0 : 1
  }
}

interface Step {
  readonly trail: Trail
  readonly place: number
}

/** Questions that are asked ahead, for each that may be under way: what is on its way, and what lies ready. */
const questionsPerSlot = 6
/** Directories that programs are in at the same time, as far as they are followed. */
const headsAtMost = 16
/** Steps further apart than these milliseconds are none of one walk. */
const togetherMs = 10_000
/** Folders that one look for the next one passes over. */
const looksAtMost = 4_096

export class Walks {
  private readonly trails = new Map<string, Trail>()
  /** The folder that was entered last in each directory; the latest comes first. */
  private readonly heads = new LRUCache<string, string>({ max: headsAtMost })
  private readonly files: FileQuestions
  private looks = 0
  private isFileNext = false
  private steps = 0
  /** A walk at or below this path begins once more. */
  private again: string | undefined
  /** Nothing is left to list ahead until a program takes a step, or more is listed. */
  private isThrough = false

  constructor(
    private readonly ports: WalkPorts,
    private readonly pattern: AccessPattern,
  ) {
    this.files = new FileQuestions(pattern, ports.contents)
  }

  /** The folder at this path, which stands in a directory that is known, is entered. */
  step(path: string): void {
    this.steps += 1
    const way = this.wayAnew(path)
    const [here] = way
    if (here === undefined) return
    this.enter(way, here)
    this.follow(path)
    this.files.expect(path, false)
    const folder = this.ports.known(path)
    if (folder !== undefined) this.files.arrive(folder)
    this.files.enter(path)
    this.ports.queue.wake()
  }

  note(path: string, kind: string, level: AccessLevel): void {
    const trail = this.trails.get(parentOf(path))
    if (trail !== undefined) trail.steppedAt = this.ports.now()
    if (this.pattern.note(path, kind, level)) {
      this.files.reconsider()
      this.ports.queue.nudge()
    } else this.ports.queue.goOn()
  }

  /** It is asked for ahead, as files of its kind are used elsewhere. */
  foresees(folder: string, file: Dentry): boolean {
    const isHead = this.heads.peek(parentOf(folder)) === folder
    return isHead && this.pattern.usual(fileClassOf(file) ?? '', folder) !== undefined
  }

  /** Gives up every walk without a step since then; answers whether a program is in any still, and whether any is remembered. */
  leftSince(since: Instant) {
    for (const [path, trail] of this.trails) {
      if (trail.steppedAt > since) continue
      this.heads.delete(path)
      this.giveUp(trail)
      for (const place of trail.entered.keys()) this.files.drop(trail.pathOf(place))
      if (trail.steppedAt <= since - togetherMs) this.trails.delete(path)
    }
    if (this.heads.size === 0) this.again = undefined
    return { isUnderWay: this.heads.size > 0, isKnown: this.trails.size > 0 }
  }

  private follow(path: string): void {
    const above = parentOf(path)
    if (!this.heads.has(above)) this.files.cameTo(above)
    this.heads.set(above, path)
    this.isThrough = false
  }

  private enter(way: readonly Step[], { trail, place }: Step): void {
    const isNew = !trail.entered.has(place)
    const wasAhead = trail.ahead.has(place)
    for (const [level, step] of way.entries()) {
      this.takeOff(step, way.slice(level))
      if (isNew) step.trail.used += 1
      if (isNew && !wasAhead) step.trail.missed()
      step.trail.depth = Math.max(step.trail.depth, level + 1)
      step.trail.step(step.place, level > 0, this.steps, this.ports.now())
    }
  }

  /** It is not listed ahead any more: it was entered, or could not be listed. */
  private takeOff({ trail, place }: Step, way: readonly Step[]): void {
    this.uncount({ trail, place }, way)
    trail.ahead.delete(place)
  }

  private uncount({ trail, place }: Step, way: readonly Step[]): void {
    if (trail.ahead.get(place) !== true) return
    trail.ahead.set(place, false)
    // Another listing of a directory on the way has a new trail, which has not counted it.
    for (const { trail } of way) trail.waiting = Math.max(0, trail.waiting - 1)
  }

  /** The foresight in a directory is over: its programs have left, or another listing of it is known. */
  private giveUp(trail: Trail): void {
    const way = [{ trail, place: trail.last }, ...this.wayTo(trail.folder.path)]
    for (const place of trail.ahead.keys()) {
      this.takeOff({ trail, place }, way)
      this.files.drop(trail.pathOf(place))
    }
  }

  /** The way to a folder. One that was left long ago is entered to do more there than before: all above it that is gone through again, is new. */
  private wayAnew(path: string): readonly Step[] {
    const way = this.wayTo(path)
    const at = way[0]?.trail.entered.get(way[0].place)
    if (at === undefined || this.steps - at <= headsAtMost) return way
    const stays = way.findIndex(({ trail, place }) => !trail.entered.has(place) || trail.last === place)
    if (stays === 0) return way
    const top = way.at(stays < 0 ? -1 : stays - 1)?.trail.folder.path ?? ''
    this.again = `${top}/`
    for (const [folder, trail] of this.trails) {
      if (!`${folder}/`.startsWith(this.again)) continue
      this.giveUp(trail)
      this.trails.delete(folder)
    }
    return this.wayTo(path)
  }

  /** From the directory above a folder up to the top: the trail of each, and the place in it. */
  private wayTo(path: string): readonly Step[] {
    const way: Step[] = []
    for (let at = path; at !== ''; ) {
      const directory = parentOf(at)
      const above = this.ports.known(directory)
      const place = above?.placeOf(at.slice(directory.length + 1))
      if (above === undefined || place === undefined) break
      way.push({ trail: this.trailOf(above), place })
      at = directory
    }
    return way
  }

  private trailOf(folder: ListedDirectory): Trail {
    const known = this.trails.get(folder.path)
    if (known?.folder === folder) return known
    if (known !== undefined) this.giveUp(known)
    const isAgain = this.again !== undefined && `${folder.path}/`.startsWith(this.again)
    const made = new Trail(folder, this.ports.now(), isAgain)
    this.trails.set(folder.path, made)
    return made
  }

  /** In turn: the files of folders that are near do not wait for the listings of those that are far. */
  nextTask(): PrefetchTask | undefined {
    this.isFileNext = !this.isFileNext
    if (this.isFileNext) return this.nextFile() ?? this.nextFolder()
    return this.nextFolder() ?? this.nextFile()
  }

  private nextFolder(): PrefetchTask | undefined {
    if (this.isThrough) return undefined
    const needed = Math.ceil((questionsPerSlot * this.ports.room()) / (1 + this.files.perFolder))
    this.looks = 0
    const seen = new Set<Trail>()
    for (const path of this.heads.values()) {
      const way = this.wayTo(path)
      for (const [level, { trail }] of way.entries()) {
        if (seen.has(trail)) break
        seen.add(trail)
        if (!trail.hasRoom(needed, way[level - 1]?.trail)) continue
        const found = this.foresee(trail, trail.depth)
        if (found !== undefined) return this.listing(found)
      }
    }
    this.isThrough = true
    return undefined
  }

  /** The nearest folder that is not listed yet, in this directory and so many levels below it in all. */
  private foresee(trail: Trail, depth: number): Step | undefined {
    let levels = depth
    for (const place of trail.nearest()) {
      this.looks += 1
      if (this.looks > looksAtMost) return undefined
      if (!trail.entered.has(place) && !trail.ahead.has(place)) return { trail, place }
      // A program that has left a folder does not come back into it.
      if (levels === 1 || (trail.passed.has(place) && place !== trail.last)) continue
      const below = this.ports.known(trail.pathOf(place))
      // Its listing is on its way: what lies in it is nearer than what lies in those beyond.
      if (below === undefined) levels = 1
      if (below === undefined || below.folders.length === 0) continue
      const found = this.foresee(this.trailOf(below), levels - 1)
      if (found !== undefined) return found
    }
    return undefined
  }

  private listing(step: Step): PrefetchTask | undefined {
    const { trail, place } = step
    const path = trail.pathOf(place)
    const node = trail.folder.folders[place]?.node
    if (node === undefined || !isDirectory(node)) return undefined
    trail.ahead.set(place, true)
    for (const { trail } of this.wayTo(path)) trail.waiting += 1
    this.files.expect(path, trail.entered.size === 0)
    return async (context, signal) => {
      try {
        const listed = await this.ports.list(path, node, context)
        const way = this.wayTo(path)
        const goesOn = way.some(({ trail }, level) => trail.isWalked && trail.depth > level + 1)
        if (goesOn && listed.folders.length > 0) this.uncount(step, way)
        this.files.arrive(listed)
        this.isThrough = false
      } catch (thrown) {
        if (signal.aborted) this.takeOff(step, this.wayTo(path))
        throw thrown
      }
    }
  }

  private nextFile(): PrefetchTask | undefined {
    const { askFor, contents, siblings } = this.ports
    const may = ({ dentry, level, isHere }: FileQuestion): boolean =>
      isHere || dentry.node.kind !== 'content' || level === 'looked' || !contents.full()
    const question = siblings.next() ?? this.files.next(may)
    if (question === undefined) return undefined
    const { path, dentry, level, isHere } = question
    return (context, signal) => askFor(path, dentry.node, { level, isHere, context, signal })
  }
}
