// When memory is given back to the system: a heap that has grown is collected once the drive is idle, for V8 alone would keep it.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookEvery = 5_000
/** A heap that has grown by less is not worth the time. */
const worthBytes = 32 << 20
/** Share of a processor, in the last period, below which the drive is idle. */
const idleShare = 0.1

/** Looks from time to time until the process ends. */
export function giveMemoryBack(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') return
  let left = process.memoryUsage().heapTotal
  let busy = process.cpuUsage()
  setInterval(() => {
    const { user, system } = process.cpuUsage(busy)
    busy = process.cpuUsage()
    const isIdle = (user + system) / 1_000 < lookEvery * idleShare
    const { heapTotal, external } = process.memoryUsage()
    left = Math.min(left, heapTotal + external)
    if (!isIdle || heapTotal + external < left + worthBytes) return
    collect()
    const after = process.memoryUsage()
    left = after.heapTotal + after.external
  }, lookEvery).unref()
}
