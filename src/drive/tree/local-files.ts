// Port of the tree to files that exist only here: editors' files, drafts, and new records that are not sent yet.
import type { Dentry, DirectoryNode, EditableNode, NewNode } from '../nodes/node.js'

/** Files that exist here only. */
export interface LocalFiles {
  scratch(directory: string): readonly Dentry[]
  drafts(): readonly string[]
  /** The `new*.json` that are not sent yet, of reports or of a project's shares. */
  unsentNew(of: NewPlace): readonly NewNode[]
  /** Whether this `new*.json` is there: unsent, or another name of what it has made. */
  isNew(node: NewNode): boolean
  /** Whether an unsaved text stands in its place: then it is there whatever the service says. */
  hasDraft(node: EditableNode): boolean
}

/** Where `new*.json` makes something. */
export type NewPlace = Extract<DirectoryNode, { kind: 'reports' | 'shares' }>
