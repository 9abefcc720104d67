// Returns memory to the system: after long answers have left much garbage, and once the drive is idle.
import { Session } from 'node:inspector'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookEvery = 5_000
/** A heap that has grown by less is not worth the time. */
const worthBytes = 32 << 20
/** Share of a processor, in the last period, below which the drive is idle. */
const idleShare = 0.1
/** An answer this long leaves several times as much garbage, which the engine notices late… */
const veryLong = 4 << 20
/** …and so do many shorter ones together. */
const longTogether = 24 << 20
const largeHeap = 64 << 20
/** Milliseconds after which a very long answer is parsed, shown and on the disk. */
const understoodAfter = 500

/** Checks periodically until the process ends; the returned function is to be called for each long answer. */
export function giveMemoryBack(): (longAnswer: number) => void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') return () => {}
  let left = inUse()
  let busy = process.cpuUsage()
  let long = 0
  setInterval(() => {
    const { user, system } = process.cpuUsage(busy)
    busy = process.cpuUsage()
    const isIdle = (user + system) / 1_000 < lookEvery * idleShare
    left = Math.min(left, inUse())
    if (!isIdle || inUse() < left + worthBytes) return
    collect()
    giveRoomBack()
    left = inUse()
  }, lookEvery).unref()

  let isLater = false
  return bytes => {
    long += bytes
    // A large heap takes longer to collect, and less of it is returned.
    if (bytes < veryLong && long < Math.max(longTogether, process.memoryUsage().heapUsed / 2)) return
    long = 0
    // The result of a long list is still being built, and moving it takes memory, too.
    if (process.memoryUsage().heapUsed < largeHeap) collect()
    if (bytes < veryLong || isLater) return
    isLater = true
    setTimeout(() => {
      isLater = false
      collect()
      left = inUse()
    }, understoodAfter).unref()
  }
}

/** What the engine keeps ready for new objects, up to 48 MB, goes back only where it is told that memory is short. */
function giveRoomBack(): void {
  if (!process.features.inspector) return
  const session = new Session()
  session.connect()
  // The engine holds a lock while it tells of the end, and takes the same one at the disconnect: done there, it waits for itself for good.
  session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()))
}

function inUse(): number {
  const { heapTotal, external } = process.memoryUsage()
  return heapTotal + external
}
