// Pins: subtrees that are kept whole on this disk and never evicted, looked after at once, after a changed listing, and at an interval.

import type { LimitFunction } from 'p-limit'
import type { ContentCache } from '../../cache/content/content.js'
import { asFailure, Failure, isA, isAbsent } from '../../failure.js'
import { type Clock, dueIn, every } from '../../remote/clock.js'
import type { Instant, RequestContext } from '../../remote/remote.js'
import { isoText } from '../../system/time-text.js'
import type { PinLine } from '../interface/control.js'
import { nodeKey } from '../nodes/node.js'
import { PinFetch, type SizedContent } from './pin-fetch.js'
import { type Pin, type PinMembers, type PinStore, type PinTarget, thingOf } from './pin-store.js'
import { PinSurvey } from './pin-survey.js'
import type { KnownParts, MissingPart } from './subtree.js'

export interface PinsParts extends KnownParts {
  readonly store: PinStore
  readonly content: ContentCache
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
  /** Names of contents that stay from before, while a part of the pin cannot be had. */
  readonly earlier: readonly string[]
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

  /** @param since when the pin was set: one that was set again is another one */
  constructor(readonly since: Instant | undefined) {}

  kept({ bytes }: Pick<SizedContent, 'bytes'>): void {
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
  readonly store: PinStore
  private readonly fetcher: PinFetch
  private readonly survey: PinSurvey
  private readonly progress = new Map<string, PinProgress>()
  /** The pins that are looked after now, those that are due again, and how often each has failed in a row. */
  private readonly busy = new Set<string>()
  private readonly due = new Set<string>()
  private readonly failures = new Map<string, number>()
  private readonly ends: (() => void)[] = []
  private isStarted = false
  private isClosed = false
  private turn: Promise<(() => void) | undefined> | undefined

  constructor(private readonly parts: PinsParts) {
    this.store = parts.store
    this.fetcher = new PinFetch(parts)
    const context = (): RequestContext => dueIn(parts.patience, parts.clock, 'guess')
    this.survey = new PinSurvey({ ...parts, context })
  }

  /** Begins to fetch what is pinned, and comes back to it as long as the drive lives. */
  start(): void {
    if (this.isStarted) return
    this.isStarted = true
    const { clock, interval } = this.parts
    this.ends.push(every(clock, watchEveryMs, () => this.tendNew()))
    this.ends.push(every(clock, interval, () => this.tendAll()))
    this.tendAll()
  }

  /** It is on disk when this returns; what it needs is fetched in the background. */
  pin(path: string, target: PinTarget): PinLine {
    this.start()
    const key = nodeKey(target)
    const known = this.store.find(key)
    const pin = known ?? { key, path, target, since: this.parts.clock.now() }
    if (known === undefined) this.store.set(pin)
    if (!this.busy.has(key)) this.progressOf(key).stopped('looking')
    this.failures.delete(key)
    this.tend(pin)
    return this.reportOf(pin)
  }

  /** Contents kept for it alone may go from now on. Undefined where there is no such pin. */
  unpin(key: string): PinLine | undefined {
    const pin = this.store.find(key)
    if (pin === undefined) return undefined
    const report = this.reportOf(pin)
    this.store.remove(key)
    this.progress.delete(key)
    return report
  }

  reports(): readonly PinLine[] {
    return this.store.list().map(pin => this.reportOf(pin))
  }

  /** A listing of something is another one now; of all, where no key is given. */
  changed(namespace: string | undefined, key: string | undefined): void {
    if (!this.isStarted || this.isClosed) return
    if (namespace === undefined || key === undefined) {
      for (const pin of this.store.list()) this.soon(pin)
      return
    }
    // Only the record of a report lists something.
    const lists =
      namespace === 'record' ? thingOf({ namespace, key }).kind === 'report' : namespace === 'listing'
    if (lists) for (const one of this.store.keysOf({ namespace, key })) this.soon({ key: one })
  }

  /** A content of this name is on this disk no more. */
  dropped(name: string): void {
    if (!this.isStarted || this.isClosed) return
    for (const key of this.store.keepersOf(name)) {
      this.progressOf(key).stopped('looking')
      this.soon({ key })
    }
  }

  /** Nothing more is fetched. What is under way finds out by itself; the connections end soon. */
  async close(): Promise<void> {
    this.isClosed = true
    for (const end of this.ends) end()
    const giveBack = await this.turn?.catch(alreadyTold)
    giveBack?.()
  }

  // When a pin is looked after.

  /** Those that another mount has pinned, or unpinned and pinned again. */
  private tendNew(): void {
    for (const [key, { since }] of this.progress)
      if (this.store.find(key)?.since !== since) this.progress.delete(key)
    this.tendAll(({ key }) => !this.progress.has(key))
  }

  private tendAll(isMeant: (pin: Pin) => boolean = () => true): void {
    for (const pin of this.store.list()) if (isMeant(pin)) this.tend(pin)
  }

  private tend({ key }: Pick<Pin, 'key'>): void {
    const pin = this.store.find(key)
    if (pin === undefined || this.isClosed) return
    if (this.busy.has(key)) return void this.due.add(key)
    this.due.delete(key)
    this.busy.add(key)
    void this.lookAfter(pin).then(again => {
      this.busy.delete(key)
      if (this.due.delete(key)) this.soon(pin)
      else if (again !== undefined) this.tendIn(pin, again)
    })
  }

  /** In a moment: a change seldom comes alone. */
  private soon(pin: Pick<Pin, 'key'>): void {
    if (this.due.has(pin.key)) return
    this.due.add(pin.key)
    if (!this.busy.has(pin.key)) this.tendIn(pin, soonMs)
  }

  private tendIn(pin: Pick<Pin, 'key'>, milliseconds: number): void {
    this.parts.clock.after(milliseconds, () => this.tend(pin), 'in-background')
  }

  // The work for a pin.

  /** Answers the milliseconds until it is tried again; undefined where that is for the interval. */
  private async lookAfter(pin: Pin): Promise<number | undefined> {
    const state = this.progressOf(pin.key)
    try {
      const mayFetch = await this.hasTurn()
      const found = await this.lookedUp(pin)
      const isDone = await this.bring(pin, found, mayFetch)
      if (this.due.has(pin.key) && state.state === 'whole') state.stopped('looking')
      return isDone ? this.done(pin) : this.failed(pin)
    } catch (thrown) {
      return this.stoppedBy(asFailure(thrown), pin, state)
    }
  }

  /** One process fetches, until it ends. */
  private async hasTurn(): Promise<boolean> {
    this.turn ??= this.parts.takeTurn()
    const giveBack = await this.turn.catch((thrown: unknown) => {
      this.turn = undefined
      throw thrown
    })
    if (giveBack === undefined) this.turn = undefined
    return giveBack !== undefined
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
      this.store.setMembers(pin.key)
      Object.assign(state, { isFound: true, files: 0, filesKept: 0, bytes: 0, bytesKept: 0 })
      state.stopped('gone', failure.message)
      return this.done(pin)
    }
    const isPassing = isA('outage', failure)
    state.stopped(isPassing ? 'waiting' : 'incomplete', failure.message)
    if (isPassing) return Math.min(this.failed(pin), 6 * watchEveryMs)
    this.parts.log('a pin could not be fetched', { path: pin.path, error: failure.message })
    return this.failed(pin)
  }

