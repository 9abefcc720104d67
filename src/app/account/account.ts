// Account of a drive: the user of a service, and the directory that is kept for that account.
import { dirname, join } from 'node:path'
import { decodeJwt } from 'jose/jwt/decode'
import type { Config } from '../../config/config.js'
import { type Environment, type OwnDirectories, ownDirectories, ownParents } from '../../config/places.js'
import type { Secret } from '../../config/secret.js'
import { textHash } from '../../edit/journal/text-history.js'
import { makePrivateNow, ownTextNow, replaceFile } from '../../system/own-file.js'
import { exitCodes, Stop } from '../../terminal/exit.js'

export interface Account {
  readonly base: URL
  readonly user: string
  readonly places: OwnDirectories
  /** The directories above them that are of calcfs. */
  readonly parents: readonly string[]
  /** True if its token is kept in the keyring of the desktop, and not in a file. */
  readonly keyring: boolean
}

export function accountOf(base: URL, user: string, config: Config, environment: Environment): Account {
  const places = ownDirectories({ url: base.href, user }, config, environment)
  return { base, user, places, parents: ownParents(config, environment), keyring: config.keyring }
}

/**
 * The user: the one named, the one of a ready token, or that of the last log-in to this service.
 * @throws Stop where none of these is known
 */
export function knownAccount(
  base: URL,
  { config, secret }: { readonly config: Config; readonly secret: Secret | undefined },
  environment: Environment,
): Account {
  const noUser = accountOf(base, '', config, environment)
  const user = config.user ?? (secret?.as === 'token' ? subjectOf(secret.token, base) : lastUser(noUser))
  if (user !== undefined) return accountOf(base, user, config, environment)
  throw new Stop(
    exitCodes.signIn,
    `not signed in at ${base.origin}. Run calcfs login ${base.href}, or give --user.`,
  )
}

/** A token without a user gets a directory by its other claims except the times: those of the next token are the same. */
function subjectOf(token: string, base: URL): string {
  try {
    const { iat, exp, nbf, jti, ...claims } = decodeJwt(token)
    // By RFC 7519 a text; services write the user's number there, too.
    const subject: unknown = claims.sub
    if (typeof subject === 'string' || typeof subject === 'number') return String(subject)
    const listed = Object.entries(claims).toSorted(([one], [other]) => (one < other ? -1 : 1))
    const lasting = listed.length > 0 ? JSON.stringify(listed) : token
    return `token-${textHash(lasting).slice(0, 12)}`
  } catch (reason) {
    const sentence = `the token given is not one that ${base.href} would take; run calcfs login ${base.href}.`
    throw new Stop(exitCodes.signIn, sentence, { cause: reason })
  }
}

/** The directory without a user holds one line: the user of the last log-in. */
const lastUserFile = (noUser: Account): string => join(noUser.places.state, 'user')

const lastUser = (noUser: Account): string | undefined => ownTextNow(lastUserFile(noUser))?.trim()

/** So that later commands need no --user. */
export async function rememberUser(
  account: Account,
  config: Config,
  environment: Environment,
): Promise<void> {
  const noUser = accountOf(account.base, '', config, environment)
  await keepFile(lastUserFile(noUser), `${account.user}\n`)
}

/** Replaces a file of an account, in a directory that may not exist yet. */
export async function keepFile(file: string, text: string): Promise<void> {
  makePrivateNow(dirname(file))
  await replaceFile(file, text)
}
