// Kind of directory: how a name is looked up in it and how it is listed, in one place, so that the two agree.
import type { MaybePromise } from '../../maybe-promise.js'
import type { RequestContext } from '../../remote/remote.js'
import type { Dentry, DirectoryNode, Node } from '../nodes/node.js'

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
