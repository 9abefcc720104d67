// The one table from failure kinds to errno names; `mount/fuse.ts` knows the numbers.
import type { FailureKind } from '../../failure.js'

const table = {
  invalid: 'EINVAL',
  unauthenticated: 'EACCES',
  forbidden: 'EACCES',
  absent: 'ENOENT',
  'in-doubt': 'ESTALE',
  conflict: 'ESTALE',
  replaced: 'ESTALE',
  'another-thing': 'ESTALE',
  'too-large': 'EFBIG',
  busy: 'EBUSY',
  unsupported: 'EOPNOTSUPP',
  'service-full': 'ENOSPC',
  broken: 'EIO',
  'outcome-unknown': 'EIO',
  'refuses-all': 'EIO',
  timeout: 'ETIMEDOUT',
  unreachable: 'EHOSTUNREACH',
  untrusted: 'EPROTO',
  'read-only': 'EROFS',
  'not-permitted': 'EPERM',
  'no-upload': 'EPERM',
  'not-json': 'EINVAL',
  refused: 'EINVAL',
  'no-space': 'ENOSPC',
  'disk-read-only': 'EROFS',
  'name-too-long': 'ENAMETOOLONG',
  'name-not-utf8': 'EILSEQ',
  'not-empty': 'ENOTEMPTY',
  exists: 'EEXIST',
  'stale-attributes': 'ESTALE',
  'taken-back': 'EEXIST',
  'is-directory': 'EISDIR',
  'not-directory': 'ENOTDIR',
  'no-attribute': 'ENODATA',
  'bad-handle': 'EBADF',
  internal: 'EIO',
} as const satisfies Record<FailureKind, string>

export type ErrnoName = (typeof table)[FailureKind]

export function errnoOf(kind: FailureKind): ErrnoName {
  return table[kind]
}
