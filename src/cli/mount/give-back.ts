// When memory is given back to the system: once long answers have left much behind, and once the drive is idle.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookEvery = 5_000
/** A heap that has grown by less is not worth the time. */
const worthBytes = 32 << 20
/** Share of a processor, in the last period, below which the drive is idle. */
const idleShare = 0.1
/** An answer as long as this leaves several times as much behind, of which the engine hears late… */
const veryLong = 4 << 20
/** …and so do many shorter ones together. */
const longTogether = 24 << 20
const largeHeap = 64 << 20
/** Milliseconds after which a very long one is understood, shown and on the disk. */
const understoodAfter = 500

/** Looks from time to time until the process ends; what it answers is to be told of each long answer. */
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
    left = inUse()
  }, lookEvery).unref()

  let isLater = false
  return bytes => {
    long += bytes
    // A large heap takes longer to go through, and gets less of it back.
    if (bytes < veryLong && long < Math.max(longTogether, process.memoryUsage().heapUsed / 2)) return
    long = 0
    // What a long list is made into is still in the making, and moving it takes memory, too.
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

function inUse(): number {
  const { heapTotal, external } = process.memoryUsage()
  return heapTotal + external
}
