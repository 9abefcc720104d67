// Path drive: the verbs by paths, for libfuse, which has no inodes; each name is looked up on the way.
import type { Attributes } from '../drive/interface/attributes.js'
import type { Drive, Listing, OpenAccess } from '../drive/interface/verbs.js'
import { type Name, type Place, placeAt, rootPlace } from '../drive/nodes/place.js'
import { lastNameOf, parentOf } from '../layout.js'
import { chain, type MaybePromise } from '../maybe-promise.js'

/** Paths are absolute on the drive. */
export function pathDrive(drive: Drive) {
  const at = (path: string): MaybePromise<Place> =>
    placeAt(path, name => chain(drive.lookup(name), ({ node }) => node))

  return {
    ...drive,
    at,
    /** A path as a name in its directory, whatever is there. */
    async named(path: string): Promise<Name> {
      return { parent: await at(parentOf(path)), name: lastNameOf(path) }
    },
    getattr(path: string): MaybePromise<Attributes> {
      const name = lastNameOf(path)
      if (name === '') return drive.getattr(rootPlace)
      return chain(at(parentOf(path)), parent => drive.lookup({ parent, name }))
    },
    readdir: async (path: string): Promise<Listing> => drive.readdir(await at(path)),
    readlink: async (path: string): Promise<string> => drive.readlink(await at(path)),
    open: (path: string, access: OpenAccess): MaybePromise<number> =>
      chain(at(path), place => drive.open(place, access)),
  }
}

export type PathDrive = ReturnType<typeof pathDrive>
