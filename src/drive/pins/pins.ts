// Pins: subtrees that are kept whole on this disk and never evicted, looked after at once, after a changed listing, and at an interval.

import type { LimitFunction } from 'p-limit'
import type { ContentCache } from '../../cache/content/content.js'
import { asFailure, Failure, isA, isAbsent } from '../../failure.js'
import { type Clock, dueIn, every } from '../../remote/clock.js'
import type { RequestContext } from '../../remote/remote.js'
import { isoText } from '../../system/time-text.js'
import type { PinLine } from '../interface/control.js'
import { type Node, nodeKey } from '../nodes/node.js'
import { PinFetch, type SizedContent } from './pin-fetch.js'
import { AllPinMembers, thingOf } from './pin-members.js'
import type { Pin, PinStore, PinTarget } from './pin-store.js'
import { PinSurvey } from './pin-survey.js'
import type { KnownParts, MissingPart } from './subtree.js'

export interface PinsParts extends KnownParts {
  readonly store: PinStore
  readonly content: ContentCache
  /** Bytes that kept files may take in all. */
  readonly cacheBytes: number
  /** Milliseconds between two questions for the listings of what is pinned. */
  readonly interval: number
  /** Requests of all pins together. */
  readonly limit: LimitFunction
  /** Milliseconds for a question. */
  readonly patience: number
  /** Makes this process the one that fetches, if no other one is; the function gives that back. */
  readonly takeTurn: () => Promise<(() => void) | undefined>
  readonly clock: Clock
  readonly log: (sentence: string, about?: Record<string, unknown>) => void
}

/** The members of a pin that fit, and why that may not be all. */
interface Found {
  readonly chosen: readonly SizedContent[]
  readonly tooMany: readonly SizedContent[]
  readonly because: string | undefined
  readonly missing: readonly MissingPart[]
}

/** How much of one pin is here, as far as this process knows, and why not all of it. */
class PinProgress {
  state: PinLine['state'] = 'looking'
  because: string | undefined
  files = 0
  filesKept = 0
  bytes = 0
  bytesKept = 0
  /** True if all of it was looked at in this process. */
  isFound = false

  /** All of it was looked at: these are here. */
  found(all: readonly SizedContent[], here: Iterable<SizedContent>): void {
    this.isFound = true
    this.files = all.length
    this.bytes = all.reduce((sum, one) => sum + one.bytes, 0)
    this.filesKept = 0
    this.bytesKept = 0
    for (const one of here) this.kept(one)
  }

  kept({ bytes }: SizedContent): void {
    this.filesKept += 1
    this.bytesKept += bytes
  }

  stopped(state: PinLine['state'], because?: string): void {
    this.state = state
    this.because = because
  }
}

/** Another mount may have pinned something. */
const watchEveryMs = 5_000
/** Milliseconds until a change of a listing is followed, and until what failed is tried again: twice as many each time. */
const [soonMs, retryMs] = [500, 2_000]

export class Pins {
  /** The members of all pins. */
  readonly members: AllPinMembers
  private readonly store: PinStore
  private readonly fetcher: PinFetch
  private readonly survey: PinSurvey
  private readonly progress = new Map<string, PinProgress>()
  /** The pins that are looked after now, those that are due again, and how often each has failed in a row. */
  private readonly busy = new Set<string>()
  private readonly due = new Set<string>()
  private readonly failures = new Map<string, number>()
  /** The listings that each pin asks for just now. */
  private readonly listing = new Map<string, Set<string>>()
  private readonly ends: (() => void)[] = []
  private isStarted = false
  private isClosed = false
  private lock: Promise<(() => void) | undefined> | undefined
  /** The pins as they were read last. */
  private seen = ''

  constructor(private readonly parts: PinsParts) {
    this.store = parts.store
    this.fetcher = new PinFetch(parts)
    const context = (): RequestContext => dueIn(parts.patience, parts.clock, 'guess')
    this.survey = new PinSurvey({ ...parts, context })
    this.members = new AllPinMembers(parts.store, parts.content, parts.cacheBytes)
  }

  /** Begins to fetch what is pinned, and comes back to it as long as the drive lives. */
  start(): void {
    if (this.isStarted) return
    this.isStarted = true
    const { clock, interval } = this.parts
    const lookRound = (): void => {
      if (signature(this.store.list()) !== this.seen) this.tendAll()
    }
    this.ends.push(every(clock, watchEveryMs, lookRound))
    this.ends.push(every(clock, interval, () => this.tendAll()))
    this.tendAll()
  }

