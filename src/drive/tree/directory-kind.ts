// Kind of directory: how a name is looked up in it and how it is listed, in one place, so that the two agree.
import type { Identities } from '../../cache/identity.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import type { MaybePromise } from '../../maybe-promise.js'
import type { Remote, RequestContext } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import type { KnownReports } from '../names/known-reports.js'
import type { NameAliases } from '../names/name-aliases.js'
import type { Roots } from '../names/roots.js'
import type { Dentry, DirectoryNode, EditableNode, NewNode, Node } from '../nodes/node.js'
import type { AccessRights } from './access.js'

export interface DirectoryKind<Of> {
  list(directory: Of, context: RequestContext): MaybePromise<readonly Dentry[]>
  /** The node of a name; undefined for none. Where this is not given, the list has it. */
  lookup?(directory: Of, name: string, context: RequestContext): MaybePromise<Node | undefined>
  /** The entries of the last question, without any request; undefined where they are not known. */
  known?(directory: Of): readonly Dentry[] | undefined
  /** The next question about it goes to the service. */
  refresh?(directory: Of): void
}

export type DirectoryKinds = {
  readonly [Kind in DirectoryNode['kind']]: DirectoryKind<Extract<DirectoryNode, { kind: Kind }>>
}

/** A directory whose entries this process knows by itself. */
export const knownHere = (list: () => readonly Dentry[]) => ({ list, known: list })

/** The sources of the tree; editors' files and drafts come from the state directory. */
export interface TreeSources {
  readonly catalog: Catalog
  readonly identities: Identities
  readonly dialect: Dialect
  readonly roots: Roots
  readonly reports: KnownReports
  readonly rights: AccessRights
  readonly aliases: NameAliases
  readonly local: LocalFiles
  readonly remote: Pick<Remote, 'resolveCalculation'>
  /** Where the drive is mounted; a path below it means the same as without it. */
  readonly mountPoint: string
}

export interface LocalFiles {
  scratch(directory: string): readonly Dentry[]
  drafts(): readonly string[]
  /** The `new*.json` that are not sent yet, of reports or of a project's shares. */
  unsentNew(of: NewPlace): readonly NewNode[]
  /** True if this `new*.json` is there: unsent, or another name of what it has made. */
  isNew(node: NewNode): boolean
  /** True if it was removed under this name, or lies in what was. */
  hides(node: Node, name: string): boolean
  /** True if an unsaved text stands in its place: then it is there whatever the service says. */
  hasDraft(node: EditableNode): boolean
}

export type NewPlace = Extract<DirectoryNode, { kind: 'reports' | 'shares' }>
