// Memory of short contents is used again at once: no reader ever gets bytes of another content, however many come at once.
import t from 'tap'
import { lendMemory } from '../../../src/lent-memory.js'
import type { Content } from '../../../src/remote/remote.js'
import {
  bytesOf,
  type FakeRemote,
  fakeRemote,
  file,
  inPieces,
  openCacheTestbed,
  readAll,
} from './fake-remote.js'

t.setTimeout(240_000)

const contents = 150
const lengthOf = (content: Content): number => 17_000 + ((Number(content.title) * 7919) % 230_000)
const bytesIn = (content: Content): Buffer => bytesOf(lengthOf(content), Number(content.title))

/** As the connection gives a short body: in one piece of lent memory, or cut into two where it came slowly. */
function service(): FakeRemote {
  const asked = fakeRemote(() => ({ bytes: inPieces(Buffer.alloc(0), 1) }))
  return {
    ...asked,
    async content(content, start, question) {
      const body = await asked.content(content, start, question)
      const bytes = bytesIn(content)
      async function* pieces(): AsyncGenerator<Uint8Array> {
        const lent = lendMemory(bytes.length)
        if (Number(content.title) % 5 === 0) {
          lent.set(bytes.subarray(0, 9000))
          yield lent.subarray(0, 9000)
          await new Promise(setImmediate)
          lent.set(bytes.subarray(9000), 9000)
          yield lent.subarray(9000)
        } else {
          if (Number(content.title) % 3 === 0) await new Promise(setImmediate)
          lent.set(bytes)
          yield lent
        }
      }
      return { ...body, length: bytes.length as typeof body.length, bytes: pieces() }
    },
  }
}

/** A small generator of numbers, so that a failure can be repeated. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state * 1103515245 + 12345) & 0x7fffffff
    return state % below
  }
}

async function readSomewhere(cache: ReturnType<ReturnType<typeof openCacheTestbed>['open']>, seed: number) {
  const next = numbers(seed)
  let wrong = 0
  for (let round = 0; round < 120; round += 1) {
    const content = file(String(next(contents)))
    const due = bytesIn(content)
    const block = [4096, 65_536, 300_000][next(3)] ?? 4096
    if (next(4) === 0) await cache.prefetch(content, { ...soon(), priority: 'guess' }, 1 << 20).catch(() => 0)
    if (next(9) === 0) await cache.outdate(cache.nameOf(content))
    const offset = next(due.length)
    const into = Buffer.alloc(block)
    const count = await cache.read(content, offset, into, soon()).catch(forgotten)
    if (count === undefined) continue
    if (!into.subarray(0, count).equals(due.subarray(offset, offset + block))) wrong += 1
  }
  return wrong
}

const soon = () => ({ deadline: (Date.now() + 20_000) as never, priority: 'user' as const })

/** Another reader has made the cache forget what this one waited for. */
function forgotten(thrown: unknown): undefined {
  if (!/forgotten/.test(String(thrown))) throw thrown
}

t.test('many readers of many short contents at once', async t => {
  const { open } = openCacheTestbed(t)
  const cache = open(service())
  const wrong = await Promise.all(Array.from({ length: 24 }, (_, seed) => readSomewhere(cache, seed + 1)))
  t.same(new Set(wrong), new Set([0]))
  for (let title = 0; title < contents; title += 1) {
    const content = file(String(title))
    if (!(await readAll(cache, content)).equals(bytesIn(content))) t.fail(`content ${title}`)
  }
})

t.test('what was kept of it is whole', async t => {
  const { open } = openCacheTestbed(t)
  const first = open(service())
  const all = Array.from({ length: contents }, (_, title) => file(String(title)))
  await Promise.all(all.map(content => readAll(first, content)))
  await first.close()
  const remote = service()
  const second = open(remote)
  for (const content of all)
    if (!(await readAll(second, content)).equals(bytesIn(content))) t.fail(`content ${content.title}`)
  t.same(remote.asked, [], 'nothing is asked for again')
  t.match(await second.scrub(), { checked: contents, dropped: 0 })
})
