// Floors: the same tree on the local disk, and from the memory of a process by each of the two ways that calcfs has to the kernel.
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

/** The cost of a way to the kernel itself: every answer lies in memory. */
const passThroughBy = (way: 'libfuse' | 'session', name: string): Peer => ({
  name,
  options: 'the same way to the kernel, and entries; every answer from memory',
  counted: false,
  lacks: () => undefined,
  async mount(doors, place) {
    // It does not end when its mount is unmounted from outside, so it must unmount by itself.
    const shown = { tree: doors.tree, records: true }
    const { pid, stop } = await startPassThrough(place.mountPoint, shown, way)
    return { root: place.mountPoint, processes: [pid], unmount: stop }
  },
})

export const passThrough = passThroughBy('session', 'pass-through')
export const passThroughLibfuse = passThroughBy('libfuse', 'pass-through, libfuse')
