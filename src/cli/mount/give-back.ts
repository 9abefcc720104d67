// Returns memory to the system: after long answers have left much garbage, and once the drive is idle; a large heap grows by less.
import { Session } from 'node:inspector'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookEvery = 5_000
/** A heap that has grown by less is not worth the time. */
const worthBytes = 32 << 20
/** Share of a processor, in the last period, below which the drive is idle. */
const idleShare = 0.1
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
  /** Bytes of objects that were in use after the last collection here, and whether the drive was busy since then. */
  let left = getHeapStatistics().used_heap_size
  let wasBusy = true
  let busy = process.cpuUsage()
  let long = 0
  let growth = usualGrowth
  /** It counts from the next collection on. */
  const limitGrowth = (used: number): void => {
    const wanted = used < growsLessFrom ? usualGrowth : reducedGrowth
    if (wanted !== growth) setFlagsFromString(`--heap-growing-percent=${wanted}`)
    growth = wanted
  }
  setInterval(() => {
    const { user, system } = process.cpuUsage(busy)
    busy = process.cpuUsage()
    const isIdle = (user + system) / 1_000 < lookEvery * idleShare
    if (!isIdle) wasBusy = true
    const heap = getHeapStatistics()
    limitGrowth(heap.used_heap_size)
    // Memory in pages that are not full cannot go back: it is tried once after each work.
    if (!isIdle || !wasBusy || heap.total_heap_size + heap.external_memory < left + worthBytes) return
    collect()
    giveRoomBack()
    left = getHeapStatistics().used_heap_size
    wasBusy = false
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

/** The engine's room for new objects, up to 48 MB, goes back only where it is told that memory is short. */
function giveRoomBack(): void {
  if (!process.features.inspector) return
  const session = new Session()
  session.connect()
  // The engine holds a lock while it tells of the end, and takes the same one at the disconnect: done there, it waits for itself for good.
  session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()))
}
