// Session: credentials become a token, one log-in for all waiting requests, renewed in time and once if refused.

import { asFailure, Failure, isA, isAbsent } from '../../failure.js'
import { loginCommand } from '../../login-command.js'
import { openSingleFlight } from '../../single-flight.js'
import { type Askers, joinFor, openAskers } from '../askers.js'
import { lookedLongAgo } from '../client/late-answer.js'
import { type Clock, dueIn, withDeadline } from '../clock.js'
import { Http } from '../http/http.js'
import { firstQuestion } from '../known-question.js'
import { type Instant, instant, type RequestContext, requestLogOf } from '../remote.js'
import { openSharedAnswer, type SharedAnswer } from '../shared-answer.js'
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
  /** Who is to be signed in there, for the same messages. */
  readonly user?: string | undefined
  /** The path of a question that each valid token may send, and that this service answers. */
  readonly question?: (() => string) | undefined
  /** Called with failures that do not stop a request: a token that could not be stored. */
  readonly note: (failure: unknown) => void
}

/** One request with a token; a log-in before it makes the read it is based on stale. */
export type SignedQuestion<Value> = (authorization: string, context: RequestContext) => Promise<Value>

export interface Session {
  /**
   * Sends a request with a token, renewed once if refused.
   * @throws Failure 'unauthenticated' where no token serves, 'forbidden' where others are answered with it
   */
  ask<Value>(context: RequestContext, question: SignedQuestion<Value>): Promise<Value>
  /** The token in use; undefined before the first request, and after a refusal. */
  readonly token: Token | undefined
}

/** Milliseconds that a log-in may take. */
const loginLimit = 10_000
/** Milliseconds during which refused credentials are not tried again: that could lock the account. */
const refusalKept = 30_000
/** The same for credentials that were accepted before: a first refusal may be a passing fault of the service. */
const refusalsKeptOfKnown = [1_000, 10_000]
/** Milliseconds between two log-ins whose tokens are not accepted. */
const uselessLoginEvery = 30_000
/** Milliseconds for which an answer without a token says that the service is there. */
const answerKept = 5_000
/** Milliseconds between two looks whether a token that was refused, and that nothing can renew, is accepted again. */
const refusedTokenEvery = 1_500
/** The same where no token was accepted since the last one that was: the refusal may be a passing fault. */
const unservedLoginsEvery = [1_000, 10_000]

