// Short work on the disk is done at once, but on a disk that must be waited for; a busy machine is no slow disk.
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpus } from 'node:os'
import t from 'tap'
import { openQuickDisk } from '../../src/system/quick-disk.js'

t.setTimeout(60_000)

/** This thread waits, as for a disk. */
const waits = (milliseconds: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

const bytes = Buffer.alloc(1 << 20)
const computes = (): string => createHash('sha256').update(bytes).digest('hex')

t.test('a disk that must be waited for twice, or once for long, is left alone for a while', async t => {
  const twice = openQuickDisk()
  t.ok(twice.now(() => waits(15)))
  t.ok(twice.now(() => waits(15)))
  t.equal(
    twice.now(() => 1),
    undefined,
  )
  const once = openQuickDisk()
  t.ok(once.now(() => waits(150)))
  t.equal(
    once.now(() => 1),
    undefined,
  )
})

t.test('a machine that other programs keep busy is no slow disk', async t => {
  const others: ChildProcess[] = []
  t.teardown(() => others.forEach(other => void other.kill('SIGKILL')))
  for (let count = 0; count < 2 * cpus().length; count += 1)
    others.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))
  await new Promise(begun => setTimeout(begun, 500))
  // A collection of garbage waits for threads of its own, which wait for processors: no round is free of that for sure.
  const rounds = [stepsOfRound()]
  while (!rounds.some(isCalm) && rounds.length < 5) rounds.push(stepsOfRound())
  t.ok(rounds.some(isCalm), JSON.stringify(rounds))
})

/** There were long steps, and none of them counted as the disk's. */
const isCalm = ({ longest, refused }: { longest: number; refused: number }): boolean =>
  longest > 8 && refused === 0

function stepsOfRound() {
  const disk = openQuickDisk()
  const found = { longest: 0, refused: 0 }
  for (const end = performance.now() + 2_000; performance.now() < end; ) {
    const began = performance.now()
    if (disk.now(computes) === undefined) found.refused += 1
    found.longest = Math.max(found.longest, performance.now() - began)
    waits(1)
  }
  return found
}
