// Session: credentials become a token, one log-in for all waiting requests, renewed in time and once if refused.
import { signInMend } from '../../advice.js'
import { asFailure, Failure, isA, isAbsent } from '../../failure.js'
import { lookedLongAgo } from '../client/late-answer.js'
import type { Question } from '../client/outgoing.js'
import { type Clock, dueIn, dueSooner } from '../clock.js'
import { Http, type Request } from '../http/http.js'
import { firstQuestion } from '../known-question.js'
import { type Instant, instant, type RequestContext } from '../remote.js'
import { SharedAnswer } from '../shared-answer.js'
import { type Token, tokenExpiry, tokenIn, tokenRenewal } from './token.js'

export type Credentials =
  | { readonly with: 'password'; readonly user: string; readonly password: string }
  | { readonly with: 'token'; readonly token: string }

/** Read again for every log-in, so that new credentials count at once. */
export type CredentialsSource = () => Promise<Credentials | undefined>

/** Where a token outlives the process. */
export interface TokenStore {
  load(): Promise<Token | undefined>
  save(token: Token): Promise<void>
}

export interface SessionOptions {
  readonly credentials: CredentialsSource
  readonly store?: TokenStore | undefined
  readonly clock: Clock
  /** The address of the service, for messages that say where to sign in. */
  readonly address: string
  /** Who is to be signed in there, and the place that the given password or token comes from, for the same messages. */
  readonly user?: string | undefined
  readonly from?: string | undefined
  /** The path of a question that each valid token may send, and that this service answers; another one than the one given, where there is one. */
  readonly question?: ((besides?: string) => string) | undefined
  /** Called with failures that do not stop a request: a token that could not be stored. */
  readonly note: (failure: unknown) => void
}

/** A request without its token. */
interface Asked<Value> {
  readonly request: Request
  readonly question: Question<Value>
}

/** Milliseconds that a log-in may take. */
const loginLimit = 10_000
/** Milliseconds without another log-in after one, two and more that brought no accepted token: more could lock the account. */
const setbackMs = [1_000, 10_000, 30_000] as const
/** Milliseconds between two log-ins that did not help a question, while its token serves for others. */
const uselessLoginEvery = 30_000
/** Milliseconds between two looks whether a token that was refused, and that nothing can renew, is accepted again. */
const refusedTokenEvery = 1_500
/** Milliseconds for which an answer without a token says that the service is there. */
const answerKept = 5_000

/** Log-ins in a row with these credentials that brought no accepted token. */
interface Setback {
  readonly credentials: string
  readonly times: number
  readonly until: Instant
  readonly failure: Failure
}

export class Session {
  /** The same service, every request signed. Rejects with 'unauthenticated' where no token serves, with 'forbidden' where the token serves for other questions. */
  readonly signed = new Http((request, question, context) => this.#ask({ request, question }, context))
  #token: Token | undefined
  /** A silent log-in is sent once more when another caller joins. */
  readonly #logIn: SharedAnswer<Token>
  #setback: Setback | undefined
  #refusedLogIn: Failure | undefined
  /** Credentials that were accepted: a refusal of them may be a passing fault of the service. */
  readonly #accepted = new Set<string>()
  /** Tokens that were refused, and when they had come: the service may give the same one again in a new log-in. */
  readonly #bad = new Map<string, Instant | undefined>()
  #fruitlessUntil = instant(0)
  #lookedAt = instant(Number.NEGATIVE_INFINITY)
  #answeredUntil = instant(0)
  #checking:
    | { readonly text: string; readonly path: string; readonly answer: SharedAnswer<boolean> }
    | undefined

  constructor(
    private readonly http: Http,
    private readonly options: SessionOptions,
  ) {
    const { clock } = options
    const late = 'the log-in was not answered in time'
    this.#logIn = new SharedAnswer(clock, late, behind => this.#renewed(dueSooner(behind, loginLimit, clock)))
  }

  /** The token in use; undefined before the first request, and after a refusal. */
  get token(): Token | undefined {
    return this.#token
  }

  #ask<Value>(asked: Asked<Value>, context: RequestContext): Promise<Value> {
    const held = this.#valid()
    if (held !== undefined) return this.#askedWith(held, asked, context)
    // A log-in before it makes the read it is based on stale; another request may have begun it.
    return this.#current(context).then(fresh => this.#askedWith(fresh, asked, lookedLongAgo(context)))
  }

