// Reader of a drive: answers what a command asks of trees and files, over the verbs that the kernel uses.
import pLimit from 'p-limit'
import { asFailure, Failure } from '../../failure.js'
import { lastNameOf } from '../../layout.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { Clock } from '../../remote/clock.js'
import type { Attributes } from '../interface/attributes.js'
import type { PathDrive } from '../interface/path-drive.js'
import type { DriveEntry, DriveReader, EntryType, TreeItem, TreeQuestion } from '../interface/reader.js'
import { type CompiledFilter, compiledFilter, type FilteredName } from './filter.js'
import { isDirectoryMode, isLinkMode, withoutLinks } from './links.js'
import { type Seen, walkTree } from './tree-walk.js'
import { type FileVerbsUsed, readWhole } from './whole-file.js'

type VerbsUsed = FileVerbsUsed & Pick<PathDrive, 'getattr' | 'readdir' | 'readlink' | 'getxattr'>

/** A failure that a command met, for `calcfs why`. */
export type NoteFailure = (verb: string, path: string, failure: Failure) => void

/** A directory of a walk. */
interface Place {
  /** As it was reached, and the same without links. */
  readonly path: string
  readonly real: string
  readonly depth: number
  /** The things that it lies in, and it itself: a link or the service may lead to one of them again. */
  readonly lineage: readonly string[]
}

/** Sizes that one walk asks for side by side. */
const statsAtOnce = 64

export function openDriveReader(verbs: VerbsUsed, clock: Clock, note: NoteFailure): DriveReader {
  function problem(verb: string, path: string, thrown: unknown): TreeItem {
    const failure = asFailure(thrown)
    note(verb, path, failure)
    return { path, failure }
  }

  async function* tree(asked: TreeQuestion, signal: AbortSignal): AsyncGenerator<readonly TreeItem[]> {
    const filter = compiledFilter(asked.filter)
    const walk = openTreeLook(verbs, asked, filter, problem)
    yield* walkTree([await walk.top()], walk.look, signal)
  }

  return {
    tree,
    async file(path, sink, signal) {
      let isTaken = true
      const taking = (bytes: Uint8Array): MaybePromise<void> => {
        isTaken = false
        return chain(sink(bytes), () => {
          isTaken = true
        })
      }
      const { real, attributes } = await fileAt(verbs, path)
      const { mode, size, mtime } = attributes
      try {
        if (isDirectoryMode(mode)) throw new Failure('is-directory', `${path} is a directory`)
        const text = await readWhole(verbs, { path: real, size }, taking, { signal, clock })
        return { mode, size, mtime, ...text }
      } catch (thrown) {
        // A failure of the sink is none of the drive.
        if (!signal.aborted && isTaken) note('read', real, asFailure(thrown))
        throw thrown
      }
    },
  }
}

/** Most paths hold no link, and are looked up at once; a link on the way is no directory. */
async function fileAt(
  verbs: Pick<PathDrive, 'getattr' | 'readlink'>,
  path: string,
): Promise<{ readonly real: string; readonly attributes: Attributes }> {
  try {
    const attributes = await verbs.getattr(path)
    if (!isLinkMode(attributes.mode)) return { real: path, attributes }
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.kind !== 'not-directory') throw thrown
  }
  const real = await withoutLinks(verbs, path)
  return { real, attributes: await verbs.getattr(real) }
}

