// Two mounts over one cache directory hold its limit together, and neither evicts what was pinned on the other.
import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { realMount } from '../../testbed/mount.js'
import { printed } from '../../testbed/programs.js'
import { drawnFrom } from '../../testbed/variants.js'
import { until } from '../../testbed/within.js'

t.setTimeout(300_000)

const limitBytes = 20_000_000
const { seed, pick } = drawnFrom()
const folders = Array.from({ length: 40 }, (_, at) => String(5_000 + at))
/** About 40 MB, twice the limit. */
const files = new Map(
  folders.flatMap(id =>
    Array.from({ length: 4 }, (_, at) => [`${id}/f${at}.out`, pick.bytes(pick.whole(1_000, 500_000))]),
  ),
)
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** What the files of a directory take; those that go meanwhile take nothing. */
const bytesIn = (directory: string): number =>
  readdirSync(directory).reduce(
    (sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )

t.test(`READ-1 two mounts of one cache hold its limit together, seed ${seed}`, async t => {
  const settings = { cacheSize: String(limitBytes) }
  const one = await realMount(t, {
    settings,
    fill(world) {
      world.addProject({ id: '4900', name: 'Large', owner: 'demo' })
      for (const id of folders) {
        const own = [...files].filter(([path]) => path.startsWith(id))
        const named = own.map(([path, bytes]) => [path.slice(id.length + 1), bytes])
        world.addCalculation({ id, name: id, project: '4900', files: Object.fromEntries(named) })
      }
    },
  })
  const other = await realMount(t, { settings }, one)
  const [account = ''] = readdirSync(join(one.home, 'cache', 'calcfs'))
  const kept = join(one.home, 'cache', 'calcfs', account, 'content', 'kept')
  t.match(await one.calcfs('pin', join(one.directory, 'projects/Large', folders[0] ?? '')), { code: 0 })
  const pinned = readdirSync(kept)
  t.equal(pinned.length, 4)

  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, bytesIn(kept))
  }, 5)
  t.teardown(() => clearInterval(watch))
  // By a program of its own: the service is in this process, and shares its threads.
  const wrongOf = async (directory: string): Promise<number> => {
    const paths = pick.branch().shuffled([...files.keys()])
    const sums = await printed('sha256sum', paths, { cwd: join(directory, 'projects/Large'), limit: 200_000 })
    const right = paths.map(path => `${hashOf(files.get(path) ?? Buffer.alloc(0))}  ${path}\n`)
    return right.join('') === sums ? 0 : 1
  }
  const readers = await Promise.all([one, other].map(({ directory }) => wrongOf(directory)))
  clearInterval(watch)
  t.same(readers, [0, 0], 'what is read is right')
  // What each has not written into the table yet, and what came and went while it was summed.
  t.ok(most <= limitBytes * 1.1, `${most} bytes at most for a limit of ${limitBytes}`)
  t.ok(most >= limitBytes * 0.8, `${most} bytes: the room is used`)
  const missing = () => pinned.filter(name => !readdirSync(kept).includes(name))
  t.same(missing(), [], 'what is pinned stays')
  await realMount(t, { settings: { cacheSize: '1M' } }, one)
  await until(20_000, 'all but what is pinned to go', () => bytesIn(kept) <= 2_100_000)
  t.same(missing(), [], 'what is pinned stays where the next mount has less room')
})
