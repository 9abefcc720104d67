// Place: a name in a directory and what was found there; the drive's verbs take places, never paths.
import { Failure } from '../../failure.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import { namesAlong } from './name.js'
import { type DirectoryNode, isDirectory, type Node } from './node.js'

/** The node of a name since it was looked up. It stays that thing under whatever name. */
export interface Place {
  readonly node: Node
  /** The last known directory; undefined for the root alone. */
  readonly parent: Place | undefined
  readonly name: string
}

export interface Name {
  readonly parent: Place
  readonly name: string
}

/** @throws Failure 'not-directory' */
export function directoryIn(place: Place): DirectoryNode {
  if (!isDirectory(place.node)) throw new Failure('not-directory', `${pathOf(place)} is not a directory`)
  return place.node
}

/** The absolute path on the drive, for logs and for names that calcfs shows. */
export function pathOf({ parent, name }: Place | Name): string {
  if (parent === undefined) return '/'
  return parent.parent === undefined ? `/${name}` : `${pathOf(parent)}/${name}`
}

export const rootPlace: Place = { node: { kind: 'root' }, parent: undefined, name: '' }

type Look = (name: Name) => MaybePromise<Node>

/** The place at an absolute path; a link on the way is no directory. */
export function placeAt(path: string, look: Look): MaybePromise<Place> {
  const names = namesAlong(path).filter(name => name !== '')
  return names.reduce<MaybePromise<Place>>(
    (above, name) => chain(above, parent => chain(look({ parent, name }), node => ({ node, parent, name }))),
    rootPlace,
  )
}

/** More links on one path are a loop, as for the kernel (ELOOP). */
const linksAtMost = 40

/** The place at a path once all links are followed, on the way and at its end. @throws Failure 'invalid' for a loop of links */
export async function placeBehindLinks(path: string, look: Look, from: Place = rootPlace): Promise<Place> {
  const ahead = namesAlong(path)
  let here = from
  let links = 0
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      here = here.parent ?? here
      continue
    }
    const node = await look({ parent: here, name })
    if (node.kind !== 'link') {
      here = { node, parent: here, name }
      continue
    }
    links += 1
    if (links > linksAtMost) throw new Failure('invalid', `${path}: its links lead in a circle`)
    ahead.unshift(...namesAlong(node.to))
  }
  return here
}
