// Lookup verbs: stat, readdir, readlink, statfs and xattrs.
import { Failure, isAbsent } from '../failure.js'
import { chain, type MaybePromise } from '../maybe-promise.js'
import { type Content, type Instant, instant, type RequestContext } from '../remote/remote.js'
import type { DriveParts } from './context.js'
import { type Attributes, bytesOf, listingOf, modeOf } from './interface/attributes.js'
import type { Listing, LookupVerbs } from './interface/verbs.js'
import {
  type DatedNode,
  type Dentry,
  type DirectoryNode,
  filterEntries,
  isDirectory,
  isEditable,
  type Node,
  nodeKey,
} from './nodes/node.js'
import { directoryIn, type Place, pathOf } from './nodes/place.js'
import type { TextSnapshot } from './records/source.js'

/** A directory's st_size means nothing here; this is what most file systems show. */
const directorySize = 4096

export function openLookupVerbs(parts: DriveParts, until: () => RequestContext): LookupVerbs {
  const { catalog, content, identities, scratch, times, tree, writeSide } = parts
  const { records } = writeSide

  /** The mode comes last: reading a record tells whether it is published. */
  function attributes(
    node: Node,
    above: Node | undefined,
    context: RequestContext,
  ): MaybePromise<Attributes> {
    return chain(sizeAndTime(node, context), ({ size, mtime }) => {
      const unsaved = isEditable(node) && records.draftOf(nodeKey(node)) !== undefined
      const replaced = node.kind === 'content' ? content.replacedAt(node.content) : undefined
      const mode = modeOf(node, mayBeWritten(node), unsaved)
      const listing = listingOf(node, above)
      return {
        mode,
        size,
        // The kernel keeps a file's pages until its time moves: another version has a later one.
        mtime: replaced === undefined ? mtime : instant(Math.max(replaced, mtime + 1)),
        node,
        bytes: bytesOf(node),
        isChanging: unsaved,
        replaced,
        // The list of files does not tell a content that the service makes.
        until: listing && !isDerived(node) ? namesHoldUntil(listing) : undefined,
        listedBy: listing && nodeKey(listing),
      }
    })
  }

  function sizeAndTime(
    node: Node,
    context: RequestContext,
  ): MaybePromise<Pick<Attributes, 'size' | 'mtime'>> {
    switch (node.kind) {
      case 'record':
      case 'new':
      case 'order':
        return records.stat(writeSide.source(node), context)
      case 'generated':
        return parts.generated.look(node, context).then(sizeOfText)
      case 'content':
        return chain(sizeOf(node.content, context), size => ({
          size,
          mtime: content.modifiedAt(node.content) ?? timeOf(node),
        }))
      case 'scratch':
        return scratch.stat(node.place)
      case 'draft-text':
        return parts.drafts.read(node.name).then(sizeOfText)
      case 'link':
        return { size: Buffer.byteLength(node.to), mtime: times.first(nodeKey(node), undefined) }
      case 'project':
      case 'calculation':
        return { size: directorySize, mtime: timeOf(node) }
      default:
        return { size: directorySize, mtime: times.first(nodeKey(node), undefined) }
    }
  }

  function namesHoldUntil(directory: DirectoryNode): Instant | undefined {
    if (directory.kind === 'project') return catalog.children(directory.id).freshUntil()
    return directory.kind === 'calculation' ? catalog.files(directory.id).freshUntil() : undefined
  }

  const timeOf = (node: Node & DatedNode) => node.since ?? times.first(nodeKey(node), node.date)

  /** A file that the service no longer has was promised by a listing that is old. */
  function sizeOf(wanted: Content, context: RequestContext): MaybePromise<number> {
    const told = content.knownSize(wanted)
    if (told !== undefined) return told
    return content.size(wanted, context).catch((thrown: unknown) => {
      if (isAbsent(thrown)) catalog.refreshCalculation(wanted.calculation)
      throw thrown
    })
  }

  /** Directories show whether the mount takes changes at all, records whether this one does. */
  function mayBeWritten(node: Node): boolean {
    if (node.kind === 'content') return false
    return isEditable(node)
      ? writeSide.rights.refusal(node) === undefined
      : writeSide.rights.frozen(node) === undefined
  }

  async function readdir(place: Place): Promise<Listing> {
    const context = until()
    const directory = directoryIn(place)
    const all = await listed(place, directory, context)
    const entries = filterEntries(all, ({ node, name }) => !writeSide.hides(node, name))
    const path = pathOf(place)
    parts.foresight?.listed(path, directory, entries)
    parts.failureLog.over(path, 'readdir')
    const known = (node: Node) => knownAttributes(directory, node)
    return { entries, until: namesHoldUntil(directory), known }
  }

  /** Where a size or a text would be asked for, nothing is known. */
  function knownAttributes(directory: DirectoryNode, node: Node): Attributes | undefined {
    const isKnown =
      node.kind === 'content' ? content.knownSize(node.content) !== undefined : isDirectory(node)
    if (!isKnown) return undefined
    const found = attributes(node, directory, until())
    return found instanceof Promise ? undefined : found
  }

  /** A directory that the service no longer has was promised by its parent's listing. */
  async function listed(
    { parent }: Place,
    directory: DirectoryNode,
    context: RequestContext,
  ): Promise<readonly Dentry[]> {
    try {
      return await tree.list(directory, context)
    } catch (thrown) {
      if (isAbsent(thrown) && parent !== undefined) await tree.refresh(directoryIn(parent), context)
      throw thrown
    }
  }

  return {
    lookup(name) {
      const context = until()
      return chain(tree.shown(name, context), node => {
        if (node.kind === 'content' || node.kind === 'record') parts.foresight?.looked(pathOf(name), node)
        return attributes(node, name.parent.node, context)
      })
    },
    getattr({ node, parent }) {
      if (!isDirectory(node) && writeSide.isHidden(node))
        throw new Failure('absent', 'it was just taken away')
      return attributes(node, parent?.node, until())
    },
    readdir,
    readlink(place) {
      if (place.node.kind !== 'link') throw new Failure('invalid', `${pathOf(place)} is no link`)
      return place.node.to
    },
    statfs: parts.statfs,
    revision: () => catalog.revision() + identities.count,
    getxattr(place, name) {
      // `ls -l` and every write ask for security.*; nothing is stored under such names.
      return name.startsWith('user.calcfs.') ? parts.xattrs.get(pathOf(place), place.node, name) : undefined
    },
    listxattr: place => parts.xattrs.list(pathOf(place), place.node),
  }
}

const isDerived = (node: Node): boolean => node.kind === 'content' && node.content.of !== 'file'

const sizeOfText = ({ bytes, mtime }: TextSnapshot) => ({ size: bytes.length, mtime })
