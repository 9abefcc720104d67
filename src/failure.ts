// Kinds of failure, one table: every HTTP status becomes one of them, and each of them an errno.
import { codeOf, systemSentence } from './system/error-code.js'

/** A failure as a value: one sentence for the user, a kind for programs, and the service's own message. */
export class Failure extends Error {
  override readonly name = 'Failure'
  /** The first 300 characters of the service's own message, if there was one. */
  readonly said: string | undefined
  /** Another server has answered in the place of the platform, with a page or a redirect: the platform was not reached. */
  readonly isForeign: boolean

  constructor(
    readonly kind: FailureKind,
    sentence: string,
    details: {
      cause?: unknown
      said?: string | undefined
      isForeign?: boolean
    } = {},
  ) {
    super(sentence, details.cause === undefined ? undefined : { cause: details.cause })
    this.said = details.said
    this.isForeign = details.isForeign ?? false
  }
}

/** Converts a thrown value to a Failure; an unexpected one is a bug and says so. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  if (fullCodes.has(codeOf(thrown) ?? ''))
    return new Failure('no-space', 'the local disk is full', { cause: thrown })
  const closed = closedPlace(thrown)
  if (closed !== undefined) {
    const sentence = `nothing can be written on the local disk at ${closed.path} (${closed.code})`
    return new Failure('disk-read-only', sentence, { cause: thrown })
  }
  const sentence = systemSentence(thrown) ?? (thrown instanceof Error ? thrown.message : String(thrown))
  return new Failure('internal', sentence, { cause: thrown })
}

const fullCodes = new Set(['ENOSPC', 'EDQUOT'])
const closedCodes = new Set(['EROFS', 'EACCES', 'EPERM'])

/** For what is remembered: until its stack is read as text, V8 holds what the frames ran on, sockets and their buffers. */
export function withoutFrames(failure: Failure): Failure {
  for (let one: unknown = failure; one instanceof Error; one = one.cause) String(one.stack)
  return failure
}

/** For a `catch` that only converts what was thrown. */
export function rethrow(thrown: unknown): never {
  throw asFailure(thrown)
}

/** The path of the local file system that cannot be written to, where the error says so. */
function closedPlace(thrown: unknown): { readonly path: string; readonly code: string } | undefined {
  const code = codeOf(thrown)
  const path = thrown instanceof Error && 'path' in thrown ? thrown.path : undefined
  return typeof path === 'string' && code !== undefined && closedCodes.has(code) ? { path, code } : undefined
}

/** Classes of failure: what a kind says about the requested thing, the service, and what was sent. */
type FailureClass =
  /** The service's own answer about the requested thing; it says nothing about other things. */
  | 'denial'
  /** A denial that the same request would meet again at once. */
  | 'settled'
  /** The service is away or faulty, or the sign-in has ended: nothing is known of the thing, and cached data still counts. */
  | 'outage'
  /** An outage in which every other request would fail as well, or wait in vain. */
  | 'away'
  /** An outage that may end without any action of the user. */
  | 'passing'
  /** The service, or the network before it, is overloaded. */
  | 'strain'
  /** The request may succeed if it is sent again. */
  | 'transient'
  /** A change may have been carried out all the same. */
  | 'undecided'
  /** Nothing was sent: cached data of the record stays valid. */
  | 'unsent'
  /** Everyday failures of programs, which are no trouble. */
  | 'everyday'

