// Interface of reading a drive without a kernel: the entries of a tree, and whole files, by the rules of the verbs.
import * as z from 'zod'
import type { Failure } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import { instant } from '../../remote/remote.js'
import type { Told } from './control.js'

const patterns = z.array(z.string()).optional()

export const driveEntry = z.object({
  /** On the drive, with a leading slash, as it was reached: links on the way keep their names. */
  path: z.string(),
  type: z.enum(['file', 'directory', 'link']),
  /** As `user.calcfs.kind`: project, calculation, report, file, geometry … */
  kind: z.string(),
  /** Of the project, calculation, report or share that it belongs to. */
  id: z.string().optional(),
  mode: z.number(),
  /** In bytes; size and time are there where they were asked for. */
  size: z.number().optional(),
  mtime: z.number().transform(instant).optional(),
  target: z.string().optional(),
})

/** The chosen entries of a tree. Patterns are those of fnmatch(3); `*` takes a leading dot too, and no slash. */
const treeFilter = z.object({
  /** Patterns for the last name of what is meant, and for its path as it was reached: each has to match. */
  names: patterns,
  namesOfAnyCase: patterns,
  paths: patterns,
  /** `file`, `directory`, `link`, or the kind of what a directory stands for: `project`, `calculation`, `report`. */
  types: patterns,
  /** Of files and links, those that match one of these; a pattern with a slash is for the path below the tree's top. */
  include: patterns,
  /** An entry that matches one of these is left out, with all below it. */
  exclude: patterns,
})

export const readerQuestions = {
  tree: z.object({
    /** Where the tree begins. A link there is followed. */
    path: z.string(),
    /** How the top is called in paths that patterns are held against; as `path` if undefined. */
    calledAs: z.string().optional(),
    /** How many levels below it are shown; 0 is it alone, undefined is all. */
    depth: z.number().optional(),
    /** How many levels are left out at the top; nothing if undefined. */
    from: z.number().optional(),
    /** Sizes and times are wanted: of each file that may be a question to the service. */
    attributes: z.boolean(),
    /** Links below are shown as what they lead to. With or without them, what is met again below itself is a problem, so that every walk ends. */
    follow: z.boolean(),
    filter: treeFilter,
  }),
  file: z.object({ path: z.string() }),
}

export const fileFacts = z.object({
  mode: z.number(),
  size: z.number(),
  mtime: z.number().transform(instant),
})

export type DriveEntry = Told<typeof driveEntry>
export type EntryType = DriveEntry['type']
export type TreeFilter = Told<typeof treeFilter>
export type TreeQuestion = Told<(typeof readerQuestions)['tree']>
export type FileFacts = Told<typeof fileFacts>

export interface TreeProblem {
  readonly path: string
  readonly failure: Failure
}

export type TreeItem = DriveEntry | TreeProblem

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

export const isProblem = (item: TreeItem): item is TreeProblem => 'failure' in item