  #askedWith<Value>(by: Token, asked: Asked<Value>, context: RequestContext): Promise<Value> {
    const request = { ...asked.request, authorization: bearer(by) }
    return this.http.ask(request, asked.question, context).then(
      answer => {
        this.#setback = undefined
        return answer
      },
      failure => {
        if (isRefusal(failure)) return this.#askedAgain(by, asked, context, failure)
        this.#setback = undefined
        throw failure
      },
    )
  }

  async #askedAgain<Value>(
    first: Token,
    asked: Asked<Value>,
    context: RequestContext,
    refusal: Failure,
  ): Promise<Value> {
    const { clock } = this.options
    const { path } = asked.request
    const isNew = this.#token === first
    if (isNew && clock.now() < this.#fruitlessUntil && (await this.#isServed(first, context, path)))
      throw refusedAlone(refusal)
    if (this.#token === first) this.#token = undefined
    this.#bad.set(first.text, first.received)
    const second = await this.#current(context).catch(async failure => {
      // Without a log-in, a token that other requests are accepted with is as good as before.
      if (!isRefusal(failure) || !(await this.#isServed(first, context, path))) throw failure
      this.#bad.delete(first.text)
      this.#token ??= first
      this.#fruitlessUntil = instant(clock.now() + uselessLoginEvery)
      throw refusedAlone(failure === this.#refusedLogIn ? refusedTwice(failure, refusal) : refusal)
    })
    try {
      const request = { ...asked.request, authorization: bearer(second) }
      const answer = await this.http.ask(request, asked.question, lookedLongAgo(context))
      this.#setback = undefined
      return answer
    } catch (failure) {
      if (!isRefusal(failure)) throw failure
      this.#fruitlessUntil = instant(clock.now() + uselessLoginEvery)
      if (!(await this.#isServed(second, context, path))) throw failure
      throw refusedAlone(failure)
    }
  }

  /** Sends a question that every valid token may send, and not the refused one: once for any number of refused requests. */
  async #isServed(by: Token, context: RequestContext, refused: string): Promise<boolean> {
    const path = this.#known(refused)
    if (this.#checking?.text !== by.text || this.#checking.path !== path) {
      const late = 'the token was not checked in time'
      const answer = new SharedAnswer(this.options.clock, late, within =>
        this.#probed(within, { by, path }).then(() => true, isNoRefusal),
      )
      this.#checking = { text: by.text, path, answer }
    }
    const isServed = await this.#checking.answer.join(context).catch(isNoRefusal)
    if (isServed) this.#setback = undefined
    return isServed
  }

  #known(besides?: string): string {
    return this.options.question?.(besides) ?? firstQuestion
  }

  #probed(
    context: RequestContext,
    { by, path = this.#known() }: { readonly by?: Token; readonly path?: string } = {},
  ): Promise<string> {
    return this.http.text({ method: 'GET', path, authorization: by && bearer(by) }, context)
  }

  /** The token at hand, where it need not be renewed yet. */
  #valid(): Token | undefined {
    const renewal = this.#token === undefined ? undefined : tokenRenewal(this.#token)
    return renewal === undefined || this.options.clock.now() < renewal ? this.#token : undefined
  }

  async #current(context: RequestContext): Promise<Token> {
    return this.#valid() ?? this.#logIn.joinAnew(context, isRefusal)
  }

  async #renewed(context: RequestContext): Promise<Token> {
    const { store, credentials: source, note } = this.options
    // With credentials a stored token that cannot be read is not needed.
    const stored = await store?.load().catch(asFailure)
    const readable = stored instanceof Failure ? undefined : stored
    if (readable !== undefined && this.#isUsable(readable, tokenRenewal)) {
      this.#token = readable
      return readable
    }
    const credentials = await source()
    if (credentials === undefined) {
      // It cannot be renewed, so it is used to its end.
      if (readable !== undefined && this.#isUsable(readable, tokenExpiry)) return readable
      if (stored instanceof Failure) throw stored
      if (readable !== undefined && (await this.#isAcceptedAgain(readable, context))) return readable
      throw await this.#unsigned(readable !== undefined, context)
    }
    if (stored instanceof Failure) note(stored)
    this.#token = await this.#exchanged(credentials, context)
    return this.#token
  }

  /** Where a sign-in has ended while the service is away, the outage is what is wrong: what is known is shown. */
  async #unsigned(hasEnded: boolean, context: RequestContext): Promise<Failure> {
    const { clock, address } = this.options
    if (hasEnded && clock.now() >= this.#answeredUntil) {
      const away = await this.#probed(context).then(() => undefined, outageIn)
      if (away !== undefined) return away
      this.#answeredUntil = instant(clock.now() + answerKept)
    }
    const sentence = `no valid sign-in at ${address} is known here; ${this.#mend}`
    return new Failure('unauthenticated', sentence)
  }

  get #mend(): string {
    const { address, user, from } = this.options
    return signInMend(address, user, from)
  }

  /** A refusal may have been a passing fault of the service: a token that nothing can renew is tried again, to its end. */
  async #isAcceptedAgain(before: Token, context: RequestContext): Promise<boolean> {
    const { clock } = this.options
    const end = tokenExpiry(before)
    if (clock.now() < this.#lookedAt + refusedTokenEvery || (end !== undefined && clock.now() >= end))
      return false
    // The record of the question may be deleted.
    const isAccepted = await this.#probed(context, { by: before }).then(() => true, isAbsent)
    this.#lookedAt = clock.now()
    if (!isAccepted) return false
    this.#bad.delete(before.text)
    this.#token = before
    return true
  }

  #isUsable(stored: Token, until: (token: Token) => Instant | undefined): boolean {
    const limit = until(stored)
    const isBad = this.#bad.has(stored.text) && this.#bad.get(stored.text) === stored.received
    return !isBad && (limit === undefined || this.options.clock.now() < limit)
  }

  async #exchanged(credentials: Credentials, context: RequestContext): Promise<Token> {
    const { clock, address, from, store, note } = this.options
    if (credentials.with === 'token') {
      const ready = { text: tokenIn(credentials.token, clock.now()).text, received: undefined }
      if (!this.#bad.has(ready.text) || (await this.#isAcceptedAgain(ready, context))) return ready
      throw new Failure('unauthenticated', `${address} no longer takes the given token; ${this.#mend}`)
    }
    const same = JSON.stringify([credentials.user, credentials.password])
    const before = this.#setback?.credentials === same ? this.#setback : undefined
    if (before !== undefined && clock.now() < before.until) throw before.failure
    const times = (before?.times ?? 0) + 1
    const setBack = (failure: Failure): void => {
      const pause = (this.#accepted.has(same) ? setbackMs[times - 1] : undefined) ?? setbackMs[2]
      this.#setback = { credentials: same, times, until: instant(clock.now() + pause), failure }
    }
    try {
      const fresh = await logIn(this.http, credentials, { clock, address, from, context })
      this.#accepted.add(same)
      // Until a question is answered with it.
      setBack(new Failure('unauthenticated', `${address} refuses the tokens that it gives; ${this.#mend}`))
      await store?.save(fresh).catch(note)
      return fresh
    } catch (failure) {
      if (isRefusal(failure)) {
        setBack(failure)
        this.#refusedLogIn = failure
      }
      throw failure
    }
  }
}