  /** Its members are kept from now on; those that are gone, or do not fit, may go, once all of it can be looked at. */
  private async lookedUp(pin: Pin): Promise<Found> {
    const { content } = this.parts
    const found = await this.survey.look(pin)
    const sized = await this.fetcher.sizes(found.contents)
    if (this.isTakenBack(pin)) throw takenBack
    const { bytes, ...fitting } = this.store.fit(pin.key, sized.contents)
    const missing = [...found.missing, ...sized.missing]
    const contents = new Set(fitting.chosen.map(one => content.nameOf(one.content)))
    const before = this.store.members(pin.key)
    const earlier = missing.length === 0 ? [] : [...before.contents].filter(name => !contents.has(name))
    const now = { ...found, contents, bytes }
    this.store.setMembers(pin.key, missing.length === 0 ? now : united(now, before))
    return { ...fitting, earlier, missing }
  }

  private async bring(pin: Pin, found: Found, mayFetch: boolean): Promise<boolean> {
    const { chosen, tooMany, earlier } = found
    const state = this.progressOf(pin.key)
    const here = await this.fetcher.present(chosen)
    const { files: filesKept, bytes: bytesKept } = this.parts.content.kept(earlier)
    const all = [...chosen, ...tooMany]
    const bytes = all.reduce((sum, one) => sum + one.bytes, bytesKept)
    Object.assign(state, { isFound: true, files: all.length + earlier.length, filesKept, bytes, bytesKept })
    for (const one of here) state.kept(one)
    const wanted = chosen.filter(one => !here.has(one))
    if (wanted.length > 0 && !mayFetch) {
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
    const { path, target, since } = pin
    const { isFound, ...progress } = this.progress.get(pin.key) ?? new PinProgress(since)
    const report = { path, kind: target.kind, id: idOf(target), ...progress, since: isoText(since) }
    if (isFound) return report
    const names = [...this.store.members(pin.key).contents]
    const { files: filesKept, bytes } = this.parts.content.kept(names)
    const amounts = { files: names.length, filesKept, bytes, bytesKept: bytes }
    if (this.isStarted) return { ...report, ...amounts }
    return filesKept === names.length && filesKept > 0
      ? { ...report, ...amounts, state: 'whole' }
      : { ...report, ...amounts, state: 'waiting', because: unmounted }
  }

  private progressOf(key: string): PinProgress {
    const known = this.progress.get(key) ?? new PinProgress(this.store.find(key)?.since)
    this.progress.set(key, known)
    return known
  }

  private isTakenBack({ key }: Pin): boolean {
    return this.isClosed || this.store.find(key) === undefined
  }
}

/** While a part cannot be had, nothing that belonged to the pin is let go. */
const united = (one: PinMembers, other: PinMembers): PinMembers => ({
  contents: new Set([...one.contents, ...other.contents]),
  projects: new Set([...one.projects, ...other.projects]),
  calculations: new Set([...one.calculations, ...other.calculations]),
  reports: new Set([...one.reports, ...other.reports]),
  above: new Set([...one.above, ...other.above]),
  bytes: Math.max(one.bytes, other.bytes),
})

function idOf(target: Pin['target']): string | undefined {
  if (target.kind === 'content') return target.content.calculation
  return target.kind === 'top' ? undefined : target.id
}

/** Why there is no lock was told to the pin that waited for it. */
function alreadyTold(): undefined {}

const unmounted = 'no drive is mounted; it goes on once one is, or with `calcfs pin`'
const takenBack = new Failure('timeout', 'the pin was taken back')

function missingSentence(missing: readonly MissingPart[]): string | undefined {
  const [first] = missing
  if (first === undefined) return undefined
  const others = missing.length === 1 ? '' : ` and ${missing.length - 1} more`
  return `${first.path}${others} cannot be had: ${first.failure.message}`
}
