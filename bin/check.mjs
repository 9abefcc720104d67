// `npm test`: set-up, format and lint, types, then every test; `npm run check`: those of them that need no mount. Both close with how many checks passed and failed.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build, orStop, setUp } from './setup.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tests = join(root, 'dist/test')
const count = { passed: 0, failed: 0, skipped: 0 }

function check(name, holds) {
  console.log(`${holds ? 'ok' : 'FAILED'}  ${name}`)
  if (holds) count.passed++
  else count.failed++
  return holds
}

function formatAndLint() {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const linter = spawn(process.execPath, [biome, 'check', '--error-on-warnings'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return new Promise(resolve => linter.on('close', code => resolve(code === 0)))
}

/** Where the tests of what a daemon is made of lie; the others try whole programs. */
const parts = /^(cache|config|drive|edit|record|remote|system|[^/]*\.test\.js$)/
const usesProcesses = /testbed\/(mount|warm-mount|disk)|child_process/

/** The longest files: begun first, so that none of them is alone at the end. The first takes a minute by the clock, whatever else runs. Which run beside which: bin/test-files.mjs. */
const longest = [
  /^long\//,
  /^(mount\/(load|semantics)|app|bench\/smoke|cli\/control|packaging|programs\/file-managers|nothing-lost\/(kill|disk))/,
  /^(drive|mount|cli)\//,
]
const rank = name => longest.findIndex(one => one.test(name)) >>> 0

function compiledTests() {
  const names = readdirSync(tests, { recursive: true }).filter(name => name.endsWith('.test.js'))
  return names.sort().sort((one, other) => rank(one) - rank(other))
}

/** The compiled tests that start no daemon: no kernel, no other program. */
const withoutMounts = () =>
  compiledTests()
    .filter(name => parts.test(name))
    .filter(name => !usesProcesses.test(readFileSync(join(tests, name), 'utf8')))

const inTests = name => join('dist/test', name)

/** More files than this do not fail for a pause of the machine, or for other work on it. */
const lateAtMost = 6

/**
 * Runs the tests, and once more, one after another, a few files that failed while others ran beside them: a deadline or a
 * lifetime of the drive may have passed while the machine did something else. Both runs are told; what fails twice has failed.
 */
async function runAll(files) {
  const together = await runTests(files)
  count.passed += together.passed
  count.skipped += together.skipped
  const { failedFiles } = together
  const isLate = failedFiles.length <= lateAtMost
  const again = isLate && files.length > 1 ? failedFiles : []
  if (together.failed > 0 && again.length === 0) {
    count.failed += together.failed
    return
  }
  for (const file of again) {
    console.log(`${file} was late beside other files; it runs again on its own:`)
    const alone = await runTests([file])
    count.failed += alone.failed
    if (alone.failed === 0) console.log(`LATE  ${file} passes on its own`)
  }
}

/** Runs some files of dist/test: tap's own totals, and the files that failed. */
async function runTests(files) {
  const runner = spawn(process.execPath, [join(root, 'bin/test-files.mjs'), ...files], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise(resolve => runner.on('close', resolve))
  const failedFiles = []
  let totals
  let failure
  for await (const line of createInterface({ input: runner.stdout })) {
    totals = /^# \{ total: \d+,.*\}$/.exec(line)?.[0] ?? totals
    const file = /^(not ok|ok) \d+ - (\S+)(?: # time=(.*))?$/.exec(line)
    if (file) console.log(`${file[1] === 'ok' ? 'ok' : 'FAILED'}  ${file[2]}  ${file[3] ?? ''}`)
    if (file?.[1] === 'not ok') failedFiles.push(file[2])
    // A file may fail with no test in it that does: it ends badly, or takes too long.
    if (/^\s*not ok /.test(line)) failure = 'begun'
    if (failure) console.log(line)
    if (/^\s*\.\.\.$/.test(line)) failure = undefined
  }
  return { ...totalsIn(totals, await ended), failedFiles }
}

function totalsIn(totals, exitCode) {
  const total = word => Number(new RegExp(`\\b${word}: (\\d+)`).exec(totals ?? '')?.[1] ?? 0)
  const endedBadly = total('total') === 0 || (exitCode !== 0 && total('fail') === 0)
  if (endedBadly)
    console.log(`FAILED  ${total('total') === 0 ? 'the tests ran' : 'the test runner ended well'}`)
  return {
    passed: total('pass'),
    failed: total('fail') + (endedBadly ? 1 : 0),
    skipped: total('skip') + total('todo'),
  }
}

const ready = orStop(() => {
  setUp('test')
  return true
})
if (check('set-up', ready === true)) {
  // It runs beside the compiler.
  const linted = formatAndLint()
  const [first, ...rest] = process.argv.slice(2)
  const wanted = () =>
    first === '--no-mounts'
      ? withoutMounts().map(inTests)
      : first === undefined
        ? compiledTests().map(inTests)
        : [first, ...rest]
  const built = check('types', build())
  check('format and lint', await linted)
  if (built) await runAll(wanted())
}
const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
console.log(`${count.passed} passed, ${count.failed} failed${skipped}`)
process.exitCode = count.failed > 0 ? 1 : 0
