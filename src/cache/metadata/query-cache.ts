// Query cache: TTL, single-flight, negative answers, stale-if-error, kept over restarts.
import { LRUCache } from 'lru-cache'
import { asFailure, Failure, isA, withoutFrames } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import { RecentMap } from '../../recent-map.js'
import { Askers } from '../../remote/askers.js'
import { dueIn, dueSooner, withDeadline } from '../../remote/clock.js'
import { type Instant, instant, type RequestContext } from '../../remote/remote.js'
import type { LedgerValue } from '../ledger/table.js'
import {
  type AnswerSource,
  answerWeight,
  isSame,
  nameOf,
  type Query,
  type QueryCacheLimits,
  type QueryCachePorts,
  serviceAlone,
} from './query.js'

/** A request on its way, and those who wait for it. */
interface Flight {
  readonly answer: Promise<unknown>
  readonly askers: Askers
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
}

const absencesAtMost = 10_000
/** Milliseconds to wait for a newer answer than the one in hand, while the service answers others. */
const oldAnswerWait = 3_000
/** While the service is away, one question in this many milliseconds is sent, and waited for no longer than the second. */
const [tryEvery, tryWait] = [1_000, 25]
const lateSentence = 'the service did not answer in time'

export class QueryCache {
  /** Grows with each answer that is another one now. */
  revision = 0
  readonly #now: () => Instant
  readonly #source: AnswerSource
  readonly #most: number
  readonly #entries: LRUCache<string, CachedAnswer>
  /** A refusal is believed for a while. */
  readonly #absences = new RecentMap<string, { failure: Failure; until: number }>(absencesAtMost)
  readonly #flights = new Map<string, Flight>()
  /** An older answer is not fresh. */
  #freshFrom = 0
  /** When a question last waited for a service that is away. */
  #triedAt = Number.NEGATIVE_INFINITY
  /** When a question last waited its whole time, and nothing at all was heard of the service. */
  #inVainAt = Number.NEGATIVE_INFINITY
  #isToWrite = false

  constructor(
    private readonly limits: QueryCacheLimits,
    private readonly ports: QueryCachePorts,
  ) {
    this.#now = ports.clock.now
    this.#source = ports.source ?? serviceAlone
    this.#most = Math.max(2, limits.names)
    this.#entries = new LRUCache({ maxSize: this.#most, sizeCalculation: ({ names }) => names })
  }

  /** The answer: at once where it is fresh, else fetched; a stale one where the service is away and that is allowed. */
  ask<Answer>(query: Query<Answer>, context: RequestContext): MaybePromise<Answer> {
    const { cache: use, foresight } = this.ports.activity
    const isUser = context.priority === 'user'
    const name = named(query)
    const known = this.#fresh(query)
    if (known !== undefined) {
      if (!isUser) return known
      use.answersKnown += 1
      foresight.used(name)
      return known
    }
    use.missed += 1
    const isUnderWay = this.#flights.has(name)
    const soon = this.#fetched(query, context)
    if (isUser) {
      use.answersAsked += 1
      // A user that joins a request of foresight waits for less than its own would take.
      if (isUnderWay) foresight.used(name)
      else foresight.dropped(name)
    } else if (!isUnderWay) {
      foresight.brought(name, 0)
      soon.catch(() => foresight.dropped(name))
    }
    return soon
  }

  /** The known answer without any request, however old. */
  known<Answer>(query: Query<Answer>): Answer | undefined {
    return this.#recall(query)?.answer as Answer | undefined
  }

