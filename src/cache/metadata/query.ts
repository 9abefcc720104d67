// Query: one question to the service, and what its cache offers to those who ask.
import type { Activity } from '../../activity/activity.js'
import { recordBytes } from '../../record/json/walk.js'
import type { Clock } from '../../remote/clock.js'
import type { Instant, RequestContext } from '../../remote/remote.js'
import type { Health } from '../health.js'
import type { Ledger } from '../ledger/ledger.js'
import type { LedgerValue } from '../ledger/table.js'

/** One question to the service: how it is asked, how long its answer counts, and its form on disk. */
export interface Query<Answer> {
  /** The ledger's room; with `key` it names the question. */
  readonly namespace: string
  readonly key: string
  /** Both, as `nameOf` writes them: made once where a question is asked for every name of a walk. */
  readonly name?: string
  /** Milliseconds for which an answer is used without asking again. */
  readonly lifetime: number
  /** Milliseconds before that ends from which a used answer is fetched again in the background; by default a quarter of it. */
  readonly early?: number
  fetch(context: RequestContext): Promise<Answer>
  encode(answer: Answer): LedgerValue
  /** Throws on what is none of its own. */
  decode(kept: LedgerValue): Answer
  /** How many names an answer holds in memory; if not given, its bytes count. */
  names?(answer: Answer): number
  /** The part of the answer before that stays; the very same answer where there is nothing new. */
  settled?(answer: Answer, before: Answer | undefined, now: Instant): Answer
  /** Told of each answer before it is kept, where nothing of the one before matters. */
  taken?(answer: Answer): void
  /** Told of one that came by another way: a save has read it again. */
  learned?(answer: Answer): void
}

/** An answer, and when it was asked for where that was another daemon's question. */
export interface DatedAnswer<Answer> {
  readonly answer: Answer
  readonly made: Instant | undefined
}

/** Where answers come from that are not in memory or on this disk, and what hears of changes. */
export interface AnswerSource {
  /** One that counts for at least `leftMs` longer: a shorter one is known already. */
  ask<Answer>(query: Query<Answer>, context: RequestContext, leftMs: number): Promise<DatedAnswer<Answer>>
  /** This daemon has changed what the answer is. */
  changed<Answer>(query: Query<Answer>): void
}

export const serviceAlone: AnswerSource = {
  ask: async (query, context) => ({ answer: await query.fetch(context), made: undefined }),
  changed: () => {},
}

export const nameOf = (namespace: string, key: string): string => `${namespace} ${key}`

export interface QueryCacheLimits {
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

export interface QueryCachePorts {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly service: Pick<Health, 'away' | 'outage'>
  readonly activity: Pick<Activity, 'cache' | 'foresight'>
  /** Told of a question whose answer is another one now, or no longer fresh; of all, where no key is given. */
  readonly changed: (namespace?: string, key?: string) => void
  /** True if its answer may serve at any age while the service is away. */
  readonly isKept: (query: { readonly namespace: string; readonly key: string }, answer: unknown) => boolean
  /** The service itself if undefined. */
  readonly source?: AnswerSource | undefined
}

/** An answer that is no listing takes as much memory as a name for so many bytes of its tree. */
const bytesOfName = 256
/** An answer takes as much memory as so many names, whatever is in it. */
const namesOfAnswer = 12

/** In names, of `most`. A big list and a big record have room beside each other, and two big records have not. */
export function answerWeight<Answer>(
  query: Query<Answer>,
  answer: Answer,
  form: LedgerValue,
  most: number,
): number {
  const names = query.names?.(answer)
  const share = names === undefined ? 0.6 : 0.4
  const weight =
    names ?? Math.ceil((typeof form === 'string' ? recordBytes(form) : form.length) / bytesOfName)
  return Math.max(1, Math.min(weight + namesOfAnswer, Math.floor(most * share)))
}

/** A query settles by itself on the answer of before where nothing has changed; another answer is compared by its form on disk. */
export function isSame<Answer>(query: Query<Answer>, one: Answer, other: Answer): boolean {
  if (one === other) return true
  if (query.settled !== undefined) return false
  const [form, its] = [query.encode(one), query.encode(other)]
  return typeof form === 'string' || typeof its === 'string' ? form === its : Buffer.compare(form, its) === 0
}
