// Query: one question to the service, and what its cache offers to those who ask.
import type { Failure } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import type { Instant, RequestContext } from '../../remote/remote.js'
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
  fetch(context: RequestContext): Promise<Answer>
  encode(answer: Answer): LedgerValue
  /** Throws on what is none of its own. */
  decode(kept: LedgerValue): Answer
  /** How many names an answer holds in memory; if not given, its bytes count. */
  names?(answer: Answer): number
  /** How many bytes an answer of this form takes in memory; if not given, its tree is weighed. */
  bytes?(form: LedgerValue): number
  /** What stays of the answer before; the very same answer where there is nothing new. */
  settled?(answer: Answer, before: Answer | undefined, now: Instant): Answer
  /** Told of each answer before it is kept, where nothing of the one before matters. */
  taken?(answer: Answer): void
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
  /** This daemon has changed what the answer is: to `now`, or to what the service says next. */
  changed<Answer>(query: Query<Answer>, answer?: { readonly now: Answer }): void
  /** The same of every answer. */
  allChanged(): void
}

/** The service itself. */
export const serviceAlone: AnswerSource = {
  ask: async (query, context) => ({ answer: await query.fetch(context), made: undefined }),
  changed: () => {},
  allChanged: () => {},
}

/** What a question goes by in memory. */
export const nameOf = (namespace: string, key: string): string => `${namespace} ${key}`

export interface QueryCache {
  /** The answer: at once where it is fresh, else fetched; a stale one where the service is away and that is allowed. */
  ask<Answer>(query: Query<Answer>, context: RequestContext): MaybePromise<Answer>
  /** What is known without any request, however old. */
  known<Answer>(query: Query<Answer>): Answer | undefined
  /** The same, unless it was expired. */
  unexpired<Answer>(query: Query<Answer>): Answer | undefined
  /** Takes an answer that came by another way (a save read it again). It is on the disk before what awaits this goes on. */
  learn<Answer>(query: Query<Answer>, answer: Answer): void
  /** What the next mount knows of it, until the service is asked again; this one knows what it knew. */
  leave<Answer>(query: Query<Answer>, answer: Answer): void
  /** The next ask goes to the service; the old answer stays for outages. */
  expire<Answer>(query: Query<Answer>): void
  /** The same for every answer, at once. */
  expireAll(): void
  /** Forgets wholly: the service said that it is gone. */
  forget<Answer>(query: Query<Answer>): void
  /** Another daemon has changed it: the next ask does not take what was known before. Of all, where none is given. */
  outdate(question?: { readonly namespace: string; readonly key: string; readonly lifetime: number }): void
  /** Why the last answer is old, if it is. */
  staleBecause(namespace: string, key: string): Failure | undefined
}

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
