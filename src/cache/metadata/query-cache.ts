// Query cache: TTL, single-flight, negative answers, stale-if-error, kept over restarts.
import { LRUCache } from 'lru-cache'
import { asFailure, Failure, isA } from '../../failure.js'
import { upTo } from '../../growing-lru.js'
import type { MaybePromise } from '../../maybe-promise.js'
import { Askers } from '../../remote/askers.js'
import { type Clock, dueIn, dueSooner, withDeadline } from '../../remote/clock.js'
import { type Instant, instant, type RequestContext } from '../../remote/remote.js'
import type { Health } from '../health.js'
import type { Ledger } from '../ledger/ledger.js'
import type { LedgerValue, StoredValue } from '../ledger/table.js'
import {
  type AnswerSource,
  answerWeight,
  nameOf,
  type Query,
  type QueryCache,
  type QueryCacheLimits,
  serviceAlone,
} from './query.js'

/** A request on its way, and those who wait for it. */
interface Flight {
  readonly answer: Promise<unknown>
  readonly askers: Askers
}

/** Its form on disk, and when it came. */
interface StoredAnswer {
  readonly form: StoredValue<LedgerValue>
  readonly came?: Instant
}

interface CachedAnswer {
  readonly answer: unknown
  readonly names: number
  /** When the service was asked for it. */
  readonly at: Instant
  /** When it came: later than `at` where another daemon had asked. */
  readonly came: Instant
  stale: Failure | undefined
  /** A refresh was asked for then: it is no longer fresh, but as good as before while the service is away. */
  expiredAt: Instant | undefined
  /** What is on the disk is another answer, for the next mount. */
  isLeft: boolean
}

const absencesAtMost = 10_000
/** Milliseconds to wait for a newer answer than the one in hand, while the service answers others. */
const oldAnswerWait = 3_000
/** While the service is away, one question in this many milliseconds is sent, and waited for no longer than the second. */
const [tryEvery, tryWait] = [1_000, 25]
const lateSentence = 'the service did not answer in time'
/** The part of a lifetime after which a used answer is fetched again in the background. */
const nearItsEnd = 0.75

export type ServiceHealth = Pick<Health, 'away' | 'outage'>

export interface QueryCachePorts {
  readonly clock: Clock
  readonly service: ServiceHealth
  /** Told of a question whose answer is another one now, or no longer fresh; of all, where no key is given. */
  readonly changed?: (namespace?: string, key?: string) => void
  /** Whether its answer may serve at any age while the service is away. */
  readonly isKept?: (query: { readonly namespace: string; readonly key: string }, answer: unknown) => boolean
  /** The service itself if undefined. */
  readonly source?: AnswerSource | undefined
}