  /** It is on disk when this returns; what it needs is fetched in the background. */
  pin(path: string, target: PinTarget): PinLine {
    this.start()
    const key = nodeKey(target)
    const known = this.store.list().find(pin => pin.key === key)
    const pin = known ?? { key, path, target, since: this.parts.clock.now() }
    if (known === undefined) this.store.set(pin)
    this.read()
    if (!this.busy.has(key)) this.progressOf(key).stopped('looking')
    this.failures.delete(key)
    this.tend(key)
    return this.reportOf(pin)
  }

  /** Contents kept for it alone may go from now on. Undefined where there is no such pin. */
  unpin(key: string): PinLine | undefined {
    const pin = this.store.list().find(one => one.key === key)
    if (pin === undefined) return undefined
    const report = this.reportOf(pin)
    this.store.remove(key)
    this.read()
    return report
  }

  reports(): readonly PinLine[] {
    return this.store.list().map(pin => this.reportOf(pin))
  }

  list(): readonly Pin[] {
    return this.store.list()
  }

  /** The pin that keeps this, if one does. */
  coverOf(node: Node): Pin | undefined {
    const key = this.members.coverOf(node)
    return key === undefined ? undefined : this.store.list().find(pin => pin.key === key)
  }

  /** A listing of something is another one now; of all, where no key is given. */
  changed(namespace: string | undefined, key: string | undefined): void {
    if (!this.isStarted || this.isClosed) return
    if (namespace === undefined || key === undefined) {
      for (const pin of this.store.list()) this.soon(pin.key)
      return
    }
    const { kind, id } = thingOf({ namespace, key })
    // Only the record of a report lists something.
    if (namespace === 'record' ? kind !== 'report' : namespace !== 'listing') return
    for (const one of this.members.keysOf({ namespace, key }))
      if (this.listing.get(one)?.has(`${kind} ${id}`) !== true) this.soon(one)
  }

  /** A content of this name is on this disk no more. */
  dropped(name: string): void {
    if (!this.isStarted || this.isClosed) return
    for (const key of this.members.keepersOf(name)) {
      this.progressOf(key).stopped('looking')
      this.soon(key)
    }
  }

  /** Nothing more is fetched. What is under way finds out by itself; the connections end soon. */
  async close(): Promise<void> {
    this.isClosed = true
    for (const end of this.ends) end()
    const giveBack = await this.lock?.catch(alreadyTold)
    giveBack?.()
  }

  // When a pin is looked after.

  private tendAll(): void {
    this.read()
    for (const { key } of this.store.list()) this.tend(key)
  }

  private tend(key: string): void {
    const pin = this.store.list().find(one => one.key === key)
    if (pin === undefined || this.isClosed) return
    if (this.busy.has(key)) return void this.due.add(key)
    this.due.delete(key)
    this.busy.add(key)
    void this.lookAfter(pin).then(again => {
      this.busy.delete(key)
      if (this.due.delete(key)) this.soon(key)
      else if (again !== undefined) this.tendIn(key, again)
    })
  }

  /** In a moment: a change seldom comes alone. */
  private soon(key: string): void {
    if (this.due.has(key)) return
    this.due.add(key)
    if (!this.busy.has(key)) this.tendIn(key, soonMs)
  }

  private tendIn(key: string, milliseconds: number): void {
    this.parts.clock.after(milliseconds, () => this.tend(key), 'in-background')
  }

  /** Takes what is on the disk. */
  private read(): void {
    const pins = this.store.list()
    this.seen = signature(pins)
    this.members.read()
    for (const key of this.progress.keys()) if (!pins.some(pin => pin.key === key)) this.progress.delete(key)
  }

  // The work for a pin.

  /** Answers the milliseconds until it is tried again; undefined where that is for the interval. */
  private async lookAfter(pin: Pin): Promise<number | undefined> {
    const state = this.progressOf(pin.key)
    try {
      this.lock ??= this.parts.takeTurn().catch(thrown => {
        this.lock = undefined
        throw thrown
      })
      if ((await this.lock) === undefined) this.lock = undefined
      const isDone = await this.bring(pin, state, await this.lookedUp(pin))
      if (this.due.has(pin.key) && state.state === 'whole') state.stopped('looking')
      return isDone ? this.done(pin) : this.failed(pin)
    } catch (thrown) {
      return this.stoppedBy(asFailure(thrown), pin, state)
    }
  }

  private done({ key }: Pin): undefined {
    this.failures.delete(key)
  }

  private failed({ key }: Pin): number {
    const failures = (this.failures.get(key) ?? 0) + 1
    this.failures.set(key, failures)
    return Math.min(retryMs * 2 ** failures, this.parts.interval)
  }

