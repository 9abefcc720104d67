// Interface of reading a drive without a kernel: the entries of a tree, and whole files, by the rules of the verbs.
import type { Failure } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import type { Instant } from '../../remote/remote.js'

export type EntryType = 'file' | 'directory' | 'link'

/** One name of a drive. */
export interface DriveEntry {
  /** On the drive, with a leading slash, as it was reached: links on the way keep their names. */
  readonly path: string
  readonly type: EntryType
  /** As `user.calcfs.kind`: project, calculation, report, file, geometry … */
  readonly kind: string
  /** Of the project, calculation, report or share that it belongs to. */
  readonly id?: string | undefined
  /** File type and permission bits, as st_mode. */
  readonly mode: number
  /** In bytes; size and time are there where they were asked for. */
  readonly size?: number | undefined
  readonly mtime?: Instant | undefined
  /** Where a link leads, as readlink(2) tells it. */
  readonly target?: string | undefined
}

/** What could not be had. */
export interface TreeProblem {
  readonly path: string
  readonly failure: Failure
}

export type TreeItem = DriveEntry | TreeProblem

/** Which entries of a tree are meant. Patterns are those of fnmatch(3); `*` takes a leading dot too, and no slash. */
export interface TreeFilter {
  /** Patterns for the last name of what is meant, and for its path as it was reached: each has to match. */
  readonly names?: readonly string[] | undefined
  readonly namesOfAnyCase?: readonly string[] | undefined
  readonly paths?: readonly string[] | undefined
  /** `file`, `directory`, `link`, or the kind of what a directory stands for: `project`, `calculation`, `report`. */
  readonly types?: readonly string[] | undefined
  /** Of files and links, those that match one of these; a pattern with a slash is for the path below the tree's top. */
  readonly include?: readonly string[] | undefined
  /** What matches one of these is left out, with all below it. */
  readonly exclude?: readonly string[] | undefined
}

export interface TreeQuestion {
  /** Where the tree begins. A link there is followed. */
  readonly path: string
  /** What the paths of `include` and `exclude` begin below; `path` if undefined. */
  readonly top?: string | undefined
  /** How the top is called in paths that patterns are held against; as `path` if undefined. */
  readonly calledAs?: string | undefined
  /** How many levels below it are shown; 0 is it alone, undefined is all. */
  readonly depth?: number | undefined
  /** How many levels are left out at the top; nothing if undefined. */
  readonly from?: number | undefined
  /** Sizes and times are wanted: of each file that may be a question to the service. */
  readonly attributes: boolean
  /** Links below are shown as what they lead to. With or without them, what is met again below itself is a problem, so that every walk ends. */
  readonly follow: boolean
  readonly filter: TreeFilter
}

/** Takes bytes in their order; they are good until it is done. */
export type ByteSink = (bytes: Uint8Array) => MaybePromise<void>

export interface DriveReader {
  /**
   * The entries in the order of their names, each directory before what lies in it, in batches as they become known.
   * Directories are listed side by side, ahead of what is shown. What fails is an item, and the rest goes on.
   */
  tree(asked: TreeQuestion, signal: AbortSignal): AsyncIterable<readonly TreeItem[]>
  /**
   * A whole file into the sink; what it is, as it was before it was read.
   * @throws Failure 'replaced' where it became another version meanwhile: what the sink took is of no use then
   */
  file(path: string, sink: ByteSink, signal: AbortSignal): Promise<FileFacts>
}

/** Type and permission bits, bytes, and time of a file. */
export interface FileFacts {
  readonly mode: number
  readonly size: number
  readonly mtime: Instant
}

export const isProblem = (item: TreeItem): item is TreeProblem => 'failure' in item
