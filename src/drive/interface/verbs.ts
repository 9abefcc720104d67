// Interface of the kernel's verbs. An answer that needs no waiting comes at once, any other is promised.

import type { MaybePromise } from '../../maybe-promise.js'
import type { ByteOffset, Instant } from '../../remote/remote.js'
import type { Attributes } from './attributes.js'

/** What a file is opened for; `write-only` is O_WRONLY, through which nothing is read. */
export type OpenAccess = 'read' | 'write' | 'write-only'

/**
 * A handle is a whole number above 0, good until it is released. Paths are absolute on the drive. A verb that answers
 * soon may throw its Failure; every promise rejects with one.
 */
export interface Drive extends LookupVerbs, FileVerbs, NamespaceVerbs {}

/** What asks without changing anything. */
export interface LookupVerbs {
  getattr(path: string): MaybePromise<Attributes>
  readdir(path: string): Promise<Listing>
  readlink(path: string): Promise<string>
  statfs(): Promise<Space>
  getxattr(path: string, name: string): MaybePromise<string | undefined>
  listxattr(path: string): MaybePromise<readonly string[]>
}

/** What happens to a file by its handle, and how one is got. */
export interface FileVerbs {
  open(path: string, access: OpenAccess): MaybePromise<number>
  create(path: string): Promise<number>
  /** The number of bytes put into `target`; fewer than it takes only at the end. */
  read(handle: number, target: Uint8Array, offset: ByteOffset): MaybePromise<number>
  /** As `Attributes.version`, of what this handle reads. */
  versionOf(handle: number): string | undefined
  write(handle: number, bytes: Uint8Array, offset: ByteOffset): Promise<void>
  ftruncate(handle: number, size: ByteOffset): Promise<void>
  /** close(2) returns this answer; that of `release` is returned by no call. */
  flush(handle: number): MaybePromise<void>
  fsync(handle: number): Promise<void>
  release(handle: number): MaybePromise<void>
}

/** What changes the tree, or is refused. */
export interface NamespaceVerbs {
  truncate(path: string, size: ByteOffset): Promise<void>
  unlink(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  mkdir(path: string): Promise<void>
  rmdir(path: string): Promise<void>
  symlink(target: string, path: string): Promise<void>
  link(path: string): Promise<void>
  mknod(path: string): Promise<void>
  /** chmod and chown: editors copy them to a record; they change nothing. */
  change(path: string): Promise<void>
  touch(path: string, mtime: Instant): Promise<void>
  setxattr(path: string): Promise<void>
}

/** The entries of a directory; it is iterated once. */
export interface Listing extends Iterable<DirectoryEntry> {
  readonly length: number
}

export interface DirectoryEntry {
  readonly name: string
  /** Type bits of st_mode, for d_type. */
  readonly mode: number
  /** As `user.calcfs.kind`. */
  readonly kind: string
  /** Of the project, calculation, report or share that it belongs to. */
  readonly id: string | undefined
  /** Which thing it is, by its node's key. */
  readonly thing: string
  /** Its attributes, where they are known without a question. */
  known?(): Attributes | undefined
}

/** Space as statfs(2) shows it, in blocks of `frsize` bytes. */
export interface Space {
  readonly bsize: number
  readonly frsize: number
  readonly blocks: number
  readonly bfree: number
  readonly bavail: number
  readonly files: number
  readonly ffree: number
  readonly favail: number
  readonly namemax: number
}
