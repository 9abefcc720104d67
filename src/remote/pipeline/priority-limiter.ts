// Concurrency slots by priority: users before background, shares for metadata and for contents, silent requests yield.
import { Failure } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import { noop } from '../../noop.js'
import { type Clock, withDeadline } from '../clock.js'
import { type ArrivingBody, isNearlyThrough } from '../nearly-through.js'
import type { RequestContext } from '../remote.js'
import { openAdaptiveConcurrency } from './adaptive-concurrency.js'
import { headTimes } from './silence.js'
import { censusOf } from './slot-census.js'

/** A short answer, or a body that may hold its connection for minutes. */
export type TrafficClass = 'question' | 'download'

/** A request that wants a slot. */
export interface SlotRequest {
  readonly weight: TrafficClass
  /** True where it may be cancelled for others at any time: sending it again does no harm. */
  readonly repeatable: boolean
  /** How often it was cancelled for others before. */
  readonly yields: number
  /** Cancels it, because its connection is needed. */
  readonly preempt: (reason: Failure) => void
}

/** A concurrency slot, until it is released. */
export interface HeldSlot {
  leave(): void
  /** The request is sent now: from now on its silence counts. */
  sent(): void
  /** The head of the answer came after so many milliseconds; a body of `bytes` is to follow. */
  answered(milliseconds: number, bytes: number): void
  /** So many bytes of its body have come. */
  moved(bytes: number): void
  /** The service is overloaded: the limit shrinks. This answer is no measure of the service's speed. */
  pushedBack(): void
}

export interface PriorityLimiter {
  /** A slot, which must be released; at once where one is free. @throws Failure 'timeout' if the deadline comes first */
  enter(entrant: SlotRequest, context: RequestContext): MaybePromise<HeldSlot>
  /** How many background requests may be in flight now. */
  readonly guesses: number
  /** Milliseconds after which a silent request is unusually slow. */
  readonly unusual: number
  /** Milliseconds that the quicker answers take. */
  readonly usual: number
}

/**
 * waiting: in the queue. active: counts against the limit. quiet: still on its connection, but without a head for
 * unusually long, or with a long body; it counts only against the connections.
 */
type SlotState = 'waiting' | 'active' | 'quiet' | 'gone'

interface Slot {
  readonly entrant: SlotRequest
  readonly since: number
  /** Called when it leaves the queue. */
  go: () => void
  background: boolean
  /** Cancelled for others before, and not joined by a new caller since: only a few of these at a time go ahead of others. */
  yielded: boolean
  state: SlotState
  hasHead: boolean
  /** How far its body is, since its head came. */
  arriving: ArrivingBody | undefined
  /** Bytes of its body since `countedSince`, and whether the second before brought hardly any. */
  bytes: number
  countedSince: number
  slow: boolean
  /** When it went out, and how many that went out later were answered since. */
  sentAt: number
  overtaken: number
  unwatch: () => void
  endPatience: () => void
}

/** Milliseconds after its head in which a body is expected to be through; a longer one is bound by bandwidth, not by slots. */
const longBodyMs = 1_000
/** A body with less than 16 KiB in a second keeps its connection only while no other request needs it. */
const rateWindowMs = 1_000
const slowBytesPerMs = 16
/** So many requests that were sent later were answered: this one is an exception. */
const overtakenOften = 8
/** Milliseconds after which one is enough. */
const longSilenceMs = 1_000
/** Milliseconds without any answer after which it counts as little that nothing was overtaken. */
const standstillMs = 200
/** Milliseconds: a queue with longer waits is served newest first, so that new requests still meet their deadlines. */
const standingMs = 100