/** How one walk looks at its top and at each directory. */
function openTreeLook(
  verbs: VerbsUsed,
  asked: TreeQuestion,
  filter: CompiledFilter,
  problem: (verb: string, path: string, thrown: unknown) => TreeItem,
) {
  const stats = pLimit(statsAtOnce)
  const { depth: deepest = Number.POSITIVE_INFINITY, from = 0 } = asked
  const { calledAs = asked.path } = asked
  const restOf = (path: string, above: string): string => path.slice(above === '/' ? 0 : above.length)

  const named = ({ path, type, kind }: DriveEntry): FilteredName => ({
    name: lastNameOf(path),
    path: calledAs + restOf(path, asked.path),
    below: restOf(path, asked.path).slice(1),
    type,
    kind,
  })

  async function top(): Promise<Seen<Place>> {
    try {
      const real = await withoutLinks(verbs, asked.path)
      const attributes = await verbs.getattr(real)
      const entry = { path: asked.path, ...(await thingAt(verbs, real)), ...factsOf(attributes) }
      return seen(entry, { real, depth: 0, lineage: [] })
    } catch (thrown) {
      return { items: [problem('getattr', asked.path, thrown)] }
    }
  }

  /** The shown facts of an entry, and whether the walk enters it. */
  function seen(
    entry: DriveEntry,
    { real, depth, lineage }: Omit<Place, 'path'>,
    troubles: readonly TreeItem[] = [],
  ): Seen<Place> {
    const { path, type } = entry
    const isShown = depth >= from && filter.means(named(entry))
    const items = isShown ? [entry, ...troubles] : troubles
    if (type !== 'directory' || depth >= deepest) return { items }
    const thing = entry.id === undefined ? real : `${entry.kind} ${entry.id}`
    if (lineage.includes(thing)) {
      const loop = new Failure('invalid', `${path}: this is what it lies in itself; it is not entered again`)
      return { items: [...items, problem('readdir', path, loop)] }
    }
    return { items, enter: { path, real, depth, lineage: [...lineage, thing] } }
  }

  async function look(place: Place): Promise<readonly Seen<Place>[]> {
    try {
      const listing = await verbs.readdir(place.real)
      const entries = [...listing].sort((one, other) => (one.name < other.name ? -1 : 1))
      const all = await Promise.all(entries.map(entry => one(place, entry)))
      return all.filter(found => found !== undefined)
    } catch (thrown) {
      return [{ items: [problem('readdir', place.path, thrown)] }]
    }
  }

  function one(
    place: Place,
    { name, mode, kind, id }: { name: string; mode: number; kind: string; id: string | undefined },
  ): MaybePromise<Seen<Place> | undefined> {
    const path = below(place.path, name)
    const at = { real: below(place.real, name), depth: place.depth + 1, lineage: place.lineage }
    const entry = { path, type: typeOf(mode), kind, id, mode }
    if (filter.leavesOut(named(entry))) return undefined
    if (entry.type === 'link' && (asked.follow || asked.attributes)) return linkAt(entry, at)
    return described(entry, at)
  }

  /** A link that leads nowhere is shown as a link. */
  async function linkAt(entry: DriveEntry, at: Omit<Place, 'path'>): Promise<Seen<Place>> {
    try {
      const target = await verbs.readlink(at.real)
      if (!asked.follow) return await described({ ...entry, target }, at)
      const real = await withoutLinks(verbs, at.real)
      const { mode } = await verbs.getattr(real)
      const thing = await thingAt(verbs, real)
      return await described({ path: entry.path, ...thing, mode, type: typeOf(mode) }, { ...at, real })
    } catch (thrown) {
      return seen(entry, at, [problem('readlink', entry.path, thrown)])
    }
  }

  /** With size and time, where they are wanted. */
  function described(entry: DriveEntry, at: Omit<Place, 'path'>): MaybePromise<Seen<Place>> {
    if (!asked.attributes || at.depth < from || !filter.means(named(entry))) return seen(entry, at)
    return stats(async () => {
      try {
        const attributes = await verbs.getattr(at.real)
        return seen({ ...entry, ...factsOf(attributes) }, at)
      } catch (thrown) {
        return seen(entry, at, [problem('getattr', entry.path, thrown)])
      }
    })
  }

  return { top, look }
}

async function thingAt(
  verbs: Pick<PathDrive, 'getxattr'>,
  path: string,
): Promise<Pick<DriveEntry, 'kind' | 'id'>> {
  const kind = await verbs.getxattr(path, 'user.calcfs.kind')
  return { kind: kind ?? 'file', id: await verbs.getxattr(path, 'user.calcfs.id') }
}

const factsOf = ({
  mode,
  size,
  mtime,
}: Attributes): Pick<DriveEntry, 'type' | 'mode' | 'size' | 'mtime'> => ({
  type: typeOf(mode),
  mode,
  size,
  mtime,
})

function typeOf(mode: number): EntryType {
  if (isDirectoryMode(mode)) return 'directory'
  return isLinkMode(mode) ? 'link' : 'file'
}

const below = (directory: string, name: string): string =>
  directory === '/' ? `/${name}` : `${directory}/${name}`