  /** Until when an ask is answered at once and sends nothing; 0 where it is not. */
  freshUntil<Answer>(query: Query<Answer>): Instant {
    const entry = this.#entries.peek(named(query))
    // One from before the date was set back is asked for.
    if (entry === undefined || this.#isExpired(entry) || entry.at > this.#now()) return instant(0)
    return instant(entry.at + query.lifetime - earlyOf(query))
  }

  /** Why the last answer is old, if it is. */
  staleBecause<Answer>(query: Query<Answer>): Failure | undefined {
    return this.#entries.peek(named(query))?.stale
  }

  /** Takes an answer that came by another way (a save read it again). It is on the disk before what awaits this goes on. */
  learn<Answer>(query: Query<Answer>, answer: Answer): void {
    query.learned?.(answer)
    this.#flights.delete(named(query))
    this.#keep(query, answer)
    this.#writeSoon()
    this.#changed(query.namespace, query.key)
    this.#source.changed(query)
  }

  /** The next ask goes to the service; the old answer stays for outages. */
  expire<Answer>(query: Query<Answer>): void {
    this.#source.changed(query)
    this.#recall(query)
    this.outdate(query)
    this.#writeSoon()
  }

  /** Forgets wholly: the service said that it is gone. */
  forget<Answer>(query: Query<Answer>): void {
    this.#flights.delete(named(query))
    this.#forgotten(query)
    this.#writeSoon()
    this.#source.changed(query)
  }

  /** Another daemon has changed it: not fresh for a mount that comes up in a moment either. Of all, where none is given. */
  outdate(question?: Pick<Query<never>, 'namespace' | 'key' | 'lifetime'>): void {
    if (question === undefined) {
      this.#freshFrom = this.#now()
      this.#flights.clear()
      this.#absences.clear()
      this.#changed()
      return
    }
    const { namespace, key, lifetime } = question
    const name = nameOf(namespace, key)
    this.#flights.delete(name)
    this.#absences.delete(name)
    const entry = this.#entries.peek(name)
    if (entry !== undefined) entry.expiredAt = this.#now()
    this.ports.ledger.backdate(namespace, key, instant(this.#now() - lifetime))
    this.#changed(namespace, key)
  }

  #changed(namespace?: string, key?: string): void {
    this.revision += 1
    this.ports.changed(namespace, key)
  }

  #isExpired({ expiredAt, came }: CachedAnswer): boolean {
    return expiredAt !== undefined || came < this.#freshFrom
  }

  #recall<Answer>(query: Query<Answer>): CachedAnswer | undefined {
    const name = named(query)
    const held = this.#entries.get(name)
    if (held !== undefined) return held
    const { ledger } = this.ports
    const kept = ledger.getWithTime(query.namespace, query.key)
    if (kept === undefined) return undefined
    try {
      return this.#hold(query, query.decode(kept.value), kept.value, kept.stored)
    } catch {
      // Written by another version of calcfs: as good as never asked.
      ledger.delete(query.namespace, query.key)
      return undefined
    }
  }

