// Query: one question to the service, and what its cache offers to those who ask.
import type { Failure } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import { recordBytes } from '../../record/json/weight.js'
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
  /** This daemon has changed what the answer is. */
  changed<Answer>(query: Query<Answer>): void
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
  /** Until when an ask is answered at once and sends nothing; 0 where it is not. */
  freshUntil<Answer>(query: Query<Answer>): Instant
  /** Grows with each answer that is another one now. */
  revision(): number
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

export interface Entry<Answer> {
  /** The answer: at once where it is fresh, else as soon as the service gives it; a stale one where that is away. Never throws, but may reject with a Failure. */
  ask(context: RequestContext): MaybePromise<Answer>
  /** What is known without any request, however old. */
  known(): Answer | undefined
  /** The same, unless a change of this mount or a refresh has asked for a newer one. */
  unexpired(): Answer | undefined
  /** Until when an ask is answered at once and sends nothing; 0 where it is not. */
  freshUntil(): Instant
  /** Takes an answer that came by another way: a save read it again. */
  learn(answer: Answer): void
  /** The next question goes to the service; the old answer stays for outages. */
  refresh(): void
  /** Nothing of it is shown any more, not even while the service is away. */
  forget(): void
  /** The failure that keeps the answer old, while it does. */
  stale(): Failure | undefined
}

/** An entry whose answer is that of one query. */
export class QueryEntry<Answer> implements Entry<Answer> {
  constructor(
    private readonly queryCache: QueryCache,
    private readonly query: Query<Answer>,
    /** Is told of an answer that came by another way, before it is taken. */
    private readonly learning: (answer: Answer) => void = () => {},
  ) {}

  ask(context: RequestContext): MaybePromise<Answer> {
    return this.queryCache.ask(this.query, context)
  }

  known(): Answer | undefined {
    return this.queryCache.known(this.query)
  }

  unexpired(): Answer | undefined {
    return this.queryCache.unexpired(this.query)
  }

  freshUntil(): Instant {
    return this.queryCache.freshUntil(this.query)
  }

  learn(answer: Answer): void {
    this.learning(answer)
    this.queryCache.learn(this.query, answer)
  }

  refresh(): void {
    this.queryCache.expire(this.query)
  }

  forget(): void {
    this.queryCache.forget(this.query)
  }

  stale(): Failure | undefined {
    return this.queryCache.staleBecause(this.query.namespace, this.query.key)
  }
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
  const [weight, share] = names === undefined ? [Math.ceil(formBytes(form) / bytesOfName), 0.6] : [names, 0.4]
  return Math.max(1, Math.min(weight + namesOfAnswer, Math.floor(most * share)))
}

const formBytes = (form: LedgerValue): number => (typeof form === 'string' ? recordBytes(form) : form.length)
