// Place: a name in a directory and what was found there; the drive's verbs take places, never paths.
import { type Node, nodeKey } from './node.js'

/** The node of a name since it was looked up. It stays that thing under whatever name. */
export interface Place {
  readonly node: Node
  /** The last known directory; undefined for the root alone. */
  readonly parent: Place | undefined
  readonly name: string
}

/** A name in a directory, whatever is there. */
export interface Name {
  readonly parent: Place
  readonly name: string
}

/** The absolute path on the drive, for logs and for names that calcfs shows. */
export function pathOf({ parent, name }: Place | Name): string {
  if (parent === undefined) return '/'
  return parent.parent === undefined ? `/${name}` : `${pathOf(parent)}/${name}`
}

export const rootPlace: Place = { node: { kind: 'root' }, parent: undefined, name: '' }

/** The thing itself. */
export const keyOf = ({ node }: Place): string => nodeKey(node)
