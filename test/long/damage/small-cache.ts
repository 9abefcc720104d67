// Two mounts over one cache that is too small are killed while they write and evict in it: whatever the disk has lost, what is read is right.
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { storedBytes } from '../../../src/cache/content/store/checksum.js'
import type { Seed } from '../../../src/service/seed.js'
import { calledLocal, forgetfulDisk } from '../../testbed/disk/forgetful-disk.js'
import { cuts } from '../../testbed/disk/forgetful-tree.js'
import { smallDisk } from '../../testbed/disk/small-disk.js'
import { fleetBed } from '../../testbed/fleet/fleet.js'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import { testService } from '../../testbed/service.js'
import type { TestLifetime } from '../../testbed/testbed.js'
import { type Chance, chance } from '../chance.js'
import type { Frame, Play } from '../engine.js'
import { readWhole, timed } from '../timed.js'
import { type Aim, harms } from './harm.js'

/** Of both mounts: how they end, or what they share besides. A small disk is mounted by root alone. */
const disks = process.getuid?.() === 0 ? (['full disk'] as const) : []
const kinds = ['kills', 'damages', 'power cuts', 'fleet', 'power cuts', ...disks] as const

const limitBytes = 3_000_000
const pinned = '101'
const lengths = [1, 100, 4_096, 20_000, 60_000, 90_000, 250_000, 400_000, 1_048_576, 1_500_000, 2_600_000]
/** What each of the four readers reads stays. Damages and power cuts may take the table that counts them. */
const bytesAtMost = limitBytes + 4 * Math.max(...lengths)
const bulk = chance(7).bytes(4_000_000)
/** Paths below `by-id/calculation`, no two of one length; together four times the limit, and one is larger than it. */
const contents = new Map(
  [...lengths, ...lengths, 3_300_000, 30_000, 700_000].map((length, at) => {
    const folder = at > 2 * lengths.length ? pinned : '100'
    return [`${folder}/f${at}.out`, bulk.subarray(at, length + 2 * at)]
  }),
)
const paths = [...contents.keys()]

function fill(seed: Seed): void {
  seed.addProject({ id: '50', name: 'P', owner: 'demo' })
  for (const id of ['100', pinned]) {
    const own = [...contents].flatMap(([path, bytes]) =>
      path.startsWith(id) ? [[path.slice(4), bytes]] : [],
    )
    seed.addCalculation({ id, name: id, project: '50', files: Object.fromEntries(own) })
  }
}

/** Milliseconds until a call hangs. */
const limit = 30_000

