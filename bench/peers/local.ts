// The floors: the same tree on the local disk, and from the memory of a process over the binding that calcfs uses.
import { startPassThrough } from '../processes/start.js'
import type { Peer } from './peers.js'

/** No mount at all. */
export const localDisk: Peer = {
  name: 'local disk',
  options: 'the same files, in the page cache',
  counted: false,
  lacks: () => undefined,
  mount: async doors => ({ root: doors.disk, processes: [], unmount: async () => undefined }),
}

/** What the binding itself costs: every answer lies in memory. */
export const passThrough: Peer = {
  name: 'pass-through',
  options: 'the same binding and entries, every answer from memory',
  counted: false,
  lacks: () => undefined,
  async mount(doors, place) {
    // It goes on when somebody else unmounts it, so that it is told to do it itself.
    const { pid, stop } = await startPassThrough(place.mountPoint, { tree: doors.tree, records: true })
    return { root: place.mountPoint, processes: [pid], unmount: stop }
  },
}