interface LogInOptions extends Pick<SessionOptions, 'clock' | 'address' | 'from'> {
  readonly context?: RequestContext
}

/** One log-in, for `calcfs login` too. @throws Failure 'unauthenticated' if the service refuses user name or password */
export async function logIn(
  http: Http,
  credentials: Extract<Credentials, { with: 'password' }>,
  { clock, address, from, context = dueIn(loginLimit, clock) }: LogInOptions,
): Promise<Token> {
  const { user, password } = credentials
  if (user.includes(':')) throw new Failure('unauthenticated', 'a user name cannot hold a colon')
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  try {
    const answer = await http.text(
      { method: 'POST', path: '/login', authorization, repeatable: true },
      context,
    )
    return tokenIn(answer, clock.now())
  } catch (failure) {
    if (!(failure instanceof Failure) || !/^(unauthenticated|forbidden)$/.test(failure.kind)) throw failure
    const sentence = `${address} refused the log-in of ${user} (is the password wrong?); ${signInMend(address, user, from)}`
    throw new Failure('unauthenticated', sentence, { cause: failure, said: failure.said })
  }
}

/** Refused with a token that serves for other questions: it says nothing of the sign-in. */
function refusedAlone(thrown: unknown): Failure {
  const { message, said } = asFailure(thrown)
  return new Failure('forbidden', message, { cause: thrown, said })
}

/** A request and the log-in after it were refused, and the old token still serves: the log-in is the cause. */
function refusedTwice(logIn: Failure, question: Failure): Failure {
  return new Failure('unauthenticated', `${logIn.message}. It was tried because ${question.message}`, {
    cause: new AggregateError([logIn, question]),
    said: logIn.said ?? question.said,
  })
}

const bearer = ({ text }: Token): string => `Bearer ${text}`
const isRefusal = (failure: unknown): failure is Failure =>
  failure instanceof Failure && failure.kind === 'unauthenticated'
const outageIn = (thrown: unknown): Failure | undefined => {
  const failure = asFailure(thrown)
  return isA('outage', failure) && failure.kind !== 'unauthenticated' ? failure : undefined
}
const isNoRefusal = (failure: unknown): boolean => !isRefusal(failure)