/** The slots of a pool of at most so many connections (at least 1). */
export function openPriorityLimiter(connections: number, clock: Clock): PriorityLimiter {
  const speed = openAdaptiveConcurrency(connections, clock, admit)
  const heads = headTimes()
  /** In order of arrival. */
  const queue = new Set<Slot>()
  const open = new Set<Slot>()
  let lastHead = clock.now()
  let looksAgain = false
  /** Connections reserved for requests that are answered. */
  const kept = connections < 4 ? 0 : Math.ceil(connections / 4)
  /** Long bodies leave connections to metadata requests. */
  const mostDownloads = Math.max(1, connections - Math.max(1, kept))

  const share = (): number => Math.ceil(speed.width / 8)
  const guessWidth = (): number => Math.max(1, speed.width - share())

  /** Whether the limit leaves a slot for it. A user's request does not wait for background ones. */
  function hasSlot({ background, yielded, entrant: { weight } }: Slot): boolean {
    const { width } = speed
    const taken = censusOf(open, weight)
    if (!background) {
      if (yielded && taken.yielded >= Math.max(1, width >> 2)) return false
      return taken.users < width && taken.usersOfKind < Math.max(1, width - share())
    }
    if (taken.all >= guessWidth()) return false
    return weight === 'question' || taken.ofKind < Math.max(1, width - 2 * share())
  }

  /** Whether a connection is free for it, or can be taken from another request. */
  function hasConnection(slot: Slot): boolean {
    const isDownload = slot.entrant.weight === 'download'
    const tooManyDownloads = isDownload && openDownloads() >= mostDownloads
    const isPatient = slot.background || slot.yielded
    const isFree = open.size < (isPatient ? Math.max(1, connections - kept) : connections)
    if (isFree && !tooManyDownloads) return true
    if (slot.background) return false
    const victim = victimFor(slot, tooManyDownloads)
    if (victim === undefined) return false
    yieldNow(victim)
    return true
  }

  function openDownloads(): number {
    let count = 0
    for (const { entrant } of open) if (entrant.weight === 'download') count += 1
    return count
  }

  /**
   * Which request yields its connection: a background one; else a silent one, first those beyond the number of connections.
   * Never one that is being answered and that a user waits for, never a write.
   */
  function victimFor(wanted: Slot | undefined, downloadsOnly: boolean): Slot | undefined {
    const wantsDownload = wanted?.entrant.weight === 'download'
    const staying = new Set(kept === 0 ? [] : silentSlots().slice(0, connections - kept))
    let chosen: Slot | undefined
    for (const slot of open) {
      if (!slot.entrant.repeatable || slot === wanted) continue
      if (downloadsOnly && slot.entrant.weight !== 'download') continue
      const isLost = isSilent(slot) && isProbablyLost(slot, staying.has(slot))
      const isOfUse =
        slot.background && !isNearlyThrough(slot.arriving, { now: clock.now(), roundTrip: heads.usual })
      const mayGo = (wanted !== undefined && isOfUse) || isLost || (wantsDownload && isSlow(slot))
      if (mayGo && (chosen === undefined || rank(slot, staying) < rank(chosen, staying))) chosen = slot
    }
    return chosen
  }

  /**
   * On a service that is only slow, later requests are answered later, too. To cancel and resend a request that would be
   * answered would only make the service slower.
   */
  function isProbablyLost(slot: Slot, mayStay: boolean): boolean {
    if (slot.overtaken >= overtakenOften) return true
    const silence = clock.now() - slot.sentAt
    if (mayStay) return slot.overtaken > 0 && silence > longSilenceMs
    return slot.overtaken > 0 || clock.now() - lastHead > standstillMs
  }

  const isSilent = (slot: Slot): boolean => slot.state === 'quiet' && !slot.hasHead

  /** The longest silent first. */
  const silentSlots = (): readonly Slot[] =>
    [...open].filter(isSilent).sort((one, other) => one.sentAt - other.sentAt)

  /** Lower goes first. */
  function rank(slot: Slot, staying: ReadonlySet<Slot>): number {
    if (slot.background) return (isSilent(slot) ? 0 : 1) * 1e15 + slot.sentAt
    return (staying.has(slot) ? 3 : 2) * 1e15 + slot.sentAt
  }

  function yieldNow(slot: Slot): void {
    close(slot)
    slot.entrant.preempt(new Failure('busy', 'it was silent, and its connection was needed for others'))
  }

  function count(slot: Slot, bytes: number): void {
    slot.bytes += bytes
    if (slot.arriving !== undefined) slot.arriving.came += bytes
    const elapsed = clock.now() - slot.countedSince
    if (elapsed < rateWindowMs) return
    slot.slow = slot.bytes / elapsed < slowBytesPerMs
    slot.bytes = 0
    slot.countedSince = clock.now()
  }

  /** A body that brings hardly anything: its download can resume from where it was. */
  function isSlow(slot: Slot): boolean {
    if (!slot.hasHead || slot.state !== 'quiet') return false
    const elapsed = clock.now() - slot.countedSince
    return elapsed < rateWindowMs ? slot.slow : slot.bytes / elapsed < slowBytesPerMs
  }

  function close(slot: Slot): void {
    if (slot.state === 'gone') return
    slot.state = 'gone'
    slot.unwatch()
    slot.endPatience()
    queue.delete(slot)
    open.delete(slot)
  }

  function takeSlot(slot: Slot): void {
    slot.state = 'active'
    open.add(slot)
    speed.began(censusOf(open).all - 1)
  }

  function admit(): void {
    if (queue.size === 0) return
    for (let next = candidate(); next !== undefined; next = candidate()) {
      queue.delete(next)
      takeSlot(next)
      next.go()
    }
    if (queue.size === 0 || looksAgain) return
    // Whether a silent request is lost is also a matter of time.
    looksAgain = true
    clock.after(standstillMs, () => {
      looksAgain = false
      admit()
    })
  }

  /** The next that may go: users before background, what was never tried before what was silent. */
  function candidate(): Slot | undefined {
    const [only] = queue.size === 1 ? queue : []
    if (only !== undefined) return hasSlot(only) && hasConnection(only) ? only : undefined
    const refused = new Set<string>()
    for (const slot of inOrder()) {
      const { background, entrant, yielded } = slot
      const kind = `${background} ${entrant.weight} ${yielded}`
      if (refused.has(kind)) continue
      if (hasSlot(slot) && hasConnection(slot)) return slot
      refused.add(kind)
    }
    return undefined
  }

  function inOrder(): readonly Slot[] {
    if (queue.size < 2) return [...queue]
    const all = [...queue]
    const fresh = all.filter(slot => !slot.background && !slot.yielded)
    if (isStanding(fresh)) fresh.reverse()
    return [
      // Only a few are in flight at a time, so they delay nothing; and a wrongly cancelled one does not wait for all others.
      ...all.filter(slot => !slot.background && slot.yielded).sort(byYields),
      ...fresh,
      ...all.filter(slot => slot.background),
    ]
  }

  /** A wait longer than a moment means overload: the newest request is then served in time. */
  const isStanding = ([first]: readonly Slot[]): boolean =>
    first !== undefined && !first.background && clock.now() - first.since > standingMs

  function silentStill(slot: Slot): void {
    if (!slot.hasHead) becomeQuiet(slot)
  }

  function becomeQuiet(slot: Slot): void {
    if (slot.state !== 'active') return
    slot.state = 'quiet'
    const isCrowded = kept > 0 && silentSlots().length > connections - kept
    const victim = isCrowded ? victimFor(undefined, false) : undefined
    if (victim !== undefined) yieldNow(victim)
    admit()
  }

  function enter(entrant: SlotRequest, context: RequestContext): MaybePromise<HeldSlot> {
    const own: Slot = {
      entrant,
      since: clock.now(),
      go: noop,
      background: isBackground(context),
      yielded: entrant.yields > 0,
      state: 'waiting',
      hasHead: false,
      arriving: undefined,
      bytes: 0,
      countedSince: 0,
      slow: false,
      sentAt: 0,
      overtaken: 0,
      unwatch: noop,
      endPatience: noop,
    }
    own.unwatch =
      context.askers?.watch(what => {
        own.background = isBackground(context)
        if (what === 'came') own.yielded = false
        admit()
      }) ?? noop
    if (context.holdsSlot === true) takeSlot(own)
    else queue.add(own)
    admit()
    return own.state === 'waiting' ? waited(own, context) : turnOf(own)
  }

  async function waited(slot: Slot, context: RequestContext): Promise<HeldSlot> {
    const admitted = new Promise<void>(go => {
      slot.go = go
    })
    try {
      await withDeadline(
        admitted,
        context,
        clock,
        'every connection to the service was busy until the deadline',
      )
    } catch (late) {
      close(slot)
      throw late
    }
    return turnOf(slot)
  }

  function turnOf(slot: Slot): HeldSlot {
    const startedAt = clock.now()
    let refused = false
    return {
      leave() {
        if (slot.state === 'gone') return
        close(slot)
        admit()
      },
      sent() {
        slot.endPatience()
        // Data that arrived while this process was busy is read first.
        slot.sentAt = clock.now()
        const patience = heads.unusual * 4 ** slot.entrant.yields
        slot.endPatience = clock.after(patience, () => setImmediate(() => silentStill(slot)))
      },
      answered(milliseconds, bytes) {
        heads.note(milliseconds)
        lastHead = clock.now()
        for (const other of open) if (!other.hasHead && other.sentAt < slot.sentAt) other.overtaken += 1
        if (slot.state === 'active' && !refused) speed.answered(milliseconds, bytes)
        slot.hasHead = true
        slot.arriving = { headAt: clock.now(), stated: bytes, came: 0 }
        slot.countedSince = clock.now()
        slot.endPatience()
        if (slot.state === 'active' && !slot.background)
          slot.endPatience = clock.after(longBodyMs, () => becomeQuiet(slot))
      },
      moved: bytes => count(slot, bytes),
      pushedBack() {
        refused = true
        speed.pushedBack(startedAt)
      },
    }
  }

  return {
    enter,
    get guesses() {
      return Math.max(1, Math.min(guessWidth(), connections))
    },
    get unusual() {
      return heads.unusual
    },
    get usual() {
      return heads.usual
    },
  }
}

/** Whether no user waits for it at the moment. */
export const isBackground = (context: RequestContext): boolean =>
  context.askers === undefined ? context.priority === 'guess' : !context.askers.waiting

const byYields = (one: Slot, other: Slot): number =>
  one.entrant.yields - other.entrant.yields || other.since - one.since
