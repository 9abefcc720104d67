// Path drive: the verbs by paths, for what has no inodes; each name is looked up on the way.
import { Failure } from '../../failure.js'
import { lastNameOf, parentOf } from '../../layout.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import { type Name, type Place, rootPlace } from '../nodes/place.js'
import type { Attributes } from './attributes.js'
import type { Drive, Listing, OpenAccess } from './verbs.js'

/** Paths are absolute on the drive. */
export function pathDrive(drive: Drive) {
  /** Down from a place that is there, by the names that are left. */
  function below(from: Place, names: readonly string[]): MaybePromise<Place> {
    let place = from
    for (const [at, name] of names.entries()) {
      const parent = place
      const found = drive.lookup({ parent, name })
      if (found instanceof Promise)
        return found.then(({ node }) => below({ node, parent, name }, names.slice(at + 1)))
      place = { node: found.node, parent, name }
    }
    return place
  }

  /** The node at a path. */
  function at(path: string): MaybePromise<Place> {
    const names = path.split('/').filter(name => name !== '')
    return below(rootPlace, names)
  }

  return {
    ...drive,
    at,
    /** A path as a name in its directory, whatever is there. */
    async named(path: string): Promise<Name> {
      if (lastNameOf(path) === '') throw new Failure('exists', 'the root of the drive has no name')
      return { parent: await at(parentOf(path)), name: lastNameOf(path) }
    },
    getattr(path: string): MaybePromise<Attributes> {
      const name = lastNameOf(path)
      if (name === '') return drive.getattr(rootPlace)
      return chain(at(parentOf(path)), parent => drive.lookup({ parent, name }))
    },
    readdir: async (path: string): Promise<Listing> => drive.readdir(await at(path)),
    readlink: async (path: string): Promise<string> => drive.readlink(await at(path)),
    getxattr: async (path: string, name: string): Promise<string | undefined> =>
      drive.getxattr(await at(path), name),
    open: (path: string, access: OpenAccess): MaybePromise<number> =>
      chain(at(path), place => drive.open(place, access)),
  }
}

export type PathDrive = ReturnType<typeof pathDrive>