  /** `form` is that on disk. */
  #hold<Answer>(
    query: Query<Answer>,
    answer: Answer,
    form: LedgerValue,
    at: Instant,
    came = at,
  ): CachedAnswer {
    const names = answerWeight(query, answer, form, this.#most)
    const entry = { answer, names, at, came, stale: undefined, expiredAt: undefined }
    this.#entries.set(named(query), entry)
    return entry
  }

  /** `made`: when it was asked for, where that is longer ago than its request took. */
  #keep<Answer>(query: Query<Answer>, fresh: Answer, made?: Instant): Answer {
    const { namespace, key } = query
    const { ledger } = this.ports
    const name = named(query)
    const came = this.#now()
    const at = made ?? came
    this.#absences.delete(name)
    query.taken?.(fresh)
    const shown = this.#entries.peek(name)
    const before = query.settled === undefined ? shown : this.#recall(query)
    const answer = query.settled?.(fresh, before?.answer as Answer | undefined, came) ?? fresh
    if (before !== undefined && isSame(query, before.answer as Answer, answer)) {
      this.#entries.set(name, { ...before, at, came, stale: undefined, expiredAt: undefined })
      if (made === undefined) ledger.freshen(namespace, key)
      else ledger.backdate(namespace, key, made)
      return before.answer as Answer
    }
    const form = query.encode(answer)
    this.#hold(query, answer, form, at, came)
    ledger.set(namespace, key, form)
    if (made !== undefined) ledger.backdate(namespace, key, made)
    const isShown = shown !== before && shown !== undefined && isSame(query, shown.answer as Answer, answer)
    if (!isShown) this.#changed(namespace, key)
    return answer
  }

  #forgotten({ namespace, key }: Pick<Query<never>, 'namespace' | 'key'>): void {
    this.#entries.delete(nameOf(namespace, key))
    this.#absences.delete(nameOf(namespace, key))
    this.ports.ledger.delete(namespace, key)
    this.#changed(namespace, key)
  }

  /**
   * An answer learned from a change is on the disk before the program hears of the change: after a kill -9 the answer of before
   * must not be taken for what the service has. Many at once are written at once.
   */
  #writeSoon(): void {
    if (this.#isToWrite) return
    this.#isToWrite = true
    queueMicrotask(() => {
      this.#isToWrite = false
      this.ports.ledger.flush()
    })
  }

  #fresh<Answer>(query: Query<Answer>): Answer | undefined {
    const entry = this.#recall(query)
    if (entry === undefined || this.#isExpired(entry)) return undefined
    const age = this.#now() - entry.at
    // From before the date was set back: how old it is cannot be said.
    if (age >= query.lifetime || age < 0) return undefined
    const early = earlyOf(query)
    if (query.lifetime - age < early) this.#fetchOnce(query, early).answer.catch(() => {})
    return entry.answer as Answer
  }

  async #fetched<Answer>(query: Query<Answer>, context: RequestContext): Promise<Answer> {
    const entry = this.#recall(query)
    const absence = this.#absences.get(named(query))
    if (absence !== undefined && this.#now() < absence.until) throw absence.failure
    try {
      return await (entry === undefined ? this.#awaited(query, context) : this.#newer(query, context, entry))
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (entry === undefined || failure.kind === 'absent') throw failure
      const isOld = this.#now() - entry.at > query.lifetime + this.limits.staleness
      if (!isA('outage', failure) || (isOld && !this.ports.isKept(query, entry.answer))) throw failure
      entry.stale = withoutFrames(failure)
      return entry.answer as Answer
    }
  }

  /** A newer answer than the one in hand, waited for only a moment where the service is silent; it may come later. */
  async #newer<Answer>(query: Query<Answer>, context: RequestContext, old: CachedAnswer): Promise<Answer> {
    const { clock, service } = this.ports
    // An answer that was to be read again may decide whether something is made twice.
    if (service.away && (old.expiredAt ?? Number.NEGATIVE_INFINITY) <= this.#inVainAt) {
      // One question in a while finds out what is back: each costs a connection, or a handshake in vain.
      if (this.#now() - this.#triedAt < tryEvery)
        throw service.outage?.failure ?? new Failure('timeout', lateSentence)
      this.#triedAt = this.#now()
      return this.#awaited(query, dueSooner(context, tryWait, clock))
    }
    try {
      return await this.#awaited(query, dueSooner(context, oldAnswerWait, clock))
    } catch (thrown) {
      // One caller waits for it, and not each of a walk.
      if (service.away) this.#inVainAt = this.#now()
      throw thrown
    }
  }

  /** The answer of the request under way, or of another one where that was begun earlier by others and fails. */
  async #awaited<Answer>(query: Query<Answer>, context: RequestContext): Promise<Answer> {
    const joins = context.priority === 'user' && this.#flights.has(named(query))
    try {
      return await this.#landed(query, context)
    } catch (thrown) {
      if (!joins || this.#now() >= context.deadline || isA('settled', asFailure(thrown))) throw thrown
      return this.#landed(query, context)
    }
  }

  /** The answer of the request under way, by the ask's deadline; a user counts as one who waits. */
  #landed<Answer>(query: Query<Answer>, context: RequestContext): Promise<Answer> {
    const flight = this.#fetchOnce(query)
    const leave = context.priority === 'user' ? flight.askers.join(context.requests) : () => {}
    // A name always holds the answers of one kind of question.
    const answer = flight.answer as Promise<Answer>
    return withDeadline(answer, context, this.ports.clock, lateSentence).finally(leave)
  }

  /**
   * The request under way, begun now if there is none. Without askers it is a background request. `leftMs`: for how much
   * longer the answer has to count.
   */
  #fetchOnce<Answer>(query: Query<Answer>, leftMs = 0): Flight {
    const name = named(query)
    const flying = this.#flights.get(name)
    if (flying !== undefined) return flying
    const { clock } = this.ports
    const { patience, behind, absence } = this.limits
    const askers = new Askers()
    const context: RequestContext = {
      ...dueIn(Math.max(patience, behind), clock, 'guess'),
      answerBy: dueIn(patience, clock).deadline,
      askers,
    }
    const isCurrent = (): boolean => this.#flights.get(name)?.askers === askers
    const answer: Promise<Answer> = this.#source
      .ask(query, context, leftMs)
      .then(
        // An answer learned or expired meanwhile is newer than this one.
        ({ answer: fresh, made }) => (isCurrent() ? this.#keep(query, fresh, made) : fresh),
        (thrown: unknown) => {
          const failure = asFailure(thrown)
          if (!isCurrent()) throw failure
          if (failure.kind === 'absent') this.#forgotten(query)
          // A 401 of one question may be a passing fault of the service.
          const isSure = isA('settled', failure) && asFailure(failure.cause).kind !== 'unauthenticated'
          if (isSure)
            this.#absences.set(name, { failure: withoutFrames(failure), until: this.#now() + absence })
          throw failure
        },
      )
      .finally(() => {
        if (isCurrent()) this.#flights.delete(name)
      })
    const flight = { answer, askers }
    this.#flights.set(name, flight)
    return flight
  }
}

const earlyOf = ({ early, lifetime }: Pick<Query<never>, 'early' | 'lifetime'>): number =>
  early ?? lifetime / 4

const named = ({ name, namespace, key }: Pick<Query<never>, 'name' | 'namespace' | 'key'>): string =>
  name ?? nameOf(namespace, key)
