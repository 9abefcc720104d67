// Interface of a drive and its mount: the kernel's verbs, where an answer that needs no waiting comes at once and any other is promised, and the news for the kernel.
import type { StatsFs } from 'node:fs'
import type { MaybePromise } from '../../maybe-promise.js'
import type { ByteOffset, Instant } from '../../remote/remote.js'
import type { ProcessId } from '../../system/process.js'
import type { Dentry, Node } from '../nodes/node.js'
import type { Name, Place } from '../nodes/place.js'
import type { Attributes } from './attributes.js'

/** The purpose of an open; `write-only` is O_WRONLY, through which nothing is read. */
export type OpenAccess = 'read' | 'write' | 'write-only'

const accesses: readonly OpenAccess[] = ['read', 'write-only', 'write']

/** Of the flags of open(2), whose last two bits are O_ACCMODE. */
export const accessOf = (flags: number): OpenAccess => accesses[flags & 0o3] ?? 'write'

/** Who asks, as far as it is known: through libfuse it is not. */
export interface Call {
  readonly process: ProcessId | undefined
}

/**
 * A verb takes a place that was looked up, or a name in a directory; never a path. A handle is a whole number above 0, good
 * until it is released. A verb that answers soon may throw its Failure; every promise rejects with one.
 */
export interface Drive extends LookupVerbs, FileVerbs, NamespaceVerbs {}

export interface LookupVerbs {
  lookup(name: Name): MaybePromise<Attributes>
  getattr(place: Place): MaybePromise<Attributes>
  readdir(directory: Place): Promise<Listing>
  readlink(place: Place): string
  statfs(): Promise<Space>
  /** Grows when what was answered may be another thing by now, and no news tell so. */
  revision(): number
  getxattr(place: Place, name: string): MaybePromise<string | undefined>
  listxattr(place: Place): MaybePromise<readonly string[]>
}

export interface FileVerbs {
  open(place: Place, access: OpenAccess, call?: Call): MaybePromise<number>
  create(name: Name, call?: Call): Promise<number>
  /** The number of bytes put into `target`; fewer than it takes only at the end. */
  read(handle: number, target: Uint8Array, offset: ByteOffset): MaybePromise<number>
  /** Size and time of the text that this handle goes on showing; undefined where it shows no text of its own. */
  textOf(handle: number): { readonly size: number; readonly mtime: Instant } | undefined
  write(handle: number, bytes: Uint8Array, offset: ByteOffset): Promise<void>
  ftruncate(handle: number, size: ByteOffset): Promise<void>
  /** close(2) returns this answer; that of `release` is returned by no call. */
  flush(handle: number): MaybePromise<void>
  fsync(handle: number): Promise<void>
  release(handle: number): MaybePromise<void>
}

export interface NamespaceVerbs {
  truncate(place: Place, size: ByteOffset): Promise<void>
  unlink(name: Name): Promise<void>
  rename(from: Name, to: Name, call?: Call): Promise<void>
  mkdir(name: Name): Promise<void>
  rmdir(name: Name): Promise<void>
  symlink(target: string, name: Name): Promise<void>
  link(name: Name): Promise<void>
  mknod(name: Name): Promise<void>
  /** chmod and chown: editors copy them to a record; they change nothing. */
  change(place: Place): Promise<void>
  touch(place: Place, mtime: Instant): Promise<void>
  setxattr(place: Place): Promise<void>
}

export interface Listing {
  readonly entries: readonly Dentry[]
  /** Until when these are its names, while the drive's revision stays; undefined where that cannot be said. */
  readonly until?: Instant | undefined
  /** The attributes of one of them, where they are known without a question. */
  known(node: Node): Attributes | undefined
}

/** Space as statfs(2) shows it, in blocks of `bsize` bytes. */
export type Space = Readonly<Omit<StatsFs, 'type'>>

/** Directories whose names, sizes or times, or texts which, are others now, by their nodes' keys. */
export type NewsSubject = readonly string[] | 'all'

export class KernelNews {
  /** One at most, for a drive has one mount; none where it has ended. */
  listener: { hear(subject: NewsSubject): void } | undefined

  /** The drive answers by the new state already. When this returns, the kernel knows. */
  tell(subject: NewsSubject): void {
    this.listener?.hear(subject)
  }
}
