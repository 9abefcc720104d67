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

/** Runs some files of dist/test, and counts by tap's own totals. */
async function runTests(files) {
  const runner = spawn(process.execPath, [join(root, 'bin/test-files.mjs'), ...files], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise(resolve => runner.on('close', resolve))
  let totals
  let failure
  for await (const line of createInterface({ input: runner.stdout })) {
    totals = /^# \{ total: \d+,.*\}$/.exec(line)?.[0] ?? totals
    const file = /^(not ok|ok) \d+ - (\S+)(?: # time=(.*))?$/.exec(line)
    if (file) console.log(`${file[1] === 'ok' ? 'ok' : 'FAILED'}  ${file[2]}  ${file[3] ?? ''}`)
    // A file may fail with no test in it that does: it ends badly, or takes too long.
    if (/^\s*not ok /.test(line)) failure = 'begun'
    if (failure) console.log(line)
    if (/^\s*\.\.\.$/.test(line)) failure = undefined
  }
  countTotals(totals, await ended)
}

function countTotals(totals, exitCode) {
  const total = word => Number(new RegExp(`\\b${word}: (\\d+)`).exec(totals ?? '')?.[1] ?? 0)
  const endedBadly = total('total') === 0 || (exitCode !== 0 && total('fail') === 0)
  if (endedBadly)
    console.log(`FAILED  ${total('total') === 0 ? 'the tests ran' : 'the test runner ended well'}`)
  count.passed += total('pass')
  count.failed += total('fail') + (endedBadly ? 1 : 0)
  count.skipped += total('skip') + total('todo')
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
  if (built) await runTests(wanted())
}
const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
console.log(`${count.passed} passed, ${count.failed} failed${skipped}`)
process.exitCode = count.failed > 0 ? 1 : 0
