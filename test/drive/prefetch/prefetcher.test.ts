// What guessing the next question costs: in memory a number of names of the folders that were listed, in questions a multiple of what was used.
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
let asks = 1
const ports: PrefetcherPorts = {
  catalog: {} as Catalog,
  content: { size: absent, prefetch: absent, isKept: () => false, knownSize: () => undefined },
  tree: { list: absent, directory: absent },
  room: () => 0,
  missed: () => asks++,
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

t.test('AHEAD-2 of folders that hold folders no more are listed ahead than a walk will use', async t => {
  let asked = 0
  const list = (): Promise<Dentry[]> => {
    asked += 1
    return Promise.resolve(listing(0, 5))
  }
  const prefetcher = openPrefetcher({ ...ports, room: () => 8, tree: { list, directory: absent } })
  const enter = (path: string): void =>
    prefetcher.listed(path, { kind: 'project', id: '9' as ProjectId }, listing(0, path === '/all' ? 300 : 5))
  const settled = (): Promise<unknown> => new Promise(wake => setTimeout(wake, 100))
  for (const path of ['/all', '/all/child 0-0', '/all/child 0-1']) enter(path)
  await settled()
  t.ok(asked > 0 && asked <= 4, `${asked} after two`)
  for (const path of ['/all/child 0-0/child 0-0', '/all/child 0-0/child 0-1', '/all/child 0-2']) enter(path)
  await settled()
  t.ok(asked <= 30, `${asked} after five`)
})
