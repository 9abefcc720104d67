// The floors: the same tree on the local disk, and from the memory of a process over the binding that calcfs uses.
import { fileURLToPath } from 'node:url'
import { mountWith, type Peer } from './peers.js'

/** No mount at all. */
export const localDisk: Peer = {
  name: 'local disk',
  options: 'the same files, in the page cache',
  counted: false,
  lacks: () => undefined,
  mount: async doors => ({ root: doors.disk, processes: [], unmount: async () => undefined }),
}

const program = fileURLToPath(new URL('pass-through.js', import.meta.url))

/** What the binding itself costs: every answer lies in memory. */
export const passThrough: Peer = {
  name: 'pass-through',
  options: 'the same binding and entries, every answer from memory',
  counted: false,
  lacks: () => undefined,
  mount: (doors, place) =>
    mountWith(
      {
        command: process.execPath,
        args: [program, '--at', place.mountPoint, '--tree', doors.tree, '--records'],
      },
      place,
    ),
}
