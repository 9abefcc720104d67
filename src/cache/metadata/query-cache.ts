// What was asked once and how long the answer counts: TTL, single-flight, "not there", stale-if-error, kept over restarts.
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { type CountedAskers, openAskers } from '../../askers.js'
import { asFailure, Failure } from '../../failure.js'
import { treeBytes } from '../../record/json/weight.js'
import { type Ask, type Instant, instant } from '../../remote/remote.js'
import { within } from '../deadline.js'
import type { Health } from '../health.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Remembered, Value } from '../ledger/table.js'

/** One question to the service: how it is asked, how long its answer counts, and its form on disk. */
export interface Question<Answer> {
  /** The ledger's room; with `key` it names the question. */
  readonly room: string
  readonly key: string
  /** Milliseconds for which an answer is used without asking again. */
  readonly lifetime: number
  fetch(ask: Ask): Promise<Answer>
  encode(answer: Answer): Value
  /** Throws on what is none of its own. */
  decode(kept: Value): Answer
  /** How many names an answer holds in memory; if not given, its bytes count. */
  names?(answer: Answer): number
  /** How many bytes an answer of this form takes in memory; if not given, its tree is weighed. */
  bytes?(form: Value): number
  /** What stays of the answer before; the very same answer where there is nothing new. */
  settled?(answer: Answer, before: Answer | undefined, now: Instant): Answer
  /** Told of each answer before it is kept, where nothing of the one before matters. */
  taken?(answer: Answer): void
}

export interface Memory {
  /** The answer, fetched unless it is fresh; a stale one where the service is away and that is allowed. */
  ask<Answer>(question: Question<Answer>, ask: Ask): Promise<Answer>
  /** The answer where it is fresh: what `ask` would give without asking anybody, and at once. */
  fresh<Answer>(question: Question<Answer>): Answer | undefined
  /** What is known without any request, however old. */
  known<Answer>(question: Question<Answer>): Answer | undefined
  /** Takes an answer that came by another way (a save read it again). */
  learn<Answer>(question: Question<Answer>, answer: Answer): void
  /** What was learned is on the disk when this returns: a kill does not bring yesterday's answer back. */
  flush(): void
  /** The next ask goes to the service; the old answer stays for outages. */
  expire<Answer>(question: Question<Answer>): void
  /** The same for every answer, at once. */
  expireAll(): void
  /** Forgets wholly: the service said that it is gone. */
  forget(room: string, key: string): void
  /** Why the last answer is old, if it is. */
  staleBecause(room: string, key: string): Failure | undefined
}

export interface MemoryLimits {
  /** Names in all, each 256 bytes; a list counts as two fifths of them at most, a record as three fifths. */
  readonly names: number
  /** Milliseconds for which "not there" is believed. */
  readonly absence: number
  /** Milliseconds after its lifetime for which an answer may serve while the service is away. */
  readonly staleness: number
  /** Milliseconds within which a failed request may be repeated. */
  readonly patience: number
  /** Milliseconds a request may take in all: it goes on behind those who stopped waiting for it, and the next ones find it. */
  readonly behind: number
}

/** A request on its way, and those who wait for it. */
interface Flight {
  readonly answer: Promise<unknown>
  readonly askers: CountedAskers
}

/** Its form on disk, and how long it was waited for. */
interface Kept {
  readonly form: Remembered<Value>
  readonly took?: number | undefined
}

interface Entry {
  readonly answer: unknown
  readonly names: number
  readonly at: Instant
  stale: Failure | undefined
  /** Milliseconds that its request took, where it was asked for by this process. */
  readonly took: number | undefined
  /** Somebody wants to know anew: it is no longer fresh, but as good as before while the service is away. */
  expired: boolean
}

/** The failures that say nothing about the thing itself, so that what was known still counts. */
const outages = new Set<Failure['kind']>(['timeout', 'unreachable', 'broken', 'busy', 'untrusted'])
/** The failures that are the service's answer to this very question: asked again at once, it would say the same. */
const answers = new Set<Failure['kind']>(['absent', 'forbidden', 'unsupported'])
/** An answer that is no listing takes as much memory as a name for so many bytes of its tree. */
const bytesOfName = 256
/** An answer takes as much memory as so many names, whatever is in it. */
const namesOfAnswer = 12
/** Milliseconds to wait for a newer answer than the one in hand, while the service answers others. */
const oldAnswerWait = 3_000
/** The same where nothing is heard of the service: twice what the answer took last time, but not less. */
const silenceWait = 1_000
/** What came while this process itself was busy is read first. */
const busyGrace = 50
/** While the service is away, one question in this many milliseconds is sent, and waited for no longer than the second. */
const tryEvery = 1_000
const tryWait = 25
const lateSentence = 'the service did not answer in time'
/** The part of a lifetime after which a used answer is fetched anew behind the user's back. */
const nearItsEnd = 0.75