/** A session before its first request. */
export function openSession(http: Http, options: SessionOptions): Session {
  const { clock, address, question = () => firstQuestion } = options
  const mend = loginHint(address, options.user)
  let token: Token | undefined
  const logInFlight = openSingleFlight<Token>()
  let refused:
    | {
        readonly credentials: string
        readonly until: Instant
        readonly failure: Failure
        readonly times: number
      }
    | undefined
  const accepted = new Set<string>()
  /** Tokens that were refused, and when they had come: the service may give the same one again in a new log-in. */
  const bad = new Map<string, Instant | undefined>()
  let lookedAt = instant(Number.NEGATIVE_INFINITY)
  /** The callers that wait for a log-in: a silent log-in is sent once more when another caller joins. */
  const waiting = openAskers()
  let fruitlessUntil = instant(0)
  /** Until then the service counts as answering, for a sign-in that has ended. */
  let answeredUntil = instant(0)
  /** The log-ins since a token was last accepted: how many, and when the last of them ended. */
  let unserved = { times: 0, last: instant(0) }
  // Distinguishes a refused token from a request that is refused with any token.
  let served: { readonly text: string; readonly at: Instant } | undefined
  let checking: { readonly text: string; readonly answer: SharedAnswer<boolean> } | undefined

  function serves(by: Token): void {
    served = { text: by.text, at: clock.now() }
    unserved = { times: 0, last: unserved.last }
  }

  return {
    get token() {
      return token
    },
    ask(context, question) {
      const held = valid()
      if (held !== undefined) return askedWith(held, question, context)
      // It may have waited for a log-in that another request has begun.
      return current(context).then(fresh => askedWith(fresh, question, lookedLongAgo(context)))
    },
  }

  function askedWith<Value>(
    by: Token,
    question: SignedQuestion<Value>,
    context: RequestContext,
  ): Promise<Value> {
    const began = clock.now()
    return question(bearer(by), context).then(
      answer => {
        serves(by)
        return answer
      },
      failure => {
        if (!isRefusal(failure)) throw failure
        return askedAgain(by, question, context, { began, refusal: failure })
      },
    )
  }

  async function askedAgain<Value>(
    first: Token,
    question: SignedQuestion<Value>,
    context: RequestContext,
    { began, refusal }: { began: Instant; refusal: Failure },
  ): Promise<Value> {
    if (clock.now() < fruitlessUntil && !(await needsRenewal(first, began, context)))
      throw served?.text === first.text ? refusedAlone(refusal) : refusal
    if (token === first) token = undefined
    bad.set(first.text, first.received)
    const second = await current(context).catch(async failure => {
      // Without a log-in, a token that other requests are accepted with is as good as before.
      if (!isRefusal(failure) || served?.text !== first.text || !(await isServed(first, context)))
        throw failure
      bad.delete(first.text)
      token ??= first
      throw refusedAlone(failure === refused?.failure ? refusedTwice(failure, refusal) : refusal)
    })
    try {
      const answer = await question(bearer(second), lookedLongAgo(context))
      serves(second)
      return answer
    } catch (failure) {
      if (!isRefusal(failure)) throw failure
      fruitlessUntil = instant(clock.now() + uselessLoginEvery)
      if (!(await isServed(second, context))) throw failure
      serves(second)
      throw refusedAlone(failure)
    }
  }

  /** After a log-in that did not help a request: whether the token itself is refused, and was accepted before. */
  async function needsRenewal(by: Token, since: Instant, context: RequestContext): Promise<boolean> {
    if (token !== undefined && token !== by) return true
    if (served?.text !== by.text) return mayBeNone(by, context)
    if (served.at > since) return false
    return !(await isServed(by, context))
  }

  /** A token that was never accepted so far: checked again now and then. */
  async function mayBeNone(by: Token, context: RequestContext): Promise<boolean> {
    const pause = unservedLoginsEvery[unserved.times - 1] ?? uselessLoginEvery
    if (clock.now() < unserved.last + pause) return false
    if (!(await isServed(by, context))) return true
    serves(by)
    return false
  }

  /** Sends a question that every valid token may send: once for any number of refused requests. */
  async function isServed(by: Token, context: RequestContext): Promise<boolean> {
    if (checking?.text !== by.text) {
      const request = { method: 'GET', path: question(), authorization: bearer(by) } as const
      const answer = openSharedAnswer(clock, 'the token was not checked in time', within =>
        http.text(request, within).then(() => true, isNoRefusal),
      )
      checking = { text: by.text, answer }
    }
    return checking.answer.join(context).catch(isNoRefusal)
  }

  /** The token at hand, where it need not be renewed yet. */
  function valid(): Token | undefined {
    const renewal = token === undefined ? undefined : tokenRenewal(token)
    return renewal === undefined || clock.now() < renewal ? token : undefined
  }

  async function current(context: RequestContext): Promise<Token> {
    const present = valid()
    if (present !== undefined) return present
    const joins = logInFlight.isUnderWay
    try {
      return await logInUnderWay(context)
    } catch (failure) {
      // The failure of an earlier log-in says nothing about a log-in that begins now.
      if (!joins || isRefusal(failure) || clock.now() >= context.deadline) throw failure
      return logInUnderWay(context)
    }
  }

  /** Starts a log-in if none is under way. */
  async function logInUnderWay(context: RequestContext): Promise<Token> {
    const renewing = logInFlight.ask(renewed)
    const leave = joinFor(waiting, context.askers, () => true)
    requestLogOf(context)?.join(waiting.requests)
    try {
      return await withDeadline(renewing, context, clock, 'the log-in was not answered in time')
    } finally {
      leave()
    }
  }

  async function renewed(): Promise<Token> {
    const stored = await kept()
    const readable = stored instanceof Failure ? undefined : stored
    if (readable !== undefined && usable(readable, tokenRenewal)) {
      token = readable
      return readable
    }
    const credentials = await options.credentials()
    if (credentials === undefined) {
      // It cannot be renewed, so it is used to its end.
      if (readable !== undefined && usable(readable, tokenExpiry)) return readable
      if (stored instanceof Failure) throw stored
      if (readable !== undefined && (await isAcceptedAgain(readable))) return readable
      throw await unsigned(readable !== undefined)
    }
    if (stored instanceof Failure) options.note(stored)
    token = await exchanged(credentials)
    return token
  }

  /**
   * A sign-in that has ended cannot be renewed while the service is away, and is not what is wrong then: the outage is, in which
   * what is known is shown. Whether it is away is asked without a token, unless it has answered a moment ago.
   */
  async function unsigned(hasEnded: boolean): Promise<Failure> {
    if (hasEnded && clock.now() >= answeredUntil) {
      const away = await http
        .text({ method: 'GET', path: question() }, { ...dueIn(loginLimit, clock), askers: waiting })
        .then(nothingWrong, outageIn)
      if (away !== undefined) return away
      answeredUntil = instant(clock.now() + answerKept)
    }
    return new Failure('unauthenticated', `no valid sign-in at ${address} is known here; ${mend}`)
  }

  /** A refusal may have been a passing fault of the service: a token that nothing can renew is tried again, to its end. */
  async function isAcceptedAgain(refusedBefore: Token): Promise<boolean> {
    const end = tokenExpiry(refusedBefore)
    if (clock.now() < lookedAt + refusedTokenEvery || (end !== undefined && clock.now() >= end)) return false
    const request = { method: 'GET', path: question(), authorization: bearer(refusedBefore) } as const
    const isAccepted = await http.text(request, { ...dueIn(loginLimit, clock), askers: waiting }).then(
      () => true,
      // The record of the question may be deleted.
      isAbsent,
    )
    lookedAt = clock.now()
    if (!isAccepted) return false
    bad.delete(refusedBefore.text)
    token = refusedBefore
    serves(refusedBefore)
    return true
  }

  /** The stored token, or why it cannot be read; with credentials it is not needed. */
  function kept(): Promise<Token | Failure | undefined> {
    return options.store?.load().catch(asFailure) ?? Promise.resolve(undefined)
  }

  function usable(stored: Token, until: (token: Token) => Instant | undefined): boolean {
    const limit = until(stored)
    const isBad = bad.has(stored.text) && bad.get(stored.text) === stored.received
    return !isBad && (limit === undefined || clock.now() < limit)
  }

  async function exchanged(credentials: Credentials): Promise<Token> {
    if (credentials.with === 'token') {
      const ready = { text: tokenIn(credentials.token, clock.now()).text, received: undefined }
      if (!bad.has(ready.text) || (await isAcceptedAgain(ready))) return ready
      throw new Failure('unauthenticated', `${address} no longer takes the given token; ${mend}`)
    }
    const same = JSON.stringify([credentials.user, credentials.password])
    if (refused?.credentials === same && clock.now() < refused.until) throw refused.failure
    try {
      const fresh = await logIn(http, credentials, { clock, address, askers: waiting })
      refused = undefined
      accepted.add(same)
      unserved = { times: unserved.times + 1, last: clock.now() }
      await options.store?.save(fresh).catch(options.note)
      return fresh
    } catch (failure) {
      if (isRefusal(failure)) {
        const times = refused?.credentials === same ? refused.times + 1 : 0
        const kept = (accepted.has(same) ? refusalsKeptOfKnown[times] : undefined) ?? refusalKept
        refused = { credentials: same, until: instant(clock.now() + kept), failure, times }
      }
      throw failure
    }
  }
}

