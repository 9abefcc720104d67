// Test runner: each test file is a plain Node process whose TAP is read by tap. `tap run` loads its coverage hooks into each of them, which cost more than a short file's tests.
import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { busyShare } from './machine-load.mjs'

/** Files that run at once whatever the machine does, and at most: most tests wait most of their time. */
const cores = Math.max(2, availableParallelism())
const atOnce = { least: cores + 1, most: 6 * cores }
/** One more file begins where the processors worked for less than this share of a moment, in milliseconds. */
const room = { share: 0.75, moment: 400 }
/** Milliseconds after which a file is ended; one that only waits has failed before: bin/bundle.mjs. */
const timeout = 1_200_000

/** Promises that no file system is part of: their services and drives begin hundreds of times, quickest in memory. */
const inMemory = /dist\/test\/((cli|drive|mount\/semantics|remote|service)\/|nothing-lost\/opaque\.)/
const memoryBytes = 2 << 30

/** A directory in memory where there is one with enough room, else none: the tests then take the usual one. */
function memoryDirectory() {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize > memoryBytes ? mkdtempSync('/dev/shm/calcfs-tests-') : undefined
  } catch {
    return undefined
  }
}

/** A drive that a test has left mounted would be walked through, and what is in it deleted. */
function removeUnlessMounted(directory) {
  if (readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${directory}/`)) return
  rmSync(directory, { recursive: true, force: true })
}

const memory = memoryDirectory()
process.on('exit', () => memory !== undefined && removeUnlessMounted(memory))

/**
 * V8 for a process of a few seconds: a function is compiled to fast code only once it has run four times as long as usual, and garbage
 * is first looked for when there are 16 MiB of objects. Takes a sixth of the processor time off a file of many drives. The engine of
 * Node 22 does not know the first flag, and ends.
 */
const budget = Number.parseInt(process.versions.node, 10) < 22 ? ['--interrupt-budget=500000'] : []
const shortLived = [...budget, '--min-semi-space-size=16']

const preloaded = fileURLToPath(new URL('without-domains.mjs', import.meta.url))

const running = new Set()
t.on('spawn', test =>
  test.on('process', child => {
    running.add(child)
    child.once('exit', () => running.delete(child))
  }),
)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => {
    for (const child of running) child.kill(signal)
    process.exit(1)
  })

const node = ['-u', 'NODE_OPTIONS', process.execPath, ...shortLived, '--import', preloaded]

t.jobs = atOnce.most
t.setTimeout(0)

const begin = file =>
  t.spawn('/usr/bin/env', [...node, file], {
    name: file,
    buffered: true,
    timeout,
    // Operations on a mount wait in a thread each, and tests of one file run side by side.
    env: {
      ...process.env,
      UV_THREADPOOL_SIZE: '16',
      TMPDIR: memory !== undefined && inMemory.test(file) ? memory : tmpdir(),
    },
    at: null,
    stack: '',
    stdio: ['ignore', 'pipe', 'inherit'],
  })

/** Begins the files in turn, as many at once as the processors have time for. */
const begun = new Set()
for (const file of process.argv.slice(2)) {
  while (begun.size >= atOnce.least) {
    const isFree = (await busyShare(room.moment)) < room.share
    if (begun.size < atOnce.least || (isFree && begun.size < atOnce.most)) break
  }
  const ended = begin(file).finally(() => begun.delete(ended))
  begun.add(ended)
}
await Promise.all(begun)
