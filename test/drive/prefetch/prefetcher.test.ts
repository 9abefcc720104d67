// What guessing the next question costs in memory: the folders that were listed are remembered up to a number of names.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import type { Catalog } from '../../../src/cache/metadata/catalog.js'
import type { Dentry } from '../../../src/drive/nodes/node.js'
import { openPrefetcher, type PrefetcherPorts } from '../../../src/drive/prefetch/prefetcher.js'
import { Failure } from '../../../src/failure.js'
import { systemClock } from '../../../src/remote/clock.js'
import type { ProjectId } from '../../../src/remote/remote.js'

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')

/** Bytes in use once garbage is gone. */
function held(): number {
  if (typeof collect === 'function') collect()
  return process.memoryUsage().heapUsed
}

const absent = (): Promise<never> => Promise.reject(new Failure('absent', 'there is no such thing here'))
const ports: PrefetcherPorts = {
  catalog: {} as Catalog,
  content: { size: absent, prefetch: absent, isKept: () => false, knownSize: () => undefined },
  tree: { list: absent, directory: absent },
  room: () => 0,
  cacheBytes: 0,
  names: 20_000,
  clock: systemClock,
}

const listing = (of: number, length = 9_000): Dentry[] =>
  Array.from({ length }, (_, at) => ({
    name: `child ${of}-${at}`,
    node: { kind: 'project', id: `${of}${at}` as ProjectId },
  }))

t.test('MEM-1 of 360,000 names that were listed no more than --max-entries are remembered', async t => {
  const prefetcher = openPrefetcher(ports)
  const list = (of: number): void =>
    prefetcher.listed(`/folder ${of}`, { kind: 'project', id: String(of) as ProjectId }, listing(of))
  list(0)
  const before = held()
  for (let of = 1; of <= 40; of += 1) list(of)
  const bytes = held() - before
  t.ok(bytes < 16 << 20, `${Math.round(bytes / 2 ** 20)} MB are held`)
  list(41)
})

t.test('MEM-1 of a folder with more than half as many names none is remembered', async t => {
  const prefetcher = openPrefetcher({ ...ports, names: 100_000 })
  const before = held()
  for (let of = 1; of <= 3; of += 1)
    prefetcher.listed(`/folder ${of}`, { kind: 'project', id: '7' as ProjectId }, listing(of, 60_000))
  prefetcher.listed('/folder 0', { kind: 'project', id: '8' as ProjectId }, [])
  await new Promise(setImmediate)
  const bytes = held() - before
  t.ok(bytes < 4 << 20, `${Math.round(bytes / 2 ** 20)} MB are held`)
  prefetcher.listed('/folder 0', { kind: 'project', id: '8' as ProjectId }, [])
})
