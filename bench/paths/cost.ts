// What a piece of work costs inside: modules, calls and promises (V8's precise coverage, async_hooks), and bytes allocated.
import { createHook } from 'node:async_hooks'
import { Session } from 'node:inspector/promises'
import { memoryUsage } from 'node:process'

/** Counts of one piece of work, done once. */
export interface Cost {
  /** Files of src in which a function ran. */
  readonly modules: number
  readonly calls: number
  readonly promises: number
}

/** Runs before allocations are measured, so that compiled code is warm; then batches, of which the median counts: a collection in one of them spoils it alone. */
const warmRuns = 300
const batches = 21
const runsOfBatch = 50

export interface Meter {
  count(work: () => Promise<unknown>): Promise<Cost>
  /** Bytes that the work allocates; it is done many times. Needs --expose-gc. */
  bytes(work: () => Promise<unknown>): Promise<number>
  end(): void
}

export async function openMeter(): Promise<Meter> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  let promises = 0
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') promises += 1
    },
  })

  async function counted(work: () => Promise<unknown>): Promise<Cost> {
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await session.post('Profiler.takePreciseCoverage')
    promises = 0
    hook.enable()
    await work()
    hook.disable()
    const made = promises
    const { result } = await session.post('Profiler.takePreciseCoverage')
    await session.post('Profiler.stopPreciseCoverage')
    const files = result
      .filter(({ url }) => /\/dist\/src\//.test(url))
      // The first function of a file is the file itself.
      .map(({ functions }) => functions.filter(({ ranges }) => ranges[0]?.startOffset !== 0))
      .map(functions => functions.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0))
    return {
      modules: files.filter(calls => calls > 0).length,
      calls: files.reduce((sum, calls) => sum + calls, 0),
      promises: made,
    }
  }

  async function batch(work: () => Promise<unknown>): Promise<number> {
    const before = memoryUsage().heapUsed
    for (let run = 0; run < runsOfBatch; run += 1) await work()
    return (memoryUsage().heapUsed - before) / runsOfBatch
  }

  async function allocated(work: () => Promise<unknown>): Promise<number> {
    for (let run = 0; run < warmRuns; run += 1) await work()
    globalThis.gc?.()
    const found: number[] = []
    for (let made = 0; made < batches; made += 1) found.push(await batch(work))
    return Math.round(found.sort((one, other) => one - other)[Math.floor(batches / 2)] ?? 0)
  }

  return {
    count: counted,
    bytes: allocated,
    end: () => session.disconnect(),
  }
}
