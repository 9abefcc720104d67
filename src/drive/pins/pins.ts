// Pins: subtrees that are kept whole on this disk and never evicted, looked after at once, after a changed listing, and at an interval.
import type { ContentCache } from '../../cache/content/content.js'
import { asFailure, Failure, isA, isAbsent } from '../../failure.js'
import { every } from '../../remote/clock.js'
import type { Instant } from '../../remote/remote.js'
import { isoText } from '../../system/time-text.js'
import type { PinLine } from '../interface/control.js'
import type { TreeProblem } from '../interface/reader.js'
import { nodeId, nodeKey } from '../nodes/node.js'
import { PinFetch, type SizedContent } from './pin-fetch.js'
import type { Pin, PinStore } from './pin-store.js'
import { PinSurvey, type PinSurveyParts, type PinTarget } from './subtree.js'

export interface PinsParts extends PinSurveyParts {
  readonly pinStore: PinStore
  readonly content: ContentCache
  /** Milliseconds between two questions for the listings of what is pinned. */
  readonly interval: number
  /** Makes this process the one that fetches, if no other one is; the function gives that back. */
  readonly takeTurn: () => Promise<(() => void) | undefined>
  readonly log: (sentence: string, about?: Record<string, unknown>) => void
}

interface Amounts {
  readonly files: number
  filesKept: number
  readonly bytes: number
  bytesKept: number
}

/** The work for one pin: how much of it is here, as far as this process knows, and why not all of it. */
class Tended {
  state: PinLine['state'] = 'looking'
  because: string | undefined
  /** Undefined until its files are known. */
  amounts: Amounts | undefined
  /** It is looked after now, or is in a moment; a change that comes meanwhile is followed afterwards. */
  isBusy = false
  isDue = false
  failures = 0
  callOff: (() => void) | undefined

  /** @param since when the pin was set: one that was set again is another one */
  constructor(readonly since: Instant) {}

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
  private readonly tended = new Map<string, Tended>()
  private endWatch: (() => void) | undefined
  private isClosed = false
  private turn: Promise<(() => void) | undefined> | undefined

  constructor(private readonly parts: PinsParts) {
    this.store = parts.pinStore
    this.fetcher = new PinFetch(parts)
    this.survey = new PinSurvey(parts)
  }

  /** Begins to fetch what is pinned, and comes back to it as long as the drive lives. */
  start(): void {
    if (this.endWatch !== undefined) return
    this.endWatch = every(this.parts.clock, watchEveryMs, () => this.tendNew())
    this.tendNew()
  }

  /** It is on disk when this returns; what it needs is fetched in the background. */
  pin(path: string, target: PinTarget): PinLine {
    this.start()
    const key = nodeKey(target)
    const known = this.store.find(key)
    const pin = known ?? { key, path, target, since: this.parts.clock.now() }
    if (known === undefined) this.store.set(pin)
    const one = this.tendedOf(pin)
    if (!one.isBusy) one.stopped('looking')
    one.failures = 0
    this.tend(key)
    return this.reportOf(pin)
  }

  /** Contents kept for it alone may go from now on. Undefined where there is no such pin. */
  unpin(key: string): PinLine | undefined {
    const pin = this.store.find(key)
    if (pin === undefined) return undefined
    const report = this.reportOf(pin)
    this.store.remove(key)
    this.tended.delete(key)
    return report
  }

  reports(): readonly PinLine[] {
    return this.store.list().map(pin => this.reportOf(pin))
  }

  /** A listing of something is another one now; of all, where no key is given. */
  changed(namespace: string | undefined, key: string | undefined): void {
    if (this.endWatch === undefined) return
    // Only the record of a report lists something.
    const isList = namespace === 'listing' || (namespace === 'record' && key?.startsWith('report '))
    if (namespace === undefined || key === undefined) for (const pin of this.store.list()) this.soon(pin)
    else if (isList) for (const pin of this.store.pinsOf({ namespace, key })) this.soon(pin)
  }

  dropped(name: string): void {
    if (this.endWatch === undefined) return
    for (const pin of this.store.keepersOf(name)) {
      this.tendedOf(pin).stopped('looking')
      this.soon(pin)
    }
  }

  /** Nothing more is fetched. What is under way finds out by itself; the connections end soon. */
  async close(): Promise<void> {
    this.isClosed = true
    this.endWatch?.()
    // Why there is no lock was told to the pin that waited for it.
    const giveBack = await this.turn?.catch(() => undefined)
    giveBack?.()
  }

  // When a pin is looked after.

  /** Those that another mount has pinned, or unpinned and pinned again. */
  private tendNew(): void {
    for (const [key, { since }] of this.tended)
      if (this.store.find(key)?.since !== since) this.tended.delete(key)
    for (const { key } of this.store.list()) if (!this.tended.has(key)) this.tend(key)
  }

  private tend(key: string): void {
    const pin = this.store.find(key)
    if (pin === undefined || this.isClosed) return
    const one = this.tendedOf(pin)
    one.isDue = one.isBusy
    if (one.isBusy) return
    one.isBusy = true
    void this.lookAfter(pin, one).then(next => {
      // It was unpinned meanwhile.
      if (this.tended.get(key) !== one) return
      one.isBusy = false
      this.tendIn(one, key, one.isDue ? soonMs : next)
    })
  }

  /** In a moment: a change seldom comes alone. */
  private soon(pin: Pin): void {
    const one = this.tendedOf(pin)
    if (!one.isDue && !one.isBusy) this.tendIn(one, pin.key, soonMs)
    one.isDue = true
  }

