// The log of a slow drive: a slow call names its requests with their times.
import t, { type Test } from 'tap'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { until, within } from '../../testbed/within.js'

t.setTimeout(480_000)

interface SlowLine {
  readonly msg: string
  readonly verb: string
  readonly ms: number
  readonly requests: readonly { readonly request: string; readonly ms: number }[]
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

async function slowed(t: Test): Promise<KernelTestbed> {
  const testbed = await realMount(t, { settings: { logLevel: 'debug' } })
  t.equal((await linesOf(testbed)).filter(isSlowLine).length, 0)
  return testbed
}

/** The service answers these requests so many milliseconds later. */
const delayed = (testbed: KernelTestbed, which: RegExp, milliseconds: number) =>
  testbed.service.beforeAnswer(which, milliseconds)

const delay = 1_100
const records = /\/(project|calculation)(\/descendant|\/files)?\?/

t.test('LOG-5 a slow call has a line with its requests and the milliseconds of each', async t => {
  const testbed = await slowed(t)
  delayed(testbed, records, delay)
  await within(40_000, 'a listing', testbed.files.readdir('projects/Water splitting'))
  const [slowest] = await slowLines(testbed)
  const slow = slowest?.requests.find(({ request }) => /^GET \/\S*project/.test(request))
  t.ok((slow?.ms ?? 0) >= delay, JSON.stringify(slowest))
  t.ok((slow?.ms ?? 0) <= (slowest?.ms ?? 0) + 50, JSON.stringify(slowest))
})