/** Each kind of failure: the errno that a program sees, and its classes. `remote/http/http.ts` makes kinds from HTTP. */
const kinds = {
  // reported by the service
  invalid: { errno: 'EINVAL', is: ['denial'] }, // 400, 422
  unauthenticated: { errno: 'EACCES', is: ['outage'] }, // no token serves: the sign-in has ended
  // 403, or 401 of this question alone after another log-in
  forbidden: { errno: 'EACCES', is: ['denial', 'settled'] },
  absent: { errno: 'ENOENT', is: ['denial', 'settled', 'everyday'] }, // 404, 410, or a record that is `null`
  // the service calls absent what it has listed, and nothing else shows that it is gone
  'in-doubt': { errno: 'ESTALE', is: [] },
  conflict: { errno: 'ESTALE', is: [] }, // 409, 412, or two clients edited one field
  replaced: { errno: 'ESTALE', is: [] }, // a content is another version than the one that is being read
  'another-thing': { errno: 'ESTALE', is: [] }, // the id stands for another thing than the intended one: nothing is sent
  'too-large': { errno: 'EFBIG', is: [] }, // 413
  busy: { errno: 'EBUSY', is: ['outage', 'passing', 'strain'] }, // 423, 429, 503 after retries
  unsupported: { errno: 'EOPNOTSUPP', is: ['denial', 'settled'] }, // 405, 501
  'service-full': { errno: 'ENOSPC', is: [] }, // 507
  // other 5xx, malformed answers, wrong lengths, a 200 that was not stored
  broken: { errno: 'EIO', is: ['outage', 'passing', 'transient', 'undecided'] },
  // the request may have been carried out; nothing may be sent again by itself
  'outcome-unknown': { errno: 'EIO', is: ['undecided'] },
  // met on the connection
  // a gateway in the place of the service refuses every request
  'refuses-all': { errno: 'EIO', is: ['outage', 'away', 'passing', 'undecided'] },
  timeout: { errno: 'ETIMEDOUT', is: ['outage', 'away', 'passing', 'strain', 'undecided'] }, // the deadline, 408, 504
  // refused, DNS, reset, breaker open
  unreachable: {
    errno: 'EHOSTUNREACH',
    is: ['outage', 'away', 'passing', 'strain', 'transient', 'undecided'],
  },
  untrusted: { errno: 'EPROTO', is: ['outage', 'away'] }, // TLS
  // reported by the drive
  'read-only': { errno: 'EROFS', is: [] },
  'not-permitted': { errno: 'EPERM', is: [] },
  'no-upload': { errno: 'EPERM', is: [] }, // a file in a place that takes none
  'not-json': { errno: 'EINVAL', is: ['unsent'] },
  refused: { errno: 'EINVAL', is: ['unsent'] }, // parsed, but not a record the service could take: never sent
  waiting: { errno: 'EBUSY', is: ['unsent'] }, // a text that is not saved is in the way
  'no-space': { errno: 'ENOSPC', is: ['unsent'] },
  'disk-read-only': { errno: 'EROFS', is: [] }, // the local disk lets nothing be written, or this user not
  'name-too-long': { errno: 'ENAMETOOLONG', is: [] },
  'name-not-utf8': { errno: 'EILSEQ', is: [] },
  'not-empty': { errno: 'ENOTEMPTY', is: [] },
  exists: { errno: 'EEXIST', is: [] },
  // the kernel expects another size of the file, and has to look it up again
  'stale-attributes': { errno: 'ESTALE', is: ['everyday'] },
  // a file whose deletion waited is there again, and the kernel has to look it up again
  'taken-back': { errno: 'EEXIST', is: ['everyday'] },
  'is-directory': { errno: 'EISDIR', is: [] },
  'not-directory': { errno: 'ENOTDIR', is: [] },
  'no-attribute': { errno: 'ENODATA', is: ['everyday'] },
  'bad-handle': { errno: 'EBADF', is: [] },
  internal: { errno: 'EIO', is: ['undecided'] }, // a bug of calcfs, logged with its stack
} as const satisfies Record<string, { errno: string; is: readonly FailureClass[] }>

export type FailureKind = keyof typeof kinds

export const errnoOf = (kind: FailureKind) => kinds[kind].errno

/** True if the failure is of this class. */
export const isA = (of: FailureClass, { kind }: Failure): boolean =>
  (kinds[kind].is as readonly FailureClass[]).includes(of)

/** True if the service says that the thing does not exist. False for what is no Failure. */
export const isAbsent = (thrown: unknown): thrown is Failure & { readonly kind: 'absent' } =>
  thrown instanceof Failure && thrown.kind === 'absent'

/** Undefined for a thing that does not exist. @throws everything else */
export function unlessAbsent(thrown: unknown): undefined {
  if (!isAbsent(thrown)) throw thrown
}

/** Undefined in the place of what is refused. @throws everything else */
export function unlessDenied(thrown: unknown): undefined {
  if (!isA('denial', asFailure(thrown))) throw thrown
}

/** Undefined for a failure: what it was asked for is not known now. @throws everything else, which is a bug */
export function unlessFailure(thrown: unknown): undefined {
  if (!(thrown instanceof Failure)) throw thrown
}

/** The end of a sentence that is true at the moment of its failure alone: what is kept for later leaves it out. */
export const looksAgain = '; calcfs looks again within 2 seconds'
