// Path drive: the verbs by paths, for what has no inodes; each name is looked up on the way.
import { Failure } from '../../failure.js'
import { lastNameOf, parentOf } from '../../layout.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { ByteOffset, Instant } from '../../remote/remote.js'
import { type Name, type Place, rootPlace } from '../nodes/place.js'
import type { Attributes } from './attributes.js'
import type { Drive, FileVerbs, Listing, OpenAccess, Space } from './verbs.js'

/** Paths are absolute on the drive. */
export interface PathDrive extends Omit<FileVerbs, 'open' | 'create'> {
  getattr(path: string): MaybePromise<Attributes>
  readdir(path: string): Promise<Listing>
  readlink(path: string): Promise<string>
  statfs(): Promise<Space>
  getxattr(path: string, name: string): Promise<string | undefined>
  listxattr(path: string): Promise<readonly string[]>
  open(path: string, access: OpenAccess): MaybePromise<number>
  create(path: string): Promise<number>
  truncate(path: string, size: ByteOffset): Promise<void>
  unlink(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  mkdir(path: string): Promise<void>
  rmdir(path: string): Promise<void>
  symlink(target: string, path: string): Promise<void>
  link(path: string): Promise<void>
  mknod(path: string): Promise<void>
  change(path: string): Promise<void>
  touch(path: string, mtime: Instant): Promise<void>
  setxattr(path: string): Promise<void>
}

export function pathDrive(drive: Drive): PathDrive {
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
    getattr(path) {
      const name = lastNameOf(path)
      if (name === '') return drive.getattr(rootPlace)
      return chain(at(parentOf(path)), parent => drive.lookup({ parent, name }))
    },
    readdir: async path => drive.readdir(await at(path)),
    readlink: async path => drive.readlink(await at(path)),
    getxattr: async (path, name) => drive.getxattr(await at(path), name),
    listxattr: async path => drive.listxattr(await at(path)),
    open: (path, access) => chain(at(path), place => drive.open(place, access)),
    create: async path => drive.create(await named(path)),
    truncate: async (path, size) => drive.truncate(await at(path), size),
    unlink: async path => drive.unlink(await named(path)),
    rename: async (from, to) => drive.rename(await named(from), await named(to)),
    mkdir: async path => drive.mkdir(await named(path)),
    rmdir: async path => drive.rmdir(await named(path)),
    symlink: async (target, path) => drive.symlink(target, await named(path)),
    link: async path => drive.link(await named(path)),
    mknod: async path => drive.mknod(await named(path)),
    change: async path => drive.change(await at(path)),
    touch: async (path, mtime) => drive.touch(await at(path), mtime),
    setxattr: async path => drive.setxattr(await at(path)),
  }
}
