// Connects a configuration to a service: address, connections, account, sign-in, dialect.
import { readFileSync } from 'node:fs'
import type { Requests } from '../activity/kernel-calls.js'
import type { Config } from '../config/config.js'
import { findSecret, type Secret } from '../config/secret.js'
import { BadSetting } from '../config/settings.js'
import type { ClientOptions } from '../remote/client/client.js'
import type { TraceRequest } from '../remote/client/outgoing.js'
import { type Clock, systemClock } from '../remote/clock.js'
import { baseUrl } from '../remote/connection/address.js'
import { openHttp } from '../remote/http/http.js'
import { likelyQuestion } from '../remote/known-question.js'
import { type Dispensable, idForm, type ProjectId } from '../remote/remote.js'
import { Gate } from '../remote/rest/gate.js'
import { type Capabilities, operationOf } from '../remote/rest/lacking.js'
import { openRest } from '../remote/rest/rest.js'
import { type CredentialsSource, Session } from '../remote/session/session.js'
import { tokenEnd } from '../remote/session/token.js'
import { type DialectSettings, defaultFields } from '../remote/wire/names.js'
import { Wire } from '../remote/wire/wire.js'
import type { Configured } from '../terminal/settings.js'
import { knownAccount } from './account/account.js'
import { tokenStore } from './account/token-store.js'
import { openUnanswered } from './unanswered.js'

interface ConnectionHooks {
  /** Called for a token that could not be stored, or a malformed item of a listing. */
  readonly note?: (happened: unknown) => void
  readonly longAnswer?: ((bytes: number) => void) | undefined
  readonly trace?: TraceRequest | undefined
  readonly requests?: Requests | undefined
  readonly clock?: Clock
}

export function serviceBase(config: Config): URL {
  const { url, insecureHttp } = config
  if (url !== undefined) return baseUrl(url, insecureHttp ? 'anywhere' : 'loopback-only')
  throw new BadSetting(
    'no service is named, and no drive is meant that is mounted: give its address (mount, login, logout and doctor take it first, others with --url), a --profile, or url in the configuration file; calcfs drafts list prints the flags for texts on no drive.',
  )
}

/** The certificates of `--ca-file`, in PEM. @throws BadSetting where it cannot be read, or holds none */
export function authorityIn(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  let text: string
  try {
    text = readFileSync(file, 'latin1')
  } catch (cause) {
    throw new BadSetting(`--ca-file ${file}: cannot be read; give a PEM file.`, { cause })
  }
  if (/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/.test(text)) return text
  throw new BadSetting(`--ca-file ${file}: holds no certificate; give the PEM file of the authority.`)
}

const connectionsAtMost = 64

/** How the service is reached, and the limits of its use. */
export function clientOptions(config: Config): ClientOptions {
  const { maxRequests, bwlimit } = config
  const authority = authorityIn(config.caFile)
  return { base: serviceBase(config), connections: connectionsAtMost, authority, maxRequests, bwlimit }
}

/** A service used as the account's user; the first request signs in. */
export function connect({ config, sources }: Configured, hooks: ConnectionHooks = {}) {
  const { note = () => {}, longAnswer, trace, requests, clock = systemClock } = hooks
  const capabilities: Capabilities = { sizes: {} }
  const secret = findSecret(config, sources)
  const account = knownAccount(serviceBase(config), { config, secret }, sources.environment)
  const question = (besides?: string): string => likelyQuestion(capabilities, besides)
  const unanswered = openUnanswered(account.places.state, { now: clock.now, note })
  const plain = openHttp({
    ...clientOptions(config),
    clock,
    longAnswer,
    trace,
    counter: requests,
    unanswered,
    question,
  })
  const user = account.user.startsWith('token-') ? undefined : account.user
  const who = new Session(plain, {
    credentials: credentialsOf(account.user, secret),
    store: secret?.as === 'token' ? undefined : tokenStore(account),
    clock,
    address: account.base.href,
    user,
    from: secret?.from,
    question,
    note,
  })
  const speech = new Wire(dialectFor(config), note)
  const gate = new Gate(who.signed, capabilities, clock)
  const roots = config.root.filter(root => idForm.test(root)) as ProjectId[]
  const { client } = plain
  const remote = openRest(gate, speech, { answered: client.answered, user, roots })
  return {
    account,
    secret,
    remote,
    /** Learnt from its answers, and kept by the ledger. */
    capabilities,
    dialect: speech.dialect,
    /** True if the instance has no operation for it, as far as it is known. */
    lacks: (of: Dispensable): boolean =>
      gate.lacking.has(operationOf[of]) || gate.lacking.isDoubtful(operationOf[of]),
    /** True if one has to be asked for it first: until it answers, it counts as lacking. */
    doubts: (of: Dispensable): boolean => gate.lacking.isDoubtful(operationOf[of]),
    /** The operations that it is known to lack, and what follows, for people. */
    lacking: (): readonly string[] => gate.lacking.list(),
    /** Its end as far as it is known, and whether a password is at hand for the next log-in. */
    signIn: () => ({
      until: who.token === undefined ? undefined : tokenEnd(who.token),
      renewed: secret?.as === 'password',
    }),
    client,
    close: client.close,
  }
}

export type Connection = ReturnType<typeof connect>

/** @throws BadSetting for a field that calcfs has no name for */
function dialectFor({ dialect }: Config): DialectSettings {
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