  private tendIn(one: Tended, key: string, milliseconds: number): void {
    one.callOff?.()
    one.callOff = this.parts.clock.after(milliseconds, () => this.tend(key), 'in-background')
  }

  // The work for a pin.

  /** Answers the milliseconds until it is looked after again. */
  private async lookAfter(pin: Pin, one: Tended): Promise<number> {
    try {
      const isDone = await this.round(pin, one)
      if (one.isDue && one.state === 'whole') one.stopped('looking')
      return isDone ? this.done(one) : this.failed(one)
    } catch (thrown) {
      return this.stoppedBy(asFailure(thrown), pin, one)
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

  private done(one: Tended): number {
    one.failures = 0
    return this.parts.interval
  }

  private failed(one: Tended): number {
    one.failures += 1
    return Math.min(retryMs * 2 ** one.failures, this.parts.interval)
  }

  private stoppedBy(failure: Failure, pin: Pin, one: Tended): number {
    if (this.isTakenBack(pin)) return this.parts.interval
    if (isAbsent(failure)) {
      this.store.setMembers(pin.key)
      one.amounts = { files: 0, filesKept: 0, bytes: 0, bytesKept: 0 }
      one.stopped('gone', failure.message)
      return this.done(one)
    }
    const isPassing = isA('outage', failure)
    one.stopped(isPassing ? 'waiting' : 'incomplete', failure.message)
    if (isPassing) return Math.min(this.failed(one), 6 * watchEveryMs)
    this.parts.log('a pin could not be fetched', { path: pin.path, error: failure.message })
    return this.failed(one)
  }

  /**
   * Looks at all of it and fetches the rest; false where some of it is to be tried again. Its members are kept from the look
   * on; those that are gone, or do not fit, may go, once all of it can be looked at.
   */
  private async round(pin: Pin, one: Tended): Promise<boolean> {
    const mayFetch = await this.hasTurn()
    const { above, ...found } = await this.survey.look(pin)
    const sized = await this.fetcher.sizes(found.contents)
    const goOn = (): void => {
      if (this.isTakenBack(pin)) throw takenBack
    }
    goOn()
    const fitting = this.store.fit(pin.key, sized.contents)
    const { chosen, tooMany } = fitting
    const missing = [...found.missing, ...sized.missing]
    const before = missing.length === 0 ? undefined : this.store.members(pin.key)
    const names = new Set(chosen.map(({ name }) => name))
    const earlier = [...(before?.contents ?? [])].filter(name => !names.has(name))
    this.store.setMembers(pin.key, {
      contents: new Set([...names, ...earlier]),
      things: new Set([...found.things, ...(before?.things ?? [])]),
      above: new Set([...above, ...(before?.above ?? [])]),
      bytes: Math.max(fitting.bytes, before?.bytes ?? 0),
    })
    const here = await this.fetcher.present(chosen)
    const { files: filesKept, bytes: bytesKept } = this.parts.content.kept(earlier)
    const files = chosen.length + tooMany.length + earlier.length
    const bytes = [...chosen, ...tooMany].reduce((sum, part) => sum + part.bytes, bytesKept)
    const amounts: Amounts = { files, filesKept, bytes, bytesKept }
    const kept = (part: SizedContent): void => {
      amounts.filesKept += 1
      amounts.bytesKept += part.bytes
    }
    for (const part of here) kept(part)
    one.amounts = amounts
    const wanted = chosen.filter(part => !here.has(part))
    if (wanted.length > 0 && !mayFetch) {
      one.stopped('waiting', 'another mount of this account fetches it')
      return false
    }
    if (wanted.length > 0) one.stopped('fetching')
    const unfetched = await this.fetcher.fetch(wanted, kept, goOn)
    const reasons = [fitting.because, missingSentence([...missing, ...unfetched])]
    const because = reasons.filter(reason => reason !== undefined).join('; ')
    if (because === '') one.stopped('whole')
    else one.stopped('incomplete', because)
    return unfetched.length === 0
  }

  /** The finds of an earlier process count until this one has looked; of files that are missing the sizes are not known. */
  private reportOf(pin: Pin): PinLine {
    const { path, target, since } = pin
    const { state, because, amounts } = this.tended.get(pin.key) ?? new Tended(since)
    const report = { path, kind: target.kind, id: nodeId(target), state, because, since: isoText(since) }
    if (amounts !== undefined) return { ...report, ...amounts }
    const names = [...this.store.members(pin.key).contents]
    const { files: filesKept, bytes } = this.parts.content.kept(names)
    const found = { ...report, files: names.length, filesKept, bytes, bytesKept: bytes }
    if (this.endWatch !== undefined) return found
    return filesKept === names.length && filesKept > 0
      ? { ...found, state: 'whole' }
      : { ...found, state: 'waiting', because: unmounted }
  }

  private tendedOf({ key, since }: Pin): Tended {
    const known = this.tended.get(key) ?? new Tended(since)
    this.tended.set(key, known)
    return known
  }

  private isTakenBack({ key, since }: Pin): boolean {
    return this.isClosed || this.store.find(key)?.since !== since
  }
}

const unmounted = 'no drive is mounted; it goes on once one is, or with `calcfs pin`'
const takenBack = new Failure('timeout', 'the pin was taken back')

function missingSentence(missing: readonly TreeProblem[]): string | undefined {
  const [first] = missing
  if (first === undefined) return undefined
  const others = missing.length === 1 ? '' : ` and ${missing.length - 1} more`
  return `${first.path}${others} cannot be had: ${first.failure.message}`
}
