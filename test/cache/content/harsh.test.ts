// The cache in a harsh world: killed at any moment, a full disk, a file larger than memory should ever be.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { plainNode, printed } from '../../testbed/programs.js'
import { bytesOf, fakeRemote, file, inPieces, openCacheTestbed, readAll } from './fake-remote.js'

t.setTimeout(480_000)
const daemon = fileURLToPath(new URL('./daemon.js', import.meta.url))

/** Starts a task in a process of its own and kills it as soon as it has printed so many lines; answers the last one. */
async function killedAfter(directory: string, task: string, lines: number): Promise<string> {
  const [program, ...first] = plainNode
  const child: ChildProcess = spawn(program, [...first, daemon, directory, task], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit')
  let last = ''
  let seen = 0
  if (child.stdout === null) throw new Error('no output')
  for await (const line of createInterface({ input: child.stdout })) {
    last = line
    seen += 1
    if (seen === lines) child.kill('SIGKILL')
  }
  await gone
  return last
}

t.test(
  'killed in the middle of a download, nothing half is ever served and nothing is left behind',
  async t => {
    const { open, directory } = openCacheTestbed(t)
    t.equal(await killedAfter(directory, 'hangHalfway', 1), 'halfway')
    const unfinished = join(directory, 'content', 'unfinished')
    t.equal(readdirSync(unfinished).length, 1)
    const bytes = bytesOf(3_000_000, 1)
    const remote = fakeRemote(() => ({ bytes: inPieces(bytes, 100_000) }))
    const cache = open(remote)
    await cache.maintain()
    t.same(readdirSync(unfinished), [])
    t.ok((await readAll(cache, file('1'))).equals(bytes))
    t.same(remote.asked, ['get@0'])
  },
)

t.test('killed at any moment of keeping, each content is whole or is downloaded again', async t => {
  const { open, directory } = openCacheTestbed(t)
  for (const lines of [1, 2, 5, 9, 14, 23]) await killedAfter(directory, 'keepMany', lines)
  let asked = 0
  for (let title = 0; title < 30; title += 1) {
    const bytes = bytesOf(20_000 + title, title)
    const remote = fakeRemote(() => ({ bytes: inPieces(bytes, 7_000) }))
    const cache = open(remote)
    t.ok((await readAll(cache, file(String(title)))).equals(bytes))
    await cache.close()
    asked += remote.asked.length
  }
  t.ok(asked <= 8, `${asked} of 30 were not kept before the kill`)
})

t.test('a disk that takes no more still lets every read succeed', async t => {
  const { directory } = openCacheTestbed(t)
  // Without the test runner's preload, which ends a process at the signal that goes with the refused write.
  const limited = `ulimit -f 2000; unset NODE_OPTIONS; exec "$0" "$@"`
  const { stdout } = await promisify(execFile)('/bin/sh', [
    '-c',
    limited,
    process.execPath,
    daemon,
    directory,
    'readWithoutRoom',
  ])
  t.same(JSON.parse(stdout), { size: 3_000_000, right: 6, kept: 0 })
  t.same(readdirSync(join(directory, 'content', 'kept')), [])
  t.same(readdirSync(join(directory, 'content', 'unfinished')), [])
})

t.test('a content larger than its memory may grow streams through', async t => {
  const { directory } = openCacheTestbed(t)
  const mebibytes = process.env['CALCFS_STREAM_MIB'] ?? '320'
  const task = [daemon, directory, 'streamLong', mebibytes]
  const stdout = await printed(process.execPath, task, { limit: 300_000 })
  const { read, grownMiB } = JSON.parse(stdout)
  t.equal(read, Number(mebibytes) * 2 ** 20)
  t.ok(grownMiB < 100, `${Math.round(grownMiB)} MiB more than at the start`)
})
