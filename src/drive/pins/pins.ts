// Pins: subtrees that are kept whole on this disk and never evicted, fetched in the background and kept up with the service.
import type { ContentCache } from '../../cache/content/content-cache.js'
import type { Health } from '../../cache/health.js'
import { asFailure, Failure, isA, isAbsent } from '../../failure.js'
import { noop } from '../../noop.js'
import { type Clock, dueIn, every } from '../../remote/clock.js'
import type { RequestContext } from '../../remote/remote.js'
import { type Node, nodeKey } from '../nodes/node.js'
import { openPinFetch, type SizedContent } from './pin-fetch.js'
import { openPinMembers, type PinQuestion, thingOf } from './pin-members.js'
import { PinProgress, type PinReport } from './pin-progress.js'
import { openPinRoom } from './pin-room.js'
import { openPinSchedule, type Retry } from './pin-schedule.js'
import type { Pin, PinStore, PinTarget } from './pin-store.js'
import type { PinSurvey, SurveyDepth } from './pin-survey.js'
import type { PinTurns } from './pin-turns.js'
import type { MissingPart } from './subtree.js'

export interface Pins {
  /** Begins to fetch what is pinned, and comes back to it as long as the drive lives. */
  start(): void
  /** It is on disk when this returns; what it needs is fetched in the background. */
  pin(path: string, target: PinTarget): PinReport
  /** What was kept for it alone may go from now on. Undefined where there is no such pin. */
  unpin(key: string): PinReport | undefined
  reports(): readonly PinReport[]
  list(): readonly Pin[]
  /** The pin that keeps this, if one does. */
  coverOf(node: Node): Pin | undefined
  /** Whether the answer to this question serves at any age while the service is away. */
  keepsAnswer(query: PinQuestion, answer: unknown): boolean
  /** Whether a content of this name is kept for a pin. */
  keepsContent(name: string): boolean
  /** A listing of something is another one now; of all, where no key is given. */
  changed(namespace: string | undefined, key: string | undefined): void
  /** A content of this name is on this disk no more. */
  dropped(name: string): void
  /** Nothing more is fetched. */
  close(): Promise<void>
}

export interface PinsParts {
  readonly store: PinStore
  readonly survey: PinSurvey
  readonly content: ContentCache
  readonly health: Pick<Health, 'check' | 'outage' | 'signedOut'>
  /** Bytes that kept files may take in all. */
  readonly cacheBytes: number
  /** Milliseconds between two questions for the listings of what is pinned. */
  readonly interval: number
  /** Those of all pins together. */
  readonly turns: PinTurns
  /** Milliseconds for a question. */
  readonly patience: number
  /** Makes this process the one that fetches, if no other one is; the function gives that back. */
  readonly takeTurn: () => Promise<(() => void) | undefined>
  readonly clock: Clock
  readonly log: (sentence: string, about?: Record<string, unknown>) => void
}

/** Another mount may have pinned something; the service may answer again. */
const watchEveryMs = 5_000

