// Failures that are not the service's own: of a connection, by the error codes of Node and undici, and of another server in its place.
import { Failure, type FailureKind } from '../../failure.js'
import { codeOf } from '../../system/error-code.js'

const known: readonly (readonly [RegExp, FailureKind, string])[] = [
  [
    /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_(HEADERS|BODY)_TIMEOUT)$/,
    'timeout',
    'the service did not answer in time',
  ],
  [/^(ENOTFOUND|EAI_.*)$/, 'unreachable', 'the name of the service could not be found'],
  [/^ECONNREFUSED$/, 'unreachable', 'nothing answered at the address of the service'],
  [/^E(HOST|NET)(UNREACH|DOWN)$|^EADDRNOTAVAIL$/, 'unreachable', 'the network had no route to the service'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/, 'unreachable', 'the service closed the connection'],
  [/^UND_ERR_(CLOSED|DESTROYED)$/, 'unreachable', 'the connections to the service were closed here'],
  [/^UND_ERR_ABORTED$/, 'unreachable', 'the proxy refused the connection to the service'],
  [/^ERR_SSL_WRONG_VERSION_NUMBER$/, 'untrusted', 'plain http is spoken there (write http://), and no https'],
  [/^(EPROTO|ERR_TLS.*|ERR_SSL.*|UND_ERR_PRX_TLS)$/, 'untrusted', 'no secure connection could be made'],
  [
    /CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^INVALID_(CA|PURPOSE)$/,
    'untrusted',
    'the certificate is not trusted; see --ca-file',
  ],
  [/^(HTTPParserError|UND_ERR_(RES_|HEADERS_OVERFLOW).*)$/, 'broken', 'what came back is no proper HTTP'],
]

/** Converts what a connection threw to a Failure; an unknown error is a bug and keeps its stack as the cause. */
export function networkFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  const code = nameOrCode(thrown)
  for (const [form, kind, sentence] of known) {
    if (form.test(code))
      return new Failure(kind, `${sentence} (${code})`, { cause: withoutParserData(thrown) })
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new Failure('internal', message, { cause: thrown })
}

/** As `networkFailure`, for a body in transit: an early end is a cut answer. */
export function truncatedBodyFailure(thrown: unknown, received: number): Failure {
  if (
    /^(UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE|HTTPParserError|UND_ERR_RES_.*)$/.test(nameOrCode(thrown))
  ) {
    return new Failure('broken', `the answer was cut off after ${received} bytes`, { cause: thrown })
  }
  return networkFailure(thrown)
}

/** A parser error carries the bytes it met, which may hold anything and must reach no log. */
const withoutParserData = (thrown: unknown): unknown =>
  thrown instanceof Error && 'data' in thrown ? new Error(thrown.message) : thrown

/** undici's parser errors carry no code, only a name. */
const nameOrCode = (thrown: unknown): string =>
  thrown instanceof Error && thrown.name === 'HTTPParserError' ? thrown.name : (codeOf(thrown) ?? '')

const redirects = new Set([301, 302, 303, 307, 308])
/** Network Authentication Required, RFC 6585. */
const networkSignIn = 511

export const isRedirect = (status: number): boolean => redirects.has(status)

/** The platform sends no redirects, and asks for no sign-in to a network. */
export const isOtherServers = (status: number): boolean => isRedirect(status) || status === networkSignIn

/** The statuses of a gateway whose service is away, and of one that is broken. */
export const isFault = (status: number): boolean => status >= 500

/** A page or a redirect where the platform says JSON comes from another server: a captive portal, by a name that led there. */
export const isElsewhere = (status: number, { kind }: Failure): boolean =>
  kind === 'broken' && (!isFault(status) || isOtherServers(status))