/** As in `SessionOptions`; a silent log-in is sent once more when another caller joins. */
export interface LogInOptions extends Pick<SessionOptions, 'clock' | 'address'> {
  readonly askers?: Askers
}

const loginHint = (address: string, user: string | undefined): string =>
  `run \`${loginCommand(address, user)}\``

/**
 * One log-in, for `calcfs login` too.
 * @throws Failure 'unauthenticated' if the service refuses user name or password
 */
export async function logIn(
  http: Http,
  credentials: Extract<Credentials, { with: 'password' }>,
  { clock, address, askers }: LogInOptions,
): Promise<Token> {
  const { user, password } = credentials
  if (user.includes(':')) throw new Failure('unauthenticated', 'a user name cannot hold a colon')
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const context = { ...dueIn(loginLimit, clock), askers }
  try {
    const answer = await http.text(
      { method: 'POST', path: '/login', authorization, repeatable: true },
      context,
    )
    return tokenIn(answer, clock.now())
  } catch (failure) {
    if (!(failure instanceof Failure) || !/^(unauthenticated|forbidden)$/.test(failure.kind)) throw failure
    const sentence = `${address} refused the log-in of ${user} (is the password wrong?); ${loginHint(address, user)}`
    throw new Failure('unauthenticated', sentence, { cause: failure, said: failure.said })
  }
}

/** Refused with a token that serves for other questions: it says nothing of the sign-in. */
function refusedAlone(thrown: unknown): Failure {
  const { message, said } = asFailure(thrown)
  return new Failure('forbidden', message, { cause: thrown, said })
}

/** A request and the log-in after it were refused, and the old token still works: the log-in is the cause. */
function refusedTwice(logIn: Failure, question: unknown): Failure {
  const first = asFailure(question)
  return new Failure('unauthenticated', `${logIn.message}. It was tried because ${first.message}`, {
    cause: new AggregateError([logIn, first]),
    said: logIn.said ?? first.said,
  })
}

const bearer = ({ text }: Token): string => `Bearer ${text}`
const isRefusal = (failure: unknown): failure is Failure =>
  failure instanceof Failure && failure.kind === 'unauthenticated'
function nothingWrong(): undefined {}
const outageIn = (thrown: unknown): Failure | undefined => {
  const failure = asFailure(thrown)
  return isA('outage', failure) && failure.kind !== 'unauthenticated' ? failure : undefined
}
const isNoRefusal = (failure: unknown): boolean => !isRefusal(failure)

/** The same service, every request signed. */
export const withAuthorization = ({ ask }: Http, session: Session): Http =>
  new Http((request, reading, context) =>
    session.ask(context, (authorization, within) => ask({ ...request, authorization }, reading, within)),
  )
