// Test runner: each test file is a plain Node process whose TAP is read by tap. `tap run` loads its coverage hooks into each of them, which cost more than a short file's tests.
import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { isMachineBusy } from './machine-load.mjs'

/** Folders and files whose tests wait most of their time: for deadlines, for silence to be over, for what a kernel keeps. */
const waits =
  /dist\/test\/(long|availability|cli\/(commands|control|mount|watch)|fleet|nothing-lost|remote|mount(?!\/(load|semantics)))\b/
/** At once run, of files that wait, two for each core and one more, and beside them of files that compute three for two cores: the processors are always busy. */
const cores = Math.max(2, availableParallelism())
const isBusy = await isMachineBusy()
/** Beside other work one of each kind: more would wait for a processor longer than their limits are. */
const lanes = isBusy
  ? { waiting: 1, computing: 1 }
  : { waiting: 2 * cores + 1, computing: Math.ceil(1.5 * cores) }
/** Milliseconds after which a file is ended; one that needs longer says so itself. */
const timeout = isBusy ? 1_800_000 : 600_000

/** Promises that no file system is part of: their services and drives begin hundreds of times, quickest in memory. */
const inMemory = /dist\/test\/((cli|drive|model|mount\/semantics|remote|service)\/|nothing-lost\/opaque\.)/
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

t.jobs = lanes.waiting + lanes.computing
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
      // Seconds for a test that names none, on a machine that does other things too: tap's own 30 are an idle one's.
      TAP_TIMEOUT: '240',
      TMPDIR: memory !== undefined && inMemory.test(file) ? memory : tmpdir(),
    },
    at: null,
    stack: '',
    stdio: ['ignore', 'pipe', 'inherit'],
  })

const files = process.argv.slice(2)
const waiting = files.filter(file => waits.test(file))
const computing = files.filter(file => !waits.test(file))

/** One file after another, in the order they are given in; when those of one list are all begun, of the other. */
async function inTurn(list, other) {
  for (;;) {
    const file = list.shift() ?? other.shift()
    if (file === undefined) return
    await begin(file)
  }
}

const begun = [
  ...Array.from({ length: lanes.waiting }, () => inTurn(waiting, computing)),
  ...Array.from({ length: lanes.computing }, () => inTurn(computing, waiting)),
]
await Promise.all(begun)