export function openQueryCache(
  ledger: Ledger,
  limits: QueryCacheLimits,
  { clock, service, changed: tell = () => {}, source = serviceAlone, isKept = () => false }: QueryCachePorts,
): QueryCache {
  const { now } = clock
  const most = Math.max(2, limits.names)
  let revision = 0
  function changed(namespace?: string, key?: string): void {
    revision += 1
    tell(namespace, key)
  }
  const entries = new LRUCache<string, CachedAnswer>({
    maxSize: most,
    sizeCalculation: ({ names }) => names,
  })
  // What the ledger was asked for in vain: a stat asks for records that were never read.
  const unkept = new LRUCache<string, true>(upTo(20_000))
  /** What the service does not have, or does not show to this user, is believed for a while. */
  const absences = new LRUCache<string, { failure: Failure; until: number }>(upTo(absencesAtMost))
  /** What is older is not fresh. */
  let freshFrom = 0
  const flights = new Map<string, Flight>()
  /** When a question last waited for a service that is away. */
  let triedAt = Number.NEGATIVE_INFINITY
  /** When a question last waited its whole time, and nothing at all was heard of the service. */
  let inVainAt = Number.NEGATIVE_INFINITY
  const named = <Answer>(query: Query<Answer>): string => query.name ?? nameOf(query.namespace, query.key)

  function recall<Answer>(query: Query<Answer>): CachedAnswer | undefined {
    const name = named(query)
    const held = entries.get(name)
    if (held !== undefined) return held
    if (unkept.has(name)) return undefined
    const kept = ledger.getWithTime(query.namespace, query.key)
    if (kept === undefined) {
      unkept.set(name, true)
      return undefined
    }
    try {
      return hold(query, query.decode(kept.value), { form: kept })
    } catch {
      // Written by another version of calcfs: as good as never asked.
      ledger.delete(query.namespace, query.key)
      return undefined
    }
  }

  function hold<Answer>(
    query: Query<Answer>,
    answer: Answer,
    { form, came = form.stored }: StoredAnswer,
  ): CachedAnswer {
    const names = answerWeight(query, answer, form.value, most)
    const entry = {
      answer,
      names,
      at: form.stored,
      came,
      stale: undefined,
      expiredAt: undefined,
      isLeft: false,
    }
    entries.set(named(query), entry)
    return entry
  }

  function learn<Answer>(query: Query<Answer>, answer: Answer): void {
    flights.delete(named(query))
    keep(query, answer)
    writeSoon()
    changed(query.namespace, query.key)
    source.changed(query)
  }

  let isToWrite = false
  /**
   * What a change has taught is on the disk before the program hears of the change: after a kill -9 the answer of before
   * must not be taken for what the service has. Many at once are written at once.
   */
  function writeSoon(): void {
    if (isToWrite) return
    isToWrite = true
    queueMicrotask(() => {
      isToWrite = false
      ledger.flush()
    })
  }

  /** `at`: when it was asked for, where that is longer ago than its request took. */
  function keep<Answer>(query: Query<Answer>, fresh: Answer, made?: Instant): Answer {
    const name = named(query)
    const came = now()
    const at = made ?? came
    absences.delete(name)
    query.taken?.(fresh)
    const shown = entries.peek(name)
    const before = query.settled === undefined ? shown : recall(query)
    const answer = query.settled?.(fresh, before?.answer as Answer | undefined, now()) ?? fresh
    if (before !== undefined && !before.isLeft && isSame(query, before.answer as Answer, answer)) {
      entries.set(name, { ...before, at, came, stale: undefined, expiredAt: undefined })
      if (made === undefined) ledger.freshen(query.namespace, query.key)
      else ledger.backdate(query.namespace, query.key, made)
      return before.answer as Answer
    }
    const value = query.encode(answer)
    unkept.delete(name)
    hold(query, answer, { form: { value, stored: at }, came })
    ledger.set(query.namespace, query.key, value)
    if (made !== undefined) ledger.backdate(query.namespace, query.key, made)
    if (shown === undefined || !isSame(query, shown.answer as Answer, answer))
      changed(query.namespace, query.key)
    return answer
  }

  function forget({ namespace, key }: { readonly namespace: string; readonly key: string }): void {
    entries.delete(nameOf(namespace, key))
    absences.delete(nameOf(namespace, key))
    ledger.delete(namespace, key)
    changed(namespace, key)
  }

  /** The request under way, begun now if there is none. Without askers it is a background request. */
  /** `leftMs`: for how much longer the answer has to count. */
  function fetchOnce<Answer>(query: Query<Answer>, leftMs = 0): Flight {
    const name = named(query)
    const flying = flights.get(name)
    if (flying !== undefined) return flying
    const askers = new Askers()
    const { patience } = limits
    const context: RequestContext = {
      ...dueIn(Math.max(patience, limits.behind), clock, 'guess'),
      answerBy: dueIn(patience, clock).deadline,
      patience,
      askers,
    }
    const isCurrent = (): boolean => flights.get(name)?.askers === askers
    const answer: Promise<Answer> = source
      .ask(query, context, leftMs)
      .then(
        // What was learned or expired meanwhile is newer than this answer.
        ({ answer: fresh, made }) => (isCurrent() ? keep(query, fresh, made) : fresh),
        (thrown: unknown) => {
          const failure = asFailure(thrown)
          if (!isCurrent()) throw failure
          if (failure.kind === 'absent') forget(query)
          // A 401 of one question may be a passing fault of the service.
          const isSure = isA('settled', failure) && asFailure(failure.cause).kind !== 'unauthenticated'
          if (isSure) absences.set(name, { failure, until: now() + limits.absence })
          throw failure
        },
      )
      .finally(() => {
        if (isCurrent()) flights.delete(name)
      })
    const flight = { answer, askers }
    flights.set(name, flight)
    return flight
  }

  /** The answer of the request under way, or of another one where that was begun earlier by others and fails. */
  async function awaited<Answer>(query: Query<Answer>, context: RequestContext): Promise<Answer> {
    const joins = context.priority === 'user' && flights.has(named(query))
    try {
      return await landed(query, context)
    } catch (thrown) {
      if (!joins || now() >= context.deadline || isA('settled', asFailure(thrown))) throw thrown
      return landed(query, context)
    }
  }

  /** The answer of the request under way, by the ask's deadline; a user counts as one who waits. */
  function landed<Answer>(query: Query<Answer>, context: RequestContext): Promise<Answer> {
    const flight = fetchOnce(query)
    const leave = context.priority === 'user' ? flight.askers.join(context.requests) : () => {}
    // A name always holds the answers of one kind of question.
    const answer = flight.answer as Promise<Answer>
    return withDeadline(answer, context, clock, lateSentence).finally(leave)
  }

  function serveStale<Answer>(query: Query<Answer>, entry: CachedAnswer, failure: Failure): Answer {
    const old = now() - entry.at > query.lifetime + limits.staleness && !isKept(query, entry.answer)
    if (!isA('outage', failure) || old) throw failure
    entry.stale = failure
    return entry.answer as Answer
  }

  /** A newer answer than the one in hand, waited for only a moment where the service is silent; it may come later. */
  async function newer<Answer>(
    query: Query<Answer>,
    context: RequestContext,
    old: CachedAnswer,
  ): Promise<Answer> {
    // What was asked to be read again may decide whether something is made twice.
    if (service.away && (old.expiredAt ?? Number.NEGATIVE_INFINITY) <= inVainAt)
      return newerOfAway(query, context)
    try {
      return await awaited(query, dueSooner(context, oldAnswerWait, clock))
    } catch (thrown) {
      // One caller waits for it, and not each of a walk.
      if (service.away) inVainAt = now()
      throw thrown
    }
  }

  /** One question in a while finds out what is back: each costs a connection, or a handshake in vain. */
  async function newerOfAway<Answer>(query: Query<Answer>, context: RequestContext): Promise<Answer> {
    if (now() - triedAt < tryEvery) throw awayFailure()
    triedAt = now()
    return awaited(query, dueSooner(context, tryWait, clock))
  }

  const awayFailure = (): Failure => service.outage?.failure ?? new Failure('timeout', lateSentence)

  const isExpired = ({ expiredAt, came }: CachedAnswer): boolean =>
    expiredAt !== undefined || came < freshFrom

  function fresh<Answer>(query: Query<Answer>): Answer | undefined {
    const entry = recall(query)
    if (entry === undefined || isExpired(entry)) return undefined
    const age = now() - entry.at
    // From before the date was set back: how old it is cannot be said.
    if (age >= query.lifetime || age < 0) return undefined
    if (age > query.lifetime * nearItsEnd)
      fetchOnce(query, query.lifetime * (1 - nearItsEnd)).answer.catch(() => {})
    return entry.answer as Answer
  }

  function ask<Answer>(query: Query<Answer>, context: RequestContext): MaybePromise<Answer> {
    return fresh(query) ?? fetched(query, context)
  }

  async function fetched<Answer>(query: Query<Answer>, context: RequestContext): Promise<Answer> {
    const name = named(query)
    const entry = recall(query)
    const absence = absences.get(name)
    if (absence !== undefined && now() < absence.until) throw absence.failure
    try {
      return await (entry === undefined ? awaited(query, context) : newer(query, context, entry))
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (entry === undefined || failure.kind === 'absent') throw failure
      return serveStale(query, entry, failure)
    }
  }

  /** No longer fresh: not for a mount that comes up in a moment either. */
  function outdate({ namespace, key, lifetime }: Pick<Query<never>, 'namespace' | 'key' | 'lifetime'>): void {
    const name = nameOf(namespace, key)
    flights.delete(name)
    absences.delete(name)
    const entry = entries.peek(name)
    if (entry !== undefined) entry.expiredAt = now()
    ledger.backdate(namespace, key, instant(now() - lifetime))
    changed(namespace, key)
  }

  function outdateAll(): void {
    freshFrom = now()
    flights.clear()
    absences.clear()
    changed()
  }

  return {
    ask,
    learn,
    forget(query) {
      flights.delete(named(query))
      forget(query)
      writeSoon()
      source.changed(query)
    },
    known: query => recall(query)?.answer as never,
    leave(query, answer) {
      const entry = recall(query)
      if (entry !== undefined) entry.isLeft = true
      ledger.set(query.namespace, query.key, query.encode(answer))
      writeSoon()
    },
    unexpired(query) {
      const entry = recall(query)
      return (entry === undefined || isExpired(entry) ? undefined : entry.answer) as never
    },
    expire(query) {
      source.changed(query)
      recall(query)
      outdate(query)
      writeSoon()
    },
    expireAll() {
      outdateAll()
      source.allChanged()
    },
    outdate(question) {
      if (question === undefined) outdateAll()
      else outdate(question)
    },
    freshUntil(query) {
      const entry = entries.peek(named(query))
      // One from before the date was set back is asked for.
      if (entry === undefined || isExpired(entry) || entry.at > now()) return instant(0)
      return instant(entry.at + query.lifetime * nearItsEnd)
    },
    revision: () => revision,
    staleBecause: (namespace, key) => entries.peek(nameOf(namespace, key))?.stale,
  }
}

/** What a query settles by itself is the answer of before where nothing has changed; another answer is compared by its form on disk. */
function isSame<Answer>(query: Query<Answer>, one: Answer, other: Answer): boolean {
  if (one === other) return true
  return query.settled === undefined && isSameForm(query.encode(one), query.encode(other))
}

const isSameForm = (one: LedgerValue, other: LedgerValue): boolean =>
  typeof one === 'string' || typeof other === 'string' ? one === other : Buffer.compare(one, other) === 0
