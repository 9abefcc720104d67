// Who asks: credentials become a token, one log-in however many wait, renewed in time and once when it is refused.
import { asFailure, Failure } from '../failure.js'
import { type Clock, inTime } from './clock.js'
import type { Http } from './http.js'
import { type Ask, type Instant, instant } from './remote.js'
import { endOf, renewalOf, type Token, tokenIn } from './token.js'

export type Credentials =
  | { readonly with: 'password'; readonly user: string; readonly password: string }
  | { readonly with: 'token'; readonly token: string }

/** Asked again for every log-in, so that new credentials count at once. */
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
  /** Told of what went wrong beside the way: a token that could not be kept. */
  readonly note: (failure: unknown) => void
}

export interface Session {
  /** Asks with a token; a refused one is renewed once. @throws Failure 'unauthenticated' if that does not help */
  ask<Value>(ask: Ask, question: (authorization: string) => Promise<Value>): Promise<Value>
}

/** Milliseconds a log-in may take, whoever waits for it. */
const loginLimit = 10_000
/** Milliseconds during which refused credentials are not tried again: a locked account helps nobody. */
const refusalKept = 30_000
const mend = 'run `calcfs login`'

/** A session that nothing has been asked of yet. */
export function session(http: Http, options: SessionOptions): Session {
  const { clock } = options
  let token: Token | undefined
  let renewing: Promise<Token> | undefined
  let refused:
    | { readonly credentials: string; readonly until: Instant; readonly failure: Failure }
    | undefined
  const bad = new Set<string>()
  let fruitlessUntil = instant(0)

  return {
    async ask(ask, question) {
      const first = await current(ask)
      try {
        return await question(`Bearer ${first.text}`)
      } catch (failure) {
        if (!isRefusal(failure)) throw failure
        if (clock.now() < fruitlessUntil) throw failure
        if (token === first) token = undefined
        bad.add(first.text)
      }
      const second = await current(ask)
      return question(`Bearer ${second.text}`).catch(failure => {
        if (isRefusal(failure)) fruitlessUntil = instant(clock.now() + refusalKept)
        throw failure
      })
    },
  }

  async function current(ask: Ask): Promise<Token> {
    const renewal = token === undefined ? undefined : renewalOf(token)
    if (token !== undefined && (renewal === undefined || clock.now() < renewal)) return token
    renewing ??= renewed().finally(() => {
      renewing = undefined
    })
    return inTime(renewing, ask, clock, 'the log-in was not answered in time')
  }

  async function renewed(): Promise<Token> {
    const stored = await kept()
    const readable = stored instanceof Failure ? undefined : stored
    if (readable !== undefined && usable(readable, renewalOf)) {
      token = readable
      return readable
    }
    const credentials = await options.credentials()
    if (credentials === undefined) {
      // It cannot be renewed, so it serves to its end.
      if (readable !== undefined && usable(readable, endOf)) return readable
      if (stored instanceof Failure) throw stored
      throw new Failure('unauthenticated', `no valid sign-in is known here; ${mend}`)
    }
    if (stored instanceof Failure) options.note(stored)
    token = await exchanged(credentials)
    return token
  }

  /** The token that is kept, or why it cannot be read; with credentials it is not needed. */
  function kept(): Promise<Token | Failure | undefined> {
    return options.store?.load().catch(asFailure) ?? Promise.resolve(undefined)
  }

  function usable(stored: Token, until: (token: Token) => Instant | undefined): boolean {
    const limit = until(stored)
    return !bad.has(stored.text) && (limit === undefined || clock.now() < limit)
  }

  async function exchanged(credentials: Credentials): Promise<Token> {
    if (credentials.with === 'token') {
      const ready = { text: tokenIn(credentials.token, clock.now()).text, received: undefined }
      if (!bad.has(ready.text)) return ready
      throw new Failure('unauthenticated', `the service no longer takes the given token; ${mend}`)
    }
    const same = JSON.stringify([credentials.user, credentials.password])
    if (refused?.credentials === same && clock.now() < refused.until) throw refused.failure
    try {
      const fresh = await logIn(http, credentials, clock)
      refused = undefined
      await options.store?.save(fresh).catch(options.note)
      return fresh
    } catch (failure) {
      if (failure instanceof Failure && isRefusal(failure)) {
        refused = { credentials: same, until: instant(clock.now() + refusalKept), failure }
      }
      throw failure
    }
  }
}

/**
 * One log-in, for `calcfs login` too.
 * @throws Failure 'unauthenticated' if the service refuses user name or password
 */
export async function logIn(
  http: Http,
  credentials: Extract<Credentials, { with: 'password' }>,
  clock: Clock,
): Promise<Token> {
  const { user, password } = credentials
  if (user.includes(':')) throw new Failure('unauthenticated', 'a user name cannot hold a colon')
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const ask: Ask = { deadline: instant(clock.now() + loginLimit), lane: 'user' }
  try {
    const answer = await http.text({ method: 'POST', path: '/login', authorization, repeatable: true }, ask)
    return tokenIn(answer, clock.now())
  } catch (failure) {
    if (!(failure instanceof Failure) || !/^(unauthenticated|forbidden)$/.test(failure.kind)) throw failure
    const sentence = `the service refused the log-in of ${user}; ${mend}`
    throw new Failure('unauthenticated', sentence, { cause: failure, said: failure.said })
  }
}

const isRefusal = (failure: unknown): boolean =>
  failure instanceof Failure && failure.kind === 'unauthenticated'

/** The same service, every question signed. */
export function signedIn(http: Http, who: Session): Http {
  return {
    text: (request, ask) => who.ask(ask, authorization => http.text({ ...request, authorization }, ask)),
    readInto: (request, reader, ask) =>
      who.ask(ask, authorization => http.readInto({ ...request, authorization }, reader, ask)),
    content: (request, name, start, ask, end, of) =>
      who.ask(ask, authorization => http.content({ ...request, authorization }, name, start, ask, end, of)),
    head: (request, ask) => who.ask(ask, authorization => http.head({ ...request, authorization }, ask)),
    firstByte: (request, ask) =>
      who.ask(ask, authorization => http.firstByte({ ...request, authorization }, ask)),
    get guesses() {
      return http.guesses
    },
    close: http.close,
  }
}