  private stoppedBy(failure: Failure, pin: Pin, state: PinProgress): number | undefined {
    if (this.isTakenBack(pin)) return undefined
    if (isAbsent(failure)) {
      this.members.set(pin.key, undefined)
      state.found([], new Set())
      state.stopped('gone', failure.message)
      return this.done(pin)
    }
    const isPassing = isA('outage', failure)
    state.stopped(isPassing ? 'waiting' : 'incomplete', failure.message)
    if (isPassing) return Math.min(this.failed(pin), 6 * watchEveryMs)
    this.parts.log('a pin could not be fetched', { path: pin.path, error: failure.message })
    return this.failed(pin)
  }

  /** Its members are kept from now on; those that are gone, or do not fit, may go. */
  private async lookedUp(pin: Pin): Promise<Found> {
    const { content } = this.parts
    const listing = new Set<string>()
    this.listing.set(pin.key, listing)
    const found = await this.survey.look(pin, listing)
    const sized = await this.fetcher.sizes(found.contents)
    if (this.isTakenBack(pin)) throw takenBack
    const own = this.members.contents(pin.key)
    const fitting = this.members.fit(pin.key, sized.contents)
    const contents = new Set(fitting.chosen.map(one => content.nameOf(one.content)))
    // A listing has it: what was kept of it stays, whatever its size may be.
    for (const one of sized.unsized) {
      const name = content.nameOf(one.content)
      if (own.has(name)) contents.add(name)
    }
    this.members.set(pin.key, { ...found, contents })
    return { ...fitting, missing: [...found.missing, ...sized.missing] }
  }

  private async bring(pin: Pin, state: PinProgress, found: Found): Promise<boolean> {
    const { chosen, tooMany } = found
    const here = await this.fetcher.present(chosen)
    state.found([...chosen, ...tooMany], here)
    const wanted = chosen.filter(one => !here.has(one))
    if (wanted.length > 0 && this.lock === undefined) {
      state.stopped('waiting', 'another mount of this account fetches it')
      return false
    }
    if (wanted.length > 0) state.stopped('fetching')
    const kept = (one: SizedContent): void => state.kept(one)
    const unfetched = await this.fetcher.fetch(wanted, kept, () => {
      if (this.isTakenBack(pin)) throw takenBack
    })
    const reasons = [found.because, missingSentence([...found.missing, ...unfetched])]
    const because = reasons.filter(reason => reason !== undefined).join('; ')
    if (because === '') state.stopped('whole')
    else state.stopped('incomplete', because)
    return unfetched.length === 0
  }

  /** The finds of an earlier process count until this one has looked; of files that are missing the sizes are not known. */
  private reportOf(pin: Pin): PinLine {
    const { content } = this.parts
    const { path, target, since } = pin
    const { isFound, ...progress } = this.progressOf(pin.key)
    const report = { path, kind: target.kind, id: idOf(target), since: isoText(since), ...progress }
    if (isFound) return report
    const names = [...this.members.contents(pin.key)]
    const { files: filesKept, bytes } = content.kept(names)
    const amounts = { files: names.length, filesKept, bytes, bytesKept: bytes }
    if (this.isStarted) return { ...report, ...amounts }
    return filesKept === names.length && filesKept > 0
      ? { ...report, ...amounts, state: 'whole' }
      : { ...report, ...amounts, state: 'waiting', because: unmounted }
  }

  private progressOf(key: string): PinProgress {
    const known = this.progress.get(key)
    if (known !== undefined) return known
    const fresh = new PinProgress()
    this.progress.set(key, fresh)
    return fresh
  }

  private isTakenBack({ key }: Pin): boolean {
    return this.isClosed || !this.members.has(key)
  }
}

function idOf(target: Pin['target']): string | undefined {
  if (target.kind === 'content') return target.content.calculation
  return target.kind === 'top' ? undefined : target.id
}

/** Why there is no lock was told to the pin that waited for it. */
function alreadyTold(): undefined {}

const unmounted = 'no drive is mounted; it goes on once one is, or with `calcfs pin`'
const takenBack = new Failure('timeout', 'the pin was taken back')

const signature = (pins: readonly Pin[]): string => pins.map(({ key, since }) => `${key} ${since}`).join('\n')

function missingSentence(missing: readonly MissingPart[]): string | undefined {
  const [first] = missing
  if (first === undefined) return undefined
  const others = missing.length === 1 ? '' : ` and ${missing.length - 1} more`
  return `${first.path}${others} cannot be had: ${first.failure.message}`
}
