// Returns memory to the system: after long answers have left much garbage, and once the drive is idle; a large heap grows by less.
import { Session } from 'node:inspector'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookEvery = 5_000
/** A heap that has grown by less is not worth the time. */
const worthBytes = 32 << 20
/** Milliseconds of processor time: a drive is idle below the first in a period, and there was work from the second on. */
const [idleBelow, workFrom] = [500, 1_000]
/** An answer this long leaves several times as much garbage, which the engine notices late… */
const veryLong = 4 << 20
/** …and so do many shorter ones together. */
const longTogether = 12 << 20
/**
 * Per cent by which the heap may grow before it is collected, as bin/calcfs sets it, and where more is in use than so many bytes:
 * a walk over 100,000 calculations would keep as much garbage as answers.
 */
const usualGrowth = 100
const reducedGrowth = 15
const growsLessFrom = 48 << 20
/** Milliseconds after which a very long answer is parsed, shown and on the disk. */
const understoodAfter = 500

/** Checks periodically until the process ends; the returned function is to be called for each long answer. */
export function giveMemoryBack(): (longAnswer: number) => void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') return () => {}
  /** Bytes of objects that were in use after the last collection here, and the processor time of this process until then. */
  let left = getHeapStatistics().used_heap_size
  let collected = { user: 0, system: 0 }
  let looked = process.cpuUsage()
  let long = 0
  let growth = usualGrowth
  /** It counts from the next collection on. */
  const limitGrowth = (used: number): void => {
    const wanted = used < growsLessFrom ? usualGrowth : reducedGrowth
    if (wanted !== growth) setFlagsFromString(`--heap-growing-percent=${wanted}`)
    growth = wanted
  }
  setInterval(() => {
    const isIdle = processorTime(looked) < idleBelow
    looked = process.cpuUsage()
    const heap = getHeapStatistics()
    limitGrowth(heap.used_heap_size)
    // Memory in pages that are not full cannot go back: it is tried once after each work, however slowly a busy machine does it.
    const isInVain = processorTime(collected) < workFrom
    if (!isIdle || isInVain || heap.total_heap_size + heap.external_memory < left + worthBytes) return
    collect()
    giveRoomBack()
    left = getHeapStatistics().used_heap_size
    collected = process.cpuUsage()
  }, lookEvery).unref()

  let isLater = false
  return bytes => {
    long += bytes
    limitGrowth(process.memoryUsage().heapUsed)
    if (long < longTogether && bytes < veryLong) return
    long = 0
    collect()
    if (bytes < veryLong || isLater) return
    isLater = true
    setTimeout(() => {
      isLater = false
      collect()
    }, understoodAfter).unref()
  }
}

/** Milliseconds of all processors since then. */
function processorTime(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1_000
}

/** The engine's room for new objects, up to 48 MB, goes back only where it is told that memory is short. */
function giveRoomBack(): void {
  if (!process.features.inspector) return
  const session = new Session()
  session.connect()
  // The engine holds a lock while it tells of the end, and takes the same one at the disconnect: done there, it waits for itself for good.
  session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()))
}
