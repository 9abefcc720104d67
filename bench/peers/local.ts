// Floors: the same tree on the local disk, and from the memory of a process over the binding that calcfs uses.
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

/** The cost of the binding itself: every answer lies in memory. */
export const passThrough: Peer = {
  name: 'pass-through',
  options: 'the same binding and entries, every answer from memory',
  counted: false,
  lacks: () => undefined,
  async mount(doors, place) {
    // It does not end when its mount is unmounted from outside, so it must unmount by itself.
    const { pid, stop } = await startPassThrough(place.mountPoint, { tree: doors.tree, records: true })
    return { root: place.mountPoint, processes: [pid], unmount: stop }
  },
}
