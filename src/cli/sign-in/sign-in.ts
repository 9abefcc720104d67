// `calcfs login` and `calcfs logout`: a password becomes a token, of which is said how long it lives and where it is kept.
import { loginCommand, typedFlags } from '../../advice.js'
import { type Account, accountOf, knownAccount, rememberUser } from '../../app/account/account.js'
import { forgetToken } from '../../app/account/token-store.js'
import { serviceBase } from '../../app/connect.js'
import { exchangeCredentials } from '../../app/sign-in.js'
import { findSecret } from '../../config/secret.js'
import type { Status } from '../../drive/interface/control.js'
import { readLeftDrafts } from '../../edit/journal/drafts.js'
import { asFailure, isA } from '../../failure.js'
import { drivesOfUser } from '../../mount/mount-point.js'
import { systemClock } from '../../remote/clock.js'
import { tokenEnd } from '../../remote/session/token.js'
import { isoText, localText } from '../../system/time-text.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { type JsonFlag, printFound, printJson, printLine } from '../../terminal/print.js'
import { askFor } from '../../terminal/prompt.js'
import type { Configured } from '../../terminal/settings.js'
import { statusOfEach } from '../control/daemon.js'

export async function login({ config, sources }: Configured, flags: JsonFlag): Promise<void> {
  const base = serviceBase(config)
  const secret = findSecret(config, sources)
  if (secret?.as === 'token')
    throw new Stop(
      exitCodes.usage,
      'a ready token is set, which needs no log-in; unset it to log in instead.',
    )
  const user = config.user ?? (await askedUser(base))
  const password =
    secret === undefined
      ? await askFor(`Password of ${user} at ${base.host}: `, 'hidden')
      : await secret.read()
  const account = accountOf(base, user, config, sources.environment)
  const token = await exchangeCredentials(account, password, config).catch((thrown: unknown) => {
    throw refusedPassword(thrown, account, secret?.from)
  })
  await rememberUser(account, config, sources.environment)
  const place = config.keyring ? 'the keyring' : account.places.state
  const end = tokenEnd(token)
  const until = end === undefined ? undefined : isoText(end)
  printFound(
    flags,
    { service: base.href, user, until, keptIn: config.keyring ? 'keyring' : place },
    `Signed in to ${base.href} as ${user}, ${lifeOf(end)}; the token is kept in ${place}.`,
  )
}

/** `end` in milliseconds since 1970. */
const lifeOf = (end: number | undefined): string =>
  end === undefined
    ? 'for as long as the service takes the token, which does not say its end'
    : `until ${localText(end)}`

/** Replaces the advice that a mount gives, which is to run this command. */
function refusedPassword(thrown: unknown, { base, user }: Account, from = 'password'): unknown {
  const failure = asFailure(thrown)
  const words = `${failure.message}; check the address and the network, and try again. Nothing was changed.`
  if (isA('away', failure)) return new Stop(exitCodes.unreachable, `${base.host} cannot be reached: ${words}`)
  if (failure.kind === 'absent') return new Stop(exitCodes.failed, `no log-in at ${base.href}: ${words}`)
  if (failure.kind !== 'unauthenticated' || asFailure(failure.cause).kind === 'internal') return thrown
  const said = failure.said === undefined ? '' : ` (the service said: ${failure.said})`
  return new Stop(
    exitCodes.signIn,
    `${base.host} refused the password of ${user}${said}; check user name and ${from}, and try again. Nothing was changed.`,
  )
}

/** A pipe delivers one line, the password. */
function askedUser(base: URL): Promise<string> {
  if (process.stdin.isTTY) return askFor(`User name at ${base.host}: `, 'shown')
  throw new Stop(exitCodes.usage, 'this is no terminal to ask for a user name; give --user.')
}

export async function logout({ config, sources }: Configured, { json }: JsonFlag): Promise<void> {
  const account = knownAccount(serviceBase(config), { config, secret: undefined }, sources.environment)
  const { base, user, places } = account
  const was = await forgetToken(account)
  const [drives, unsaved] = await Promise.all([drivesOf(account), unsavedIn(places.state)])
  if (json === true) {
    const mounted = drives.map(({ mountPoint }) => mountPoint)
    printJson({ service: base.href, user, wasSignedIn: was, mounted, unsaved, keptIn: places.state })
    return
  }
  printLine(was ? `Signed out ${user} of ${base.href}.` : `${user} was not signed in to ${base.href}.`)
  for (const line of drives.flatMap(drive => mountedLines(drive, base.href))) printLine(line)
  if (unsaved > 0)
    printLine(
      `${unsaved} unsaved ${unsaved === 1 ? 'text is' : 'texts are'} kept in ${places.state}; ${loginCommand(base.href, user)} and calcfs drafts send --all ${typedFlags({ url: base.href, user })} save what waits.`,
    )
}

function mountedLines({ mountPoint, signedInUntil, signInRenewed, unsent }: Status, url: string): string[] {
  const until = signedInUntil === undefined ? 'its end' : localText(signedInUntil)
  const goesOn = signInRenewed
    ? 'it has a password of its own, and signs in again by itself'
    : `it uses the token it has until ${until}, then answers EACCES until calcfs login ${url}`
  const waiting = unsent.length === 0 ? '' : `; ${unsent.length} unsaved, which stay`
  return [`${mountPoint} is still mounted: ${goesOn}${waiting}. calcfs unmount ${mountPoint} ends it.`]
}

/** A daemon that does not answer is left out: nothing is known of its sign-in. */
async function drivesOf({ base, user }: Account): Promise<readonly Status[]> {
  const all = await statusOfEach((await drivesOfUser()).map(({ path }) => path))
  return all.filter(status => status.service === base.href && status.user === user)
}

/** Those that no daemon has; none where there is no directory for them. */
async function unsavedIn(stateDirectory: string): Promise<number> {
  const { left, damaged } = await readLeftDrafts(stateDirectory, systemClock.now)
  return left.length + damaged.length
}