export function openPins(parts: PinsParts): Pins {
  const { store, content, clock, log } = parts
  const fetcher = openPinFetch(parts)
  const room = openPinRoom(parts.cacheBytes, content)
  const members = openPinMembers(store, content)
  const progress = new Map<string, PinProgress>()
  /** What each pin asks the service to list just now. */
  const listing = new Map<string, Set<string>>()
  const schedule = openPinSchedule({ ...parts, pins: store.list, begin, lookAfter })
  let isStarted = false
  let isClosed = false
  let endWatch = noop
  let turn: Promise<(() => void) | undefined> | undefined
  let seen = ''
  /** A pin waits for the service. */
  let isAwaited = false

  function progressOf({ key }: Pick<Pin, 'key'>): PinProgress {
    const known = progress.get(key)
    if (known !== undefined) return known
    const fresh = new PinProgress(one => content.cached(one.content))
    progress.set(key, fresh)
    return fresh
  }

  function begin(): void {
    const pins = store.list()
    seen = signature(pins)
    members.read()
    for (const key of progress.keys()) if (!pins.some(pin => pin.key === key)) forget(key)
  }

  /** One question is cheaper than a look at all that is pinned. */
  async function lookForService(): Promise<void> {
    await parts.health.check(context())
    if (!isAwaited || isClosed || parts.health.outage !== undefined || parts.health.signedOut !== undefined)
      return
    isAwaited = false
    for (const pin of store.list()) schedule.now(pin.key)
  }

  const signature = (pins: readonly Pin[]): string =>
    pins.map(({ key, since }) => `${key} ${since}`).join('\n')

  function forget(key: string): void {
    progress.delete(key)
    room.forget(key)
  }

  /** Another mount has pinned something, or taken a pin back. */
  function lookForOthers(): void {
    const pins = store.list()
    if (!isStarted || signature(pins) === seen) return
    const known = new Set(seen.split('\n'))
    begin()
    for (const pin of pins) if (!known.has(signature([pin]))) schedule.now(pin.key)
  }

  /** What was found by an earlier process counts until this one has looked; of files that are missing the sizes are not known. */
  function reportOf(pin: Pin): PinReport {
    const state = progressOf(pin)
    const report = state.report(pin)
    if (state.isFound) return report
    const names = members.contents(pin.key).own
    let [filesKept, bytesKept] = [0, 0]
    for (const name of names) {
      const bytes = content.keptBytes(name)
      if (bytes === undefined) continue
      filesKept += 1
      bytesKept += bytes
    }
    const amounts = { files: names.size, filesKept, bytes: bytesKept, bytesKept }
    if (isStarted) return { ...report, ...amounts }
    return filesKept === names.size && filesKept > 0
      ? { ...report, ...amounts, state: 'whole' }
      : { ...report, ...amounts, state: 'waiting', because: unmounted }
  }

  // What is done for it.

  async function lookAfter(pin: Pin, depth: SurveyDepth): Promise<Retry> {
    const state = progressOf(pin)
    try {
      turn ??= parts.takeTurn()
      if ((await turn) === undefined) turn = undefined
      const retry = await bring(pin, state, await lookedUp(pin, depth))
      if (schedule.isOutdated(pin.key) && state.state === 'whole') state.stopped('looking')
      return retry
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (isTakenBack(pin)) return 'never'
      if (isAbsent(failure)) {
        members.set(pin.key, undefined)
        state.found([], new Set())
        state.stopped('gone', failure.message)
        return 'never'
      }
      const isPassing = isA('outage', failure) || failure.kind === 'unauthenticated'
      state.stopped(isPassing ? 'waiting' : 'incomplete', failure.message)
      if (isPassing) isAwaited = true
      if (!isPassing) log('a pin could not be fetched', { path: pin.path, error: failure.message })
      return 'soon'
    }
  }

  const context = (): RequestContext => dueIn(parts.patience, clock, 'guess')
  const isTakenBack = ({ key }: Pin): boolean => isClosed || !members.has(key)

  interface Found {
    readonly chosen: readonly SizedContent[]
    readonly tooMany: readonly SizedContent[]
    readonly because: string | undefined
    readonly missing: readonly MissingPart[]
  }

  /** What belongs to it is kept from now on; what is gone, or does not fit, may go. */
  async function lookedUp(pin: Pin, depth: SurveyDepth): Promise<Found> {
    const under = new Set<string>()
    listing.set(pin.key, under)
    const found = await parts.survey.look(pin, { depth, context, listing: under })
    const sized = await fetcher.sizes(found.contents)
    if (isTakenBack(pin)) throw takenBack
    const names = members.contents(pin.key)
    const fitting = room.fit(pin.key, sized.contents, names)
    const contents = new Set(fitting.chosen.map(one => content.nameOf(one.content)))
    // A listing has it: what was kept of it stays, whatever its size may be.
    for (const one of sized.unsized) {
      const name = content.nameOf(one.content)
      if (names.own.has(name)) contents.add(name)
    }
    members.set(pin.key, { ...found, contents })
    return { ...fitting, missing: [...found.missing, ...sized.missing] }
  }

  async function bring(pin: Pin, state: PinProgress, found: Found): Promise<Retry> {
    const { chosen, tooMany } = found
    const here = await fetcher.present(chosen)
    state.found([...chosen, ...tooMany], here)
    const wanted = chosen.filter(one => !here.has(one))
    if (wanted.length > 0 && turn === undefined) {
      state.stopped('waiting', 'another mount of this account fetches it')
      return 'soon'
    }
    if (wanted.length > 0) state.stopped('fetching')
    const unfetched = await fetcher.fetch(wanted, {
      begun: one => state.begun(one),
      kept: one => state.kept(one),
      mayGoOn() {
        if (isTakenBack(pin)) throw takenBack
      },
    })
    const reasons = [found.because, missingSentence([...found.missing, ...unfetched])]
    const because = reasons.filter(reason => reason !== undefined).join('; ')
    if (because === '') state.stopped('whole')
    else state.stopped('incomplete', because)
    return unfetched.length === 0 ? 'never' : 'later'
  }

  function start(): void {
    if (isStarted) return
    isStarted = true
    endWatch = every(clock, watchEveryMs, () => {
      lookForOthers()
      if (isAwaited)
        lookForService().catch(error => log('the service could not be looked for', { error: String(error) }))
    })
    schedule.start()
  }

  return {
    start,
    pin(path, target) {
      start()
      lookForOthers()
      const key = nodeKey(target)
      const known = store.list().find(pin => pin.key === key)
      const pin = known ?? { key, path, target, since: clock.now() }
      if (known === undefined) {
        store.set(pin)
        members.read()
        seen = signature(store.list())
      }
      const state = progressOf(pin)
      if (!schedule.isBusy(key)) state.stopped('looking')
      schedule.now(key)
      return reportOf(pin)
    },
    unpin(key) {
      const pin = store.list().find(one => one.key === key)
      if (pin === undefined) return undefined
      const report = reportOf(pin)
      lookForOthers()
      store.remove(key)
      members.read()
      forget(key)
      seen = signature(store.list())
      return report
    },
    reports: () => store.list().map(reportOf),
    list: store.list,
    coverOf: node => {
      const key = members.coverOf(node)
      return key === undefined ? undefined : store.list().find(pin => pin.key === key)
    },
    keepsAnswer: members.keepsAnswer,
    keepsContent: members.keepsContent,
    changed(namespace, key) {
      if (!isStarted || isClosed) return
      if (namespace === undefined || key === undefined) {
        for (const pin of store.list()) schedule.soon(pin.key)
        return
      }
      const { kind, id } = thingOf({ namespace, key })
      // Only the record of a report lists something.
      if (namespace === 'record' ? kind !== 'report' : namespace !== 'listing') return
      for (const one of members.keysOf({ namespace, key }))
        if (listing.get(one)?.has(`${kind} ${id}`) !== true) schedule.soon(one)
    },
    dropped(name) {
      if (!isStarted || isClosed) return
      for (const key of members.keepersOf(name)) {
        progressOf({ key }).stopped('looking')
        schedule.soon(key)
      }
    },
    async close() {
      isClosed = true
      schedule.close()
      endWatch()
      // What is under way finds out by itself; the connections end soon.
      const giveBack = await turn
      giveBack?.()
    },
  }
}

const unmounted = 'no drive is mounted; it goes on once one is, or with `calcfs pin`'
const takenBack = new Failure('timeout', 'the pin was taken back')

function missingSentence(missing: readonly MissingPart[]): string | undefined {
  const [first] = missing
  if (first === undefined) return undefined
  const others = missing.length === 1 ? '' : ` and ${missing.length - 1} more`
  return `${first.path}${others} cannot be had: ${first.failure.message}`
}
