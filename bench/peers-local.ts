// The floor under everything: the same tree on the local disk, its pages already in memory.
import type { Peer } from './peers.js'

/** No mount at all. */
export const localDisk: Peer = {
  name: 'local disk',
  options: 'the same files, in the page cache',
  counted: false,
  lacks: () => undefined,
  mount: async doors => ({ root: doors.disk, processes: [], unmount: async () => undefined }),
}
