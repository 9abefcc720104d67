// A slow drive is explained by its log alone: a slow service, a limit of requests, full slots; and a storm of failures is a few lines.
import t, { type Test } from 'tap'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { plainNode, run } from '../../testbed/programs.js'
import type { TestbedOptions } from '../../testbed/testbed.js'
import { until, within } from '../../testbed/within.js'

t.setTimeout(480_000)

interface SlowLine {
  readonly msg: string
  readonly verb: string
  readonly ms: number
  readonly waited: Readonly<Record<string, number>>
  readonly requests: readonly string[]
}

async function linesOf(testbed: KernelTestbed): Promise<readonly Record<string, unknown>[]> {
  const text = await testbed.log()
  return text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)
}

const isSlowLine = (line: Record<string, unknown>): boolean => /^a slow call/.test(`${line['msg']}`)

/** The slow calls of the log once there is one, the slowest first. */
async function slowLines(testbed: KernelTestbed): Promise<readonly SlowLine[]> {
  let found: readonly SlowLine[] = []
  await until(20_000, 'a line of a slow call', async () => {
    found = (await linesOf(testbed)).filter(isSlowLine) as unknown as readonly SlowLine[]
    return found.length > 0
  })
  return found.toSorted((one, other) => other.ms - one.ms)
}

/** The cause that took the most, and whether all causes together account for the call. */
function mostOf({ waited }: SlowLine): string {
  return Object.entries(waited).toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? ''
}

async function slowed(t: Test, settings: TestbedOptions['settings']): Promise<KernelTestbed> {
  const testbed = await realMount(t, { settings: { logLevel: 'debug', ...settings } })
  t.equal((await linesOf(testbed)).filter(isSlowLine).length, 0)
  return testbed
}

/** The service answers these requests so many milliseconds later. */
const delayed = (testbed: KernelTestbed, which: RegExp, milliseconds: number) =>
  testbed.service.intercept(which, async (_response, { carryOut }) => {
    const passOn = await carryOut()
    await new Promise(wake => setTimeout(wake, milliseconds))
    passOn()
  })

const delay = 1_100
const records = /\/(project|calculation)(\/descendant|\/files)?\?/

t.test('LOG-5 a slow service: the line names its answer, and the request', async t => {
  const testbed = await slowed(t, {})
  delayed(testbed, records, delay)
  await within(40_000, 'a listing', testbed.files.readdir('projects/Water splitting'))
  const [slowest] = await slowLines(testbed)
  t.equal(slowest && mostOf(slowest), "the service's answer")
  t.match(slowest?.requests.join(), /GET \/\S*project/)
  const sum = Object.values(slowest?.waited ?? {}).reduce((one, other) => one + other, 0)
  t.ok(sum >= 0.95 * (slowest?.ms ?? 0), `${sum} of ${slowest?.ms} ms`)
})

t.test('LOG-5 a limit of requests: the line names it', async t => {
  const testbed = await slowed(t, { maxRequests: '2' })
  await within(40_000, 'a stat', testbed.files.stat('projects/Water splitting/H2O/output.cml'))
  const [slowest] = await slowLines(testbed)
  t.equal(slowest && mostOf(slowest), 'the limit of requests a second')
})

t.test('LOG-5 full slots: the line names them', async t => {
  const testbed = await slowed(t, { connections: '1' })
  delayed(testbed, /./, 700)
  // In directories of their own: the kernel looks up the names of one directory one by one.
  const paths = [
    'reports/91.json',
    'by-id/project/92',
    'by-id/calculation/93',
    'by-id/report/94',
    'db/unknown',
  ]
  const calls = paths.map(path => testbed.files.stat(path).catch(() => undefined))
  await within(60_000, 'stats side by side', Promise.all(calls))
  const lines = await slowLines(testbed)
  t.ok(
    lines.some(line => (line.waited['a free connection slot'] ?? 0) > 300),
    JSON.stringify(lines.map(({ waited }) => waited)),
  )
})

/** Files that are refused, each with a name of its own. */
const storm = `
  const fs = require('node:fs')
  const [directory, count] = process.argv.slice(1)
  let refused = 0
  for (let at = 0; at < Number(count); at += 1) {
    try {
      fs.closeSync(fs.openSync(directory + '/file-' + at + '.txt', 'w'))
    } catch (thrown) {
      if (thrown.code === 'EPERM') refused += 1
    }
  }
  console.log(refused)
`

t.test('LOG-6 ten thousand failures are a few lines, which say how many there were', async t => {
  const testbed = await realMount(t, { settings: { logSize: '64K' } })
  const count = 10_000
  const directory = `${testbed.directory}/projects/Water splitting/H2O`
  const [program, ...first] = plainNode
  const ran = await run(program, [...first, '-e', storm, directory, String(count)], { limit: 120_000 })
  t.equal(ran.stdout.trim(), String(count), ran.stderr)
  const told = (await linesOf(testbed)).filter(({ kind }) => kind === 'no-upload')
  t.ok(told.length >= 1 && told.length <= 1 + 2 * 2, `${told.length} lines`)
  t.match(told[0], { level: 40, verb: 'create', path: /^\/projects\// })
  const text = await testbed.log()
  t.ok(text.length < 128 * 1024, `${text.length} bytes`)
})
