// Reader of a drive: answers what a command asks of trees and files, over the verbs that the kernel uses.
import pLimit from 'p-limit'
import { asFailure, Failure } from '../../failure.js'
import { lastNameOf } from '../../layout.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { Clock } from '../../remote/clock.js'
import { type Attributes, isDirectoryMode, isLinkMode, modeOf } from '../interface/attributes.js'
import type { DriveEntry, DriveReader, EntryType, TreeItem, TreeQuestion } from '../interface/reader.js'
import type { Drive } from '../interface/verbs.js'
import { type Dentry, nodeId, nodeKind } from '../nodes/node.js'
import { type Place, pathOf, placeBehindLinks } from '../nodes/place.js'
import { type CompiledFilter, compiledFilter, type FilteredName } from './filter.js'
import { type Seen, walkTree } from './tree-walk.js'
import { readWhole } from './whole-file.js'

interface WalkedDirectory {
  readonly path: string
  readonly place: Place
  readonly depth: number
  /** The things that it lies in, and it itself: a link or the service may lead to one of them again. */
  readonly lineage: readonly string[]
}

const statsAtOnce = 64

/** `note` takes a failure that a command met, for `calcfs why`. */
export function openDriveReader(
  drive: Drive,
  clock: Clock,
  note: (verb: string, path: string, failure: Failure) => void,
): DriveReader {
  function problem(verb: string, path: string, thrown: unknown): TreeItem {
    const failure = asFailure(thrown)
    note(verb, path, failure)
    return { path, failure }
  }

  return {
    async *tree(asked, signal) {
      const walk = openTreeLook(drive, asked, compiledFilter(asked.filter), problem)
      yield* walkTree([await walk.top()], walk.look, signal)
    },
    async file(path, sink, signal) {
      let isTaken = true
      const taking = (bytes: Uint8Array): MaybePromise<void> => {
        isTaken = false
        return chain(sink(bytes), () => {
          isTaken = true
        })
      }
      const place = await placeAtEnd(drive, path)
      const { mode, size, mtime } = await drive.getattr(place)
      try {
        if (isDirectoryMode(mode)) throw new Failure('is-directory', `${path} is a directory`)
        const text = await readWhole(drive, { place, size }, taking, { signal, clock })
        return { mode, size, mtime, ...text }
      } catch (thrown) {
        // A failure of the sink is none of the drive.
        if (!signal.aborted && isTaken) note('read', pathOf(place), asFailure(thrown))
        throw thrown
      }
    },
  }
}

const placeAtEnd = (drive: Drive, path: string, from?: Place): Promise<Place> =>
  placeBehindLinks(path, name => chain(drive.lookup(name), ({ node }) => node), from)

function openTreeLook(
  drive: Drive,
  asked: TreeQuestion,
  filter: CompiledFilter,
  problem: (verb: string, path: string, thrown: unknown) => TreeItem,
) {
  const stats = pLimit(statsAtOnce)
  const { calledAs = asked.path, depth: deepest = Number.POSITIVE_INFINITY, from = 0 } = asked
  const restOf = (path: string): string => path.slice(asked.path === '/' ? 0 : asked.path.length)

  const named = ({ path, type, kind }: DriveEntry): FilteredName => ({
    name: lastNameOf(path),
    path: calledAs + restOf(path),
    below: restOf(path).slice(1),
    type,
    kind,
  })

  async function top(): Promise<Seen<WalkedDirectory>> {
    try {
      const place = await placeAtEnd(drive, asked.path)
      const entry = { path: asked.path, ...thingAt(place), ...factsOf(await drive.getattr(place)) }
      return seen(entry, { place, depth: 0, lineage: [] })
    } catch (thrown) {
      return { items: [problem('getattr', asked.path, thrown)] }
    }
  }

  function seen(
    entry: DriveEntry,
    { place, depth, lineage }: Omit<WalkedDirectory, 'path'>,
    troubles: readonly TreeItem[] = [],
  ): Seen<WalkedDirectory> {
    const { path, type } = entry
    const isShown = depth >= from && filter.means(named(entry))
    const items = isShown ? [entry, ...troubles] : troubles
    if (type !== 'directory' || depth >= deepest) return { items }
    const thing = entry.id === undefined ? pathOf(place) : `${entry.kind} ${entry.id}`
    if (lineage.includes(thing)) {
      const loop = new Failure('invalid', `${path}: this is what it lies in itself; it is not entered again`)
      return { items: [...items, problem('readdir', path, loop)] }
    }
    return { items, enter: { path, place, depth, lineage: [...lineage, thing] } }
  }

  async function look(directory: WalkedDirectory): Promise<readonly Seen<WalkedDirectory>[]> {
    try {
      const { entries: listed } = await drive.readdir(directory.place)
      const entries = listed.toSorted((one, other) => (one.name < other.name ? -1 : 1))
      const all = await Promise.all(entries.map(entry => one(directory, entry)))
      return all.filter(found => found !== undefined)
    } catch (thrown) {
      return [{ items: [problem('readdir', directory.path, thrown)] }]
    }
  }

  function one(
    above: WalkedDirectory,
    { name, node }: Dentry,
  ): MaybePromise<Seen<WalkedDirectory> | undefined> {
    const place = { node, parent: above.place, name }
    const at = { place, depth: above.depth + 1, lineage: above.lineage }
    const path = `${above.path === '/' ? '' : above.path}/${name}`
    const mode = modeOf(node, false)
    const entry = { path, type: typeOf(mode), ...thingAt(place), mode }
    if (filter.leavesOut(named(entry))) return undefined
    if (node.kind !== 'link') return described(entry, at)
    if (asked.follow) return behindLink(entry, at, node.to)
    return described(asked.attributes ? { ...entry, target: node.to } : entry, at)
  }

  /** A link that leads nowhere is shown as a link. */
  async function behindLink(
    entry: DriveEntry,
    at: Omit<WalkedDirectory, 'path'>,
    to: string,
  ): Promise<Seen<WalkedDirectory>> {
    try {
      const place = await placeAtEnd(drive, to, at.place.parent)
      const { mode } = await drive.getattr(place)
      const thing = { path: entry.path, ...thingAt(place), mode, type: typeOf(mode) }
      return await described(thing, { ...at, place })
    } catch (thrown) {
      return seen(entry, at, [problem('readlink', entry.path, thrown)])
    }
  }

  function described(
    entry: DriveEntry,
    at: Omit<WalkedDirectory, 'path'>,
  ): MaybePromise<Seen<WalkedDirectory>> {
    if (!asked.attributes || at.depth < from || !filter.means(named(entry))) return seen(entry, at)
    return stats(async () => {
      try {
        return seen({ ...entry, ...factsOf(await drive.getattr(at.place)) }, at)
      } catch (thrown) {
        return seen(entry, at, [problem('getattr', entry.path, thrown)])
      }
    })
  }

  return { top, look }
}

const thingAt = ({ node }: Place) => ({ kind: nodeKind(node), id: nodeId(node) })

const factsOf = ({ mode, size, mtime }: Attributes) => ({ type: typeOf(mode), mode, size, mtime })

const typeOf = (mode: number): EntryType =>
  isDirectoryMode(mode) ? 'directory' : isLinkMode(mode) ? 'link' : 'file'
