// Sign-in before a mount: when to ask at the terminal, a wrong password reported while the terminal is still there, and the first request.
import type { Config } from '../config/config.js'
import { findSecret, typedPassword } from '../config/secret.js'
import { asFailure, type Failure } from '../failure.js'
import { systemClock } from '../remote/clock.js'
import { openHttp } from '../remote/http/http.js'
import { logIn } from '../remote/session/session.js'
import type { Token } from '../remote/session/token.js'
import { badSettingIn, exitCodeOf, exitCodes, Stop } from '../terminal/exit.js'
import { askFor } from '../terminal/prompt.js'
import type { Configured } from '../terminal/settings.js'
import { type Account, knownAccount } from './account/account.js'
import { hasLivingToken, tokenStore } from './account/token-store.js'
import type { AssembledDrive } from './assemble.js'
import { type Connection, clientOptions, serviceBase } from './connect.js'

/**
 * Exchanges a password for a token, and keeps the token.
 * @throws Failure 'unauthenticated' where the service refuses it
 */
export async function exchangeCredentials(
  account: Account,
  password: string,
  config: Config,
  from?: string,
): Promise<Token> {
  const plain = openHttp(clientOptions(config))
  try {
    const credentials = { with: 'password', user: account.user, password } as const
    const token = await logIn(plain, credentials, { clock: systemClock, address: account.base.href, from })
    await tokenStore(account).save(token)
    return token
  } finally {
    await plain.client.close()
  }
}

/**
 * Asks at the terminal where no sign-in is known. A typed password lives only in this process and the one it starts.
 * @throws Stop where nothing was typed
 */
export async function withPassword(given: Configured): Promise<Configured> {
  const { config, sources } = given
  if (findSecret(config, sources) !== undefined || !process.stdin.isTTY) return given
  const account = knownAccount(serviceBase(config), { config, secret: undefined }, sources.environment)
  if (await hasLivingToken(account, systemClock.now())) return given
  const password = await askFor(`Password of ${account.user} at ${account.base.host}: `, 'hidden')
  const environment = { ...sources.environment, CALCFS_USER: account.user, [typedPassword]: password }
  return { config, sources: { ...sources, environment } }
}

/** Why the service refuses the password that is being tried; undefined if accepted, or without an answer. Never rejects. */
type LoginRefusal = () => Promise<Failure | undefined>

export const notTried: LoginRefusal = async () => undefined

/**
 * Tries an available password, although an earlier token would still do: a wrong one would end the drive hours later. Without
 * such a token the first request signs in with it.
 * @throws BadSetting where the password cannot be read
 */
export async function triedPassword(
  config: Config,
  { account, secret }: Pick<Connection, 'account' | 'secret'>,
): Promise<LoginRefusal> {
  if (secret?.as !== 'password') return notTried
  const hasToken = await hasLivingToken(account, systemClock.now())
  if (!hasToken) await secret.readAhead()
  if (!hasToken || !secret.atHand) return notTried
  const password = await secret.read()
  const tried = exchangeCredentials(account, password, config, secret.from).then(() => undefined, refusalIn)
  return () => tried
}

/** Any other failure is reported by the first request. */
function refusalIn(thrown: unknown): Failure | undefined {
  const failure = asFailure(thrown)
  return failure.kind === 'unauthenticated' ? failure : undefined
}

/**
 * The first request of a drive, before anything is mounted or shown: a wrong password or address ends here with a sentence.
 * An outage is an end only where nothing of the service is cached; else its sentence is returned.
 * @throws Stop, BadSetting for a password that cannot be read, which is no outage
 */
export async function introduced(
  line: Pick<AssembledDrive, 'introduce' | 'knowsService' | 'missingRoots'>,
  account: Account,
  refusal: LoginRefusal,
): Promise<string | undefined> {
  const met = await line.introduce()
  // Without an answer from the service the password is not verified either.
  const failure = met === undefined ? await refusal() : met
  if (failure === undefined) {
    refuseMissingRoots(await line.missingRoots(), account)
    return undefined
  }
  const setting = badSettingIn(failure)
  if (setting !== undefined) throw setting
  if (failure.kind === 'unauthenticated')
    throw new Stop(
      exitCodes.signIn,
      `${account.base.origin} does not let ${account.user} in: ${failure.message}`,
    )
  if (line.knowsService)
    return `the service does not answer, the drive shows what is known: ${failure.message}.`
  throw new Stop(
    exitCodeOf(failure) === exitCodes.unreachable ? exitCodes.unreachable : exitCodes.failed,
    `${account.base.href} does not answer as the platform does: ${failure.message}; check the address, or run calcfs doctor.`,
  )
}

/** A mistyped root would be an empty drive. */
function refuseMissingRoots(missing: readonly string[], { base }: Account): void {
  if (missing.length === 0) return
  const roots = missing.map(root => `--root ${root}`).join(', ')
  throw new Stop(
    exitCodes.usage,
    `${roots}: ${base.host} knows no such project; give the path that its web pages show, as /db/<user>/<project>, or the number of a project.`,
  )
}
