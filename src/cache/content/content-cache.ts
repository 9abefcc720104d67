// Interface of the content cache: contents read, asked ahead, kept, handed out and dropped.
import type { ByteCount, Content, Instant, RequestContext } from '../../remote/remote.js'
import type { DownloadProgress } from './download/download-lifecycle.js'
import type { ScrubResult } from './maintenance.js'

/** All methods reject with a Failure; 'timeout' at the ask's deadline, while the download goes on. */
export interface ContentCache {
  /** The true size in bytes, from memory, from the service, or counted. */
  size(content: Content, context: RequestContext): Promise<ByteCount>
  /** The size where it is known; without a request. */
  knownSize(content: Content): ByteCount | undefined
  /** Fills `into` from `offset`, less only at the end; 0 at or after the end. */
  read(content: Content, offset: number, into: Uint8Array, context: RequestContext): Promise<number>
  /** The same at once, where the bytes were read moments ago; undefined where `read` must be asked. */
  readNow(content: Content, offset: number, into: Uint8Array): number | undefined
  /**
   * Downloads it at the question's priority before it is read, or joins the download under way; a reader that comes joins too.
   * Its length in bytes when it is whole or was kept before. One longer than `most` is left alone: its length as far as
   * the service told it, else more than `most`. The signal ends a download that no reader has come for.
   */
  prefetch(content: Content, context: RequestContext, most: number, signal?: AbortSignal): Promise<number>
  /**
   * Downloads all of it in the background, however long it is and whether a reader comes or not. Its length in bytes when it
   * is whole on this disk. 'timeout' at the context's deadline, while the download goes on.
   */
  keepWhole(content: Content, context: RequestContext): Promise<number>
  /** What must stay on this disk until it is cleared or another choice is made, by the names of `nameOf`. */
  pin(names: ReadonlySet<string>): void
  /** The name under which a content is kept: 64 hexadecimal digits. */
  nameOf(content: Content): string
  /** Whether its file is there now; other daemons remove some, too. */
  isOnDisk(content: Content): boolean
  /** What a kept file of this name takes on this disk, proof included: 0 for an empty one; undefined where there is none. */
  keptBytes(name: string): number | undefined
  /** When it was made, as the service said with its length, and never later than that was heard. Without a request. */
  modifiedAt(content: Content): Instant | undefined
  /** When it was last found to be another version than the one before; undefined for nearly all. Without a request. */
  replacedAt(content: Content): Instant | undefined
  /** How much of it is on this disk, from 0 to 1; without a request. */
  cached(content: Content): number
  forget(content: Content): Promise<void>
  /** Another daemon has found that the service holds another version of the content that goes by this name. */
  outdate(name: string): Promise<void>
  /** Asks the service about it now: what is kept stays only where a validator says that it is the same version still. */
  renew(content: Content, context: RequestContext): Promise<void>
  /** Stops abandoned downloads, drops what is over the limit, writes uses down. Called by itself every ten seconds. */
  maintain(): Promise<void>
  /** Checks kept files against their proofs and drops damaged ones; removes what dead processes left. */
  scrub(which?: 'all' | 'unproven', isMeant?: (name: string) => boolean): Promise<ScrubResult>
  /** Drops every kept file, or those that are meant; what is being downloaded goes on. */
  clear(isMeant?: (name: string) => boolean): Promise<{ readonly files: number; readonly bytes: number }>
  stats(): ContentStats
  /** The downloads under way. */
  progress(): readonly (DownloadProgress & { readonly content: Content })[]
  close(): Promise<void>
}

export interface ContentStats {
  readonly files: number
  readonly bytes: number
  readonly limitBytes: number
  readonly downloads: number
  readonly openFiles: number
}