/** Whether the service is known to be away. */
export type Service = Pick<Health, 'away' | 'silentSince' | 'outage'>

export function openMemory(
  ledger: Ledger,
  limits: MemoryLimits,
  { now, service }: { readonly now: () => Instant; readonly service: Service },
): Memory {
  const most = Math.max(2, limits.names)
  const entries = new LRUCache<string, Entry>({
    maxSize: most,
    sizeCalculation: ({ names }) => names,
  })
  // What the ledger was asked for in vain: a stat asks for records that nobody has ever read.
  const unkept = new LRUCache<string, true>({ max: 20_000 })
  const absences = new LRUCache<string, { failure: Failure; until: number }>({ max: 10_000 })
  /** What is older is not fresh. */
  let freshFrom = 0
  const flights = new Map<string, Flight>()
  /** When a question last waited for a service that is away. */
  let triedAt = Number.NEGATIVE_INFINITY
  const nameOf = (room: string, key: string): string => `${room} ${key}`

  function recall<Answer>(question: Question<Answer>): Entry | undefined {
    const name = nameOf(question.room, question.key)
    const held = entries.get(name)
    if (held !== undefined) return held
    if (unkept.has(name)) return undefined
    const kept = ledger.getWithTime(question.room, question.key)
    if (kept === undefined) {
      unkept.set(name, true)
      return undefined
    }
    try {
      return hold(question, question.decode(kept.value), { form: kept })
    } catch {
      // Written by another version of calcfs: as good as never asked.
      ledger.delete(question.room, question.key)
      return undefined
    }
  }

  function hold<Answer>(question: Question<Answer>, answer: Answer, { form, took }: Kept): Entry {
    const names = weightOf(question, answer, form.value)
    const entry = { answer, names, at: form.stored, stale: undefined, took, expired: false }
    entries.set(nameOf(question.room, question.key), entry)
    return entry
  }

  /** A big list and a big record have room beside each other, and two big records have not. */
  function weightOf<Answer>(question: Question<Answer>, answer: Answer, form: Value): number {
    const names = question.names?.(answer)
    const [weight, share] =
      names === undefined ? [Math.ceil((question.bytes ?? bytesOf)(form) / bytesOfName), 0.6] : [names, 0.4]
    return Math.max(1, Math.min(weight + namesOfAnswer, Math.floor(most * share)))
  }

  function learn<Answer>(question: Question<Answer>, answer: Answer): void {
    flights.delete(nameOf(question.room, question.key))
    keep(question, answer)
  }

  function keep<Answer>(question: Question<Answer>, fresh: Answer, took?: number): Answer {
    const name = nameOf(question.room, question.key)
    absences.delete(name)
    question.taken?.(fresh)
    const before = question.settled === undefined ? undefined : recall(question)
    const answer = question.settled?.(fresh, before?.answer as Answer | undefined, now()) ?? fresh
    if (before !== undefined && answer === before.answer) {
      entries.set(name, { ...before, at: now(), stale: undefined, took, expired: false })
      ledger.freshen(question.room, question.key)
      return answer
    }
    const value = question.encode(answer)
    unkept.delete(name)
    hold(question, answer, { form: { value, stored: now() }, took })
    ledger.set(question.room, question.key, value)
    return answer
  }

  function forget(room: string, key: string): void {
    entries.delete(nameOf(room, key))
    absences.delete(nameOf(room, key))
    ledger.delete(room, key)
  }

  /** The request under way, begun now if there is none. Without askers it is a background request. */
  function fetchOnce<Answer>(question: Question<Answer>): Flight {
    const name = nameOf(question.room, question.key)
    const flying = flights.get(name)
    if (flying !== undefined) return flying
    const askers = openAskers()
    const began = now()
    const deadline = instant(began + Math.max(limits.patience, limits.behind))
    const { patience } = limits
    const ask: Ask = { deadline, answerBy: instant(now() + patience), patience, lane: 'guess', askers }
    const isCurrent = (): boolean => flights.get(name)?.askers === askers
    const answer: Promise<Answer> = question
      .fetch(ask)
      .then(
        // What was learned or expired meanwhile is newer than this answer.
        fresh => (isCurrent() ? keep(question, fresh, now() - began) : fresh),
        (thrown: unknown) => {
          const failure = asFailure(thrown)
          if (!isCurrent()) throw failure
          if (failure.kind === 'absent') forget(question.room, question.key)
          if (answers.has(failure.kind)) absences.set(name, { failure, until: now() + limits.absence })
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
  async function awaited<Answer>(question: Question<Answer>, ask: Ask): Promise<Answer> {
    const joins = ask.lane === 'user' && flights.has(nameOf(question.room, question.key))
    try {
      return await landed(question, ask)
    } catch (thrown) {
      if (!joins || now() >= ask.deadline || answers.has(asFailure(thrown).kind)) throw thrown
      return landed(question, ask)
    }
  }

  /** The answer of the request under way, by the ask's deadline; a user counts as one who waits. */
  function landed<Answer>(question: Question<Answer>, ask: Ask): Promise<Answer> {
    const flight = fetchOnce(question)
    const leave = ask.lane === 'user' ? flight.askers.join() : noop
    // A name always holds the answers of one kind of question.
    const answer = flight.answer as Promise<Answer>
    return within(ask, { now, sentence: lateSentence }, answer).finally(leave)
  }

  function serveStale<Answer>(question: Question<Answer>, entry: Entry, failure: Failure): Answer {
    const old = now() - entry.at > question.lifetime + limits.staleness
    if (!outages.has(failure.kind) || old) throw failure
    entry.stale = failure
    return entry.answer as Answer
  }

  /** A newer answer than the one in hand, waited for only a moment where the service is silent; it may come later. */
  async function newer<Answer>(question: Question<Answer>, ask: Ask, old: Entry): Promise<Answer> {
    // What was asked to be read again may decide whether something is made twice.
    if (service.away && !old.expired) return newerOfAway(question, ask)
    const began = now()
    const upTo = (wait: number): Ask => ({ ...ask, deadline: instant(Math.min(ask.deadline, began + wait)) })
    const usual = old.took === undefined || old.expired ? oldAnswerWait : Math.max(silenceWait, 2 * old.took)
    if (usual < oldAnswerWait) {
      try {
        return await awaited(question, upTo(usual))
      } catch (thrown) {
        if (now() >= ask.deadline || asFailure(thrown).kind !== 'timeout') throw thrown
        await sleep(busyGrace)
        if (!service.silentSince(began)) return awaited(question, upTo(oldAnswerWait))
        throw thrown
      }
    }
    return awaited(question, upTo(oldAnswerWait))
  }

  /** One question in a while finds out what is back: each costs a connection, or a handshake in vain. */
  async function newerOfAway<Answer>(question: Question<Answer>, ask: Ask): Promise<Answer> {
    if (now() - triedAt < tryEvery) throw awayFailure()
    triedAt = now()
    return awaited(question, { ...ask, deadline: instant(Math.min(ask.deadline, triedAt + tryWait)) })
  }

  const awayFailure = (): Failure => service.outage?.failure ?? new Failure('timeout', lateSentence)

  function fresh<Answer>(question: Question<Answer>): Answer | undefined {
    const entry = recall(question)
    if (entry === undefined || entry.expired || entry.at < freshFrom) return undefined
    const age = now() - entry.at
    // From before the date was set back: how old it is cannot be said.
    if (age >= question.lifetime || age < 0) return undefined
    if (age > question.lifetime * nearItsEnd) fetchOnce(question).answer.catch(ignoreGuess)
    return entry.answer as Answer
  }

  async function ask<Answer>(question: Question<Answer>, ask: Ask): Promise<Answer> {
    const held = fresh(question)
    if (held !== undefined) return held
    const name = nameOf(question.room, question.key)
    const entry = recall(question)
    const absence = absences.get(name)
    if (absence !== undefined && now() < absence.until) throw absence.failure
    try {
      return await (entry === undefined ? awaited(question, ask) : newer(question, ask, entry))
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (entry === undefined || failure.kind === 'absent') throw failure
      return serveStale(question, entry, failure)
    }
  }

  return {
    ask,
    fresh,
    learn,
    flush: () => ledger.flush(),
    forget(room, key) {
      flights.delete(nameOf(room, key))
      forget(room, key)
    },
    known: question => recall(question)?.answer as never,
    expire(question) {
      flights.delete(nameOf(question.room, question.key))
      absences.delete(nameOf(question.room, question.key))
      const entry = recall(question)
      if (entry === undefined) return
      entry.expired = true
      // A mount that comes up in a moment must not take it for fresh.
      ledger.backdate(question.room, question.key, instant(now() - question.lifetime))
    },
    expireAll() {
      freshFrom = now()
      flights.clear()
      absences.clear()
    },
    staleBecause: (room, key) => entries.peek(nameOf(room, key))?.stale,
  }
}

/** Bytes of an answer in memory, from its form on disk. */
const bytesOf = (form: Value): number => (typeof form === 'string' ? treeBytes(form) : form.length)

/** A guess that fails costs nothing: the user's own question will tell him. */
function ignoreGuess(): void {}

function noop(): void {}
