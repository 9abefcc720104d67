// The way from a configuration to a service one can ask: address, connections, account, sign-in, dialect.
import { readFileSync } from 'node:fs'
import { type Config, requireUrl } from '../config/config.js'
import { findSecret, type Secret } from '../config/secret.js'
import { BadSetting } from '../config/settings.js'
import { type Clock, systemClock } from '../remote/clock.js'
import { baseUrl } from '../remote/connection/address.js'
import { http } from '../remote/http/http.js'
import type { LineOptions } from '../remote/pipeline/request-pipeline.js'
import type { Dialect, Remote } from '../remote/remote.js'
import type { Learned } from '../remote/rest/capabilities.js'
import { rest } from '../remote/rest/rest.js'
import { type CredentialsSource, session, signedIn } from '../remote/session/session.js'
import { type DialectSettings, defaultFields, wire } from '../remote/wire/wire.js'
import type { Configured } from '../terminal/settings.js'
import { type Account, knownAccount, tokenStore } from './account.js'

export interface Connection {
  readonly account: Account
  readonly remote: Remote
  readonly dialect: Dialect
  /** How many guesses may be under way side by side, now. */
  guesses(): number
  /** Ends every connection. */
  close(): Promise<void>
}

/** What the owner of a connection keeps over restarts, and what it is told beside the way. */
export interface Beside {
  readonly learned: Learned
  /** A token that could not be kept, an item of a listing that made no sense. */
  readonly note: (happened: unknown) => void
  /** Told of each long answer that was read. */
  readonly longAnswer?: ((bytes: number) => void) | undefined
  /** The machine's own if not given. */
  readonly clock?: Clock
}

/** The base address that the configuration means. @throws Failure 'refused', BadSetting */
export function baseOf(config: Config): URL {
  return baseUrl(requireUrl(config), config.insecureHttp ? 'anywhere' : 'loopback-only')
}

/** How the service is reached, and how hard it may be asked. */
export function lineOptions(config: Config): LineOptions {
  const { connections, maxRequests, maxAnswer, bwlimit } = config
  const authority = config.caFile === undefined ? undefined : certificateIn(config.caFile)
  return { base: baseOf(config), connections, authority, maxRequests, maxAnswer, bwlimit }
}

/** A service that is asked as the account's user; the first question signs in. */
export function connected({ config, sources }: Configured, beside: Beside): Connection {
  const { learned, note, longAnswer, clock = systemClock } = beside
  const secret = findSecret(config, sources)
  const account = knownAccount(baseOf(config), { config, secret }, sources.environment)
  const plain = http({ ...lineOptions(config), clock, longAnswer })
  const who = session(plain, {
    credentials: credentialsOf(account.user, secret),
    store: secret?.as === 'token' ? undefined : tokenStore(account),
    clock,
    address: account.base.href,
    note,
  })
  const speech = wire(dialectOf(config), note)
  const remote = rest(signedIn(plain, who), speech, learned)
  return { account, remote, dialect: speech.dialect, guesses: () => plain.guesses, close: plain.close }
}

/** @throws BadSetting for a field that calcfs has no name for */
function dialectOf({ dialect }: Config): DialectSettings {
  const unknown = Object.keys(dialect.fields ?? {}).find(name => !Object.hasOwn(defaultFields, name))
  if (unknown === undefined) return dialect
  const known = Object.keys(defaultFields).join(', ')
  throw new BadSetting(`[dialect.fields] knows no '${unknown}'; there are ${known}.`)
}

function credentialsOf(user: string, secret: Secret | undefined): CredentialsSource {
  return async () => {
    if (secret === undefined) return undefined
    if (secret.as === 'token') return { with: 'token', token: secret.token }
    return { with: 'password', user, password: await secret.read() }
  }
}

function certificateIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (reason) {
    throw new BadSetting(`--ca-file ${file}: cannot be read; give a PEM file.`, { cause: reason })
  }
}
