// Path drive: the verbs by paths, for what has no inodes; each name is looked up on the way.
import { Failure } from '../../failure.js'
import { lastNameOf, parentOf } from '../../layout.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { ByteOffset, Instant } from '../../remote/remote.js'
import { type Name, type Place, rootPlace } from '../nodes/place.js'
import type { Attributes } from './attributes.js'
import type { Drive, Listing, OpenAccess } from './verbs.js'

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

  const at = (path: string): MaybePromise<Place> =>
    below(
      rootPlace,
      path.split('/').filter(name => name !== ''),
    )

  async function named(path: string): Promise<Name> {
    if (lastNameOf(path) === '') throw new Failure('exists', 'the root of the drive has no name')
    return { parent: await at(parentOf(path)), name: lastNameOf(path) }
  }

  return {
    ...drive,
    getattr(path: string): MaybePromise<Attributes> {
      const name = lastNameOf(path)
      if (name === '') return drive.getattr(rootPlace)
      return chain(at(parentOf(path)), parent => drive.lookup({ parent, name }))
    },
    readdir: async (path: string): Promise<Listing> => drive.readdir(await at(path)),
    readlink: async (path: string): Promise<string> => drive.readlink(await at(path)),
    getxattr: async (path: string, name: string): Promise<string | undefined> =>
      drive.getxattr(await at(path), name),
    listxattr: async (path: string): Promise<readonly string[]> => drive.listxattr(await at(path)),
    open: (path: string, access: OpenAccess): MaybePromise<number> =>
      chain(at(path), place => drive.open(place, access)),
    create: async (path: string): Promise<number> => drive.create(await named(path)),
    truncate: async (path: string, size: ByteOffset): Promise<void> => drive.truncate(await at(path), size),
    unlink: async (path: string): Promise<void> => drive.unlink(await named(path)),
    rename: async (from: string, to: string): Promise<void> =>
      drive.rename(await named(from), await named(to)),
    mkdir: async (path: string): Promise<void> => drive.mkdir(await named(path)),
    rmdir: async (path: string): Promise<void> => drive.rmdir(await named(path)),
    symlink: async (target: string, path: string): Promise<void> => drive.symlink(target, await named(path)),
    link: async (path: string): Promise<void> => drive.link(await named(path)),
    mknod: async (path: string): Promise<void> => drive.mknod(await named(path)),
    change: async (path: string): Promise<void> => drive.change(await at(path)),
    touch: async (path: string, mtime: Instant): Promise<void> => drive.touch(await at(path), mtime),
    setxattr: async (path: string): Promise<void> => drive.setxattr(await at(path)),
  }
}

/** Paths are absolute on the drive. */
export type PathDrive = ReturnType<typeof pathDrive>
