// Attributes of every kind of node: file type, mode, size and time.
import type { Instant } from '../../remote/remote.js'
import { type DirectoryNode, isDirectory, isEditable, type Node, nodeKey } from '../nodes/node.js'

export interface Attributes {
  readonly mode: number
  /** In bytes; true, because reads stop at it. */
  readonly size: number
  readonly mtime: Instant
  readonly node: Node
  /** content: its bytes never change, another version is another file. text: its time grows with each change. */
  readonly bytes?: 'content' | 'text' | undefined
  /** It is being written, or not saved: each look may find another size. */
  readonly isChanging?: boolean
  /** When this version of a content came to be, where another was before. */
  readonly replaced?: Instant | undefined
  /** Until when a lookup of its name finds this, while the drive's revision stays; undefined where that cannot be said. */
  readonly until?: Instant | undefined
  /** The directory whose listing tells the name and the time, by its node's key; undefined where none does. */
  readonly listedBy?: string | undefined
}

export const fileTypes = { directory: 0o040000, file: 0o100000, link: 0o120000 }
const typeBits = 0o170000 // S_IFMT

export const isDirectoryMode = (mode: number): boolean => (mode & typeBits) === fileTypes.directory
export const isLinkMode = (mode: number): boolean => (mode & typeBits) === fileTypes.link

/**
 * The st_mode of a node; `writable` is whether its records may be saved at all, `unsaved` whether a draft is shown in its
 * place: the kernel (default_permissions) shows unsaved texts to the owner of the mount alone, also with allow_other.
 */
export function modeOf(node: Node, writable: boolean, unsaved = false): number {
  if (node.kind === 'drafts') return fileTypes.directory | 0o700
  if (isDirectory(node)) return fileTypes.directory | (writable ? 0o755 : 0o555)
  if (isEditable(node)) return fileTypes.file | ((writable ? 0o644 : 0o444) & (unsaved ? 0o700 : 0o777))
  switch (node.kind) {
    case 'scratch':
      return fileTypes.file | 0o600
    case 'link':
      return fileTypes.link | 0o777
    case 'generated':
      // Its sentences quote texts that were not saved.
      return fileTypes.file | (node.text === 'status' ? 0o400 : 0o444)
    case 'content':
      return fileTypes.file | 0o444
    case 'draft-text':
      return fileTypes.file | 0o400
  }
}

/** How the bytes of a file change; undefined for what is no file, or an editor's own. */
export function bytesOf(node: Node): Attributes['bytes'] {
  if (node.kind === 'content') return 'content'
  return isEditable(node) || node.kind === 'generated' || node.kind === 'draft-text' ? 'text' : undefined
}

/** The directory whose listing tells a node; undefined for what no listing tells. From memory. */
export function listingOf(node: Node, above: Node | undefined): DirectoryNode | undefined {
  switch (node.kind) {
    case 'project':
    case 'calculation':
      // Below by-id/ its own record says whether it is there.
      if (node.parent === undefined || above?.kind === 'number-room') return undefined
      return { kind: 'project', id: node.parent }
    case 'content':
      return { kind: 'calculation', id: node.content.calculation, title: '' }
    case 'link':
      return above?.kind === 'report-names' ? above : undefined
    // A text that is saved is no longer there, under whatever name it was.
    case 'draft-text':
      return { kind: 'drafts' }
    default:
      return undefined
  }
}

export const draftsKey = nodeKey({ kind: 'drafts' })

export const reportNamesKey = nodeKey({ kind: 'report-names' })