export async function openSmallCache(scope: TestLifetime, frame: Frame): Promise<Play> {
  const pick = frame.pick.branch()
  const kind = pick.of(kinds)
  const fleet = kind === 'fleet' ? await fleetBed(scope, { fill }) : undefined
  const service = fleet?.service ?? (await testService(scope, { fill }))
  const forgetful = kind === 'power cuts' ? await forgetfulDisk(scope) : undefined
  const full = kind === 'full disk' ? await smallDisk(scope) : undefined
  const cacheDir = (forgetful ?? full)?.directory
  const { url: _, ...joined } = fleet?.shared ?? {}
  const settings = {
    ...joined,
    ...(cacheDir === undefined ? {} : { cacheDir }),
    // Where damage is looked for nothing is evicted before it is read.
    cacheSize: kind === 'damages' ? '1G' : String(limitBytes),
  }
  const one = await realMount(scope, { settings, preload: calledLocal, xattrs: 'off' }, { service })
  const cache = cacheDir ?? join(one.home, 'cache', 'calcfs')
  const account = (await fs.readdir(cache)).find(name => name !== 'filler') ?? ''
  const kept = join(cache, account, 'content', 'kept')

  const ofPinned = () =>
    service.heard.filter(({ method, path }) => method === 'GET' && path.includes(`bitstream?id=${pinned}&`))
      .length
  const pinning = await one.calcfs('pin', join(one.directory, 'by-id/calculation', pinned))
  if (kind !== 'full disk' && pinning.code !== 0) throw new Error(pinning.stderr)
  const asked = ofPinned()
  for (const path of paths) await one.files.readFile(`by-id/calculation/${path}`)
  // It begins with eviction, where it has less room.
  const less = { ...settings, cacheSize: kind === 'damages' ? '1G' : '1M' }
  const drives = [one, await realMount(scope, { settings: less, preload: calledLocal, xattrs: 'off' }, one)]

  return async () => {
    const wrong: string[] = []
    await full?.leave(pick.whole(0, 40))
    let isEnding = false
    const readOn = async (drive: MountTestbed, drawn: Chance): Promise<void> => {
      while (!isEnding)
        await readOne(drive, drawn.of(paths), (what, isErrno) => (isErrno && isEnding) || wrong.push(what))
    }
    const reading = drives.flatMap(drive => [readOn(drive, pick.branch()), readOn(drive, pick.branch())])
    // Short waits are as likely as long ones.
    await wait(400 ** pick.fraction() - 1)
    const isTogether = kind === 'damages' || kind === 'power cuts' || pick.once(2)
    const ending = isTogether ? drives : [pick.of(drives)]
    isEnding = true
    await Promise.all(ending.map(drive => drive.kill9()))
    frame.add(kind === 'power cuts' ? kind : 'kills', ending.length)
    await Promise.all(reading)
    const bytes = /^[dp]/.test(kind) ? 0 : await bytesIn(kept)
    frame.most('percent of the cache limit', (100 * bytes) / limitBytes)
    if (bytes > bytesAtMost) wrong.push(`the cache takes ${bytes} bytes, and ${bytesAtMost} at most`)

    const aims: readonly Aim[] = ['anything', ...Array<Aim>(6).fill('contents')]
    const done = kind === 'damages' ? harms(one.home, aims, join(one.local, 'outside'), pick) : []
    frame.add('damages', done.length)
    await forgetful?.cut(pick.of(cuts), pick.whole(0, 2 ** 31))
    const mounting = await Promise.allSettled(ending.map(drive => drive.mount()))
    frame.add('mounts', ending.length)
    for (const one of mounting) if (one.status === 'rejected') wrong.push(`no mount: ${one.reason}`)
    if (wrong.length === 0) await Promise.all(ending.map(drive => keptRight(drive)))
    if ((kind === 'kills' || kind === 'fleet') && ofPinned() > asked)
      wrong.push('a pinned content is asked for again')
    return wrong.map(
      what => `${kind}: ${what} (${done.map(({ name, path }) => `${name}: ${path}`).join('; ')})`,
    )

    /** First what lies there since before the end. */
    async function keptRight(drive: MountTestbed): Promise<void> {
      const there = new Set(await lengthsIn(kept))
      const isThere = (path: string) => there.has(storedBytes(contents.get(path)?.length ?? 0))
      const found = pick.branch().shuffled(kind === 'damages' ? paths : paths.filter(isThere))
      for (const path of found) await readOne(drive, path, what => wrong.push(what))
      frame.add('contents right', found.length)
    }
  }
}

async function readOne(
  drive: MountTestbed,
  path: string,
  wrong: (what: string, isErrno: boolean) => unknown,
): Promise<void> {
  const due = contents.get(path)
  const seen = await timed(limit, calls => readWhole(calls, join(drive.directory, 'by-id/calculation', path)))
  if (seen.value === undefined)
    wrong(`${path} ends with ${seen.errno ?? `a call of ${seen.slowest} ms`}`, true)
  else if (due?.equals(seen.value) !== true) wrong(`${path} has ${seen.value.length} other bytes`, false)
}

const lengthsIn = async (directory: string): Promise<readonly number[]> => {
  const names = await fs.readdir(directory).catch(() => [])
  const found = await Promise.all(names.map(name => fs.lstat(join(directory, name)).catch(() => undefined)))
  return found.map(status => status?.size ?? 0)
}

/** Without the one that is larger than the limit. */
const bytesIn = async (directory: string): Promise<number> =>
  (await lengthsIn(directory)).reduce((sum, bytes) => sum + (bytes > limitBytes ? 0 : bytes), 0)
