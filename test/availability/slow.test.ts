// Slow and odd services: what comes after its deadline is there at the next try, and what always fails stays alone with that.
import { setTimeout as later } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { inProcess } from '../testbed/in-process.js'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import { realMount } from '../testbed/mount.js'
import type { Interceptor } from '../testbed/proxy.js'
import { cml, fillMany, ids, log } from '../testbed/sample-data.js'
import { outcome, overwrite, type Testbed, type TestbedOptions, textOf } from '../testbed/testbed.js'
import { until, within } from '../testbed/within.js'

t.jobs = 3

const project = 'projects/Water splitting'

const open = (t: Test, wish: TestbedOptions = {}): Promise<Testbed> =>
  inProcess(t, { settings: { deadlineMetadata: '1s' }, ...wish })

const slow: Readonly<
  Record<string, { readonly which: RegExp; readonly call: (testbed: Testbed) => Promise<unknown> }>
> = {
  listing: {
    which: /^GET \/project\/descendant/,
    call: ({ files }) => files.readdir(project),
  },
  'list of files': {
    which: /^GET \/calculation\/files\?/,
    call: ({ files }) => files.readdir(`by-id/calculation/${ids.transition}`),
  },
  record: {
    which: /^GET \/report\?/,
    call: ({ files }) => files.readFile(`reports/${ids.report}.json`),
  },
  geometry: {
    which: /^GET \/calculation\/xyz\?/,
    call: ({ files }) => files.readFile(`by-id/calculation/${ids.transition}/TS1_opt.xyz`),
  },
  content: {
    which: /^GET \/calculation\/files\/bitstream\?/,
    call: ({ files }) => files.readFile(`by-id/calculation/${ids.transition}/run.log`),
  },
}

for (const [what, { which, call }] of Object.entries(slow)) {
  t.test(`AVAIL-3 a ${what} that takes longer than the deadline is there at the next try`, async t => {
    const testbed = await open(t)
    testbed.service.beforeAnswer(which, 3_500)
    const elapsed = stopwatch()
    t.equal(await within(5_000, what, outcome(call(testbed))), 'ETIMEDOUT')
    t.ok(elapsed() < 3_300, 'the first caller waits for its deadline')
    await until(9_000, `the ${what}`, async () => (await outcome(call(testbed))) === 'done')
    const heard = testbed.service.heard.filter(({ method, path }) => which.test(`${method} ${path}`))
    const different = new Set(heard.map(({ path }) => path)).size
    t.ok(heard.length <= 4 * different, `${heard.length} requests for ${different} questions`)
  })
}

t.test('AVAIL-1 503 with Retry-After: a question waits as long, a change is sent once', async t => {
  const testbed = await realMount(t)
  const { service } = testbed
  const [report, other] = [`reports/${ids.report}.json`, `reports/${ids.profile}.json`]
  const heard: number[] = []
  const busy = (which: RegExp, after: string) =>
    service.intercept(which, async (response, { carryOut }) => {
      if (heard.push(performance.now()) > 1) return (await carryOut())()
      response.writeHead(503, { 'retry-after': after }).end()
    })
  const ready = busy(/^GET \/report\?/, '2')
  const text = await textOf(testbed, report)
  const [refused = 0, again = 0] = heard.splice(0)
  t.ok(again - refused > 1_990, `asked again after ${again - refused} ms`)
  ready()
  const readyForBoth = busy(/^GET \/report\?/, '3600')
  t.equal(await outcome(textOf(testbed, other)), 'EBUSY', 'a wait past the deadline is not begun')
  t.equal(heard.splice(0).length, 1)
  readyForBoth()
  busy(/^PUT /, '1')
  const save = () => outcome(overwrite(testbed, report, text.replace('Supporting', 'Supported')))
  for (const end of ['EBUSY', 'done'])
    await service.sends(t, ['PUT /report'], async () => t.equal(await save(), end))
})

t.test('AVAIL-4 a file whose connection always resets keeps nothing else from being asked for', async t => {
  const many = Array.from({ length: 40 }, (_, at) => String(9_000 + at))
  const fill = fillMany(many, () => ({ 'a.out': 'x', 'output.cml': cml }))
  const testbed = await open(t, { fill })
  testbed.service.intercept(/bitstream\?id=1234&/, response => void response.socket?.resetAndDestroy())
  let over = false
  const resets = (async () => {
    while (!over) await outcome(testbed.files.readFile(`by-id/calculation/${ids.transition}/run.log`))
  })()
  await later(1_500)
  const failed: string[] = []
  for (const id of many) {
    const end = await outcome(testbed.files.readFile(`by-id/calculation/${id}/a.out`))
    if (end !== 'done') failed.push(`${id}: ${end}`)
    await later(20)
  }
  over = true
  await resets
  t.same(failed, [])
})

t.test('AVAIL-3 a file that drips ends its reader at the deadline; what has come can be read', async t => {
  const testbed = await open(t)
  const drips: Interceptor = async (response, { heard }) => {
    response.writeHead(200, { 'content-length': String(log.length) })
    if (heard.method === 'HEAD') return void response.end()
    // Within the deadline more than a page, which is what a kernel reads.
    for (let at = 0; at < log.length && !response.destroyed; at += 512) {
      response.write(log.slice(at, at + 512))
      await later(20)
    }
  }
  testbed.service.intercept(/bitstream\?id=1234&fileId=run\.log/, drips)
  const path = `by-id/calculation/${ids.transition}/run.log`
  const file = await testbed.files.open(path, 'r')
  const elapsed = stopwatch()
  t.equal(await within(5_000, 'the read', outcome(file.read(131_072, 0))), 'ETIMEDOUT')
  t.ok(elapsed() < 2_000, `${elapsed()} ms`)
  const sinceEarly = stopwatch()
  t.equal((await file.read(64, 0)).toString(), log.slice(0, 64))
  t.ok(sinceEarly() < 500)
  await file.close()
})
