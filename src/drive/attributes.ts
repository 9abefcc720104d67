// What a stat says: file type, mode, size and time of every kind of node.
import type { Instant } from '../remote/remote.js'
import { isDirectory, type Node } from './node.js'

export interface Attributes {
  /** File type and permission bits, as st_mode. */
  readonly mode: number
  /** In bytes; true, because reads stop at it. */
  readonly size: number
  readonly mtime: Instant
}

/** The file type bits of st_mode, inode(7). */
export const fileTypes = { directory: 0o040000, file: 0o100000, link: 0o120000 }

const permissions = {
  readableDirectory: 0o555,
  directory: 0o755,
  content: 0o444,
  record: 0o644,
  link: 0o777,
  scratch: 0o600,
}

/** The st_mode of a node; `writable` is whether its records may be saved at all. */
export function modeOf(node: Node, writable: boolean): number {
  if (isDirectory(node))
    return fileTypes.directory | (writable ? permissions.directory : permissions.readableDirectory)
  switch (node.kind) {
    case 'record':
    case 'new':
    case 'order':
      return fileTypes.file | (writable ? permissions.record : permissions.content)
    case 'scratch':
      return fileTypes.file | permissions.scratch
    case 'link':
      return fileTypes.link | permissions.link
    case 'generated':
    case 'content':
    case 'draft-text':
      return fileTypes.file | permissions.content
  }
}
