// A cache directory that takes nothing: what passes through is compared like what is kept, so that no reader gets two versions.
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import {
  held,
  length,
  read,
  second,
  tail,
  validators,
  versionOf,
  versionRead,
} from '../../semantics/contents/replaced.js'
import type { KernelTestbed } from '../../testbed/mount.js'
import { outcome } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(240_000)

/** The daemon may make it again between the two steps, for what it has just been asked. */
async function replaceByFile(directory: string): Promise<void> {
  for (let left = 10; ; left -= 1) {
    try {
      await rename(directory, `${directory}.away-${left}`)
      await writeFile(directory, '')
      return
    } catch (thrown) {
      if (left === 0) throw thrown
    }
  }
}

const uncached = async (t: Parameters<typeof warmMount>[0], wish: Parameters<typeof warmMount>[1]) => {
  const testbed = await warmMount(t, wish)
  // The directory above calcfs's own: a file in the place of that one would be moved aside.
  const directory = join(testbed.home, 'cache')
  await testbed.files.readdir('projects')
  await replaceByFile(directory)
  t.teardown(() => rm(directory, { force: true }))
  return testbed
}

async function refresh(testbed: KernelTestbed, path: string): Promise<void> {
  const { code, stderr } = await testbed.calcfs('refresh', join(testbed.directory, path))
  if (code !== 0) throw new Error(`calcfs refresh: ${stderr}`)
}

t.test('READ-13 STATE-4 without a cache: bytes of one version, however they are named', async t => {
  let testbed: KernelTestbed | undefined
  const { held: files } = await held(
    t,
    async (t, wish) => {
      testbed = await uncached(t, wish)
      return testbed
    },
    [...Object.values(validators), { ifRange: 'honoured' }],
  )
  if (testbed === undefined) throw new Error('nothing is mounted')
  const names = [...Object.keys(validators), 'nothing']
  for (const [number, { path, holder }] of files.entries()) {
    const name = names[number] ?? ''
    const before = (await testbed.files.lstat(path)).mtimeMs
    const file = await testbed.files.open(path, 'r')
    t.ok((await file.read(4096, 0)).equals(holder.bytes.subarray(0, 4096)), name)
    holder.replace(second)
    if (name !== 'nothing') {
      t.equal(
        await outcome(file.read(4096, length / 2)),
        'ESTALE',
        `${name}: the open file is of the old version`,
      )
      t.equal(await outcome(file.read(4096, length - 4096)), 'ESTALE', name)
    }
    await file.close()
    await testbed.pass(1100)
    // Nothing tells: the kernel's pages of the old one go with a refresh.
    if (name === 'nothing') await refresh(testbed, path)
    t.equal(await versionRead(testbed, path), 'second', name)
    t.ok((await testbed.files.lstat(path)).mtimeMs > before, `${name}: its time has moved`)
    t.ok((await tail(testbed, path)).equals(second.subarray(-4096)))

    const longer = versionOf(3, length + 100_000)
    holder.replace(longer)
    // Of the version that came before all is in the kernel's pages: whole, it is no mix.
    t.match(await versionRead(testbed, path), /^(second|ESTALE|EIO)$/, name)
    await refresh(testbed, path)
    await testbed.pass(1100)
    t.ok((await read(testbed, path)).equals(longer), `${name}: the longer one`)
  }
})
