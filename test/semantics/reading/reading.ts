// Nothing read is ever wrong: right bytes or an error; true sizes; times that stand.
import type { Test } from 'tap'
import { complete, poor } from '../../../src/service/store/options.js'
import { fillMany, ids, log } from '../../testbed/sample-data.js'
import { type OpenTestbed, outcome, textOf } from '../../testbed/testbed.js'
import { variants } from '../../testbed/variants.js'

const calculation = 'projects/Water splitting/TS1_opt'

export function reading(t: Test, open: OpenTestbed): void {
  t.test('reading', async t => {
    const testbed = await open(t)
    const { files } = testbed

    t.test('READ-1 a file is read as the service has it', async t => {
      t.equal(await textOf(testbed, `${calculation}/run.log`), log)
      t.equal(await textOf(testbed, `${calculation}/empty.txt`), '')
    })

    t.test('READ-1 a read anywhere gives what is there, and nothing behind the end', async t => {
      const file = await files.open(`${calculation}/run.log`, 'r')
      t.equal((await file.read(10, 123_450)).toString(), log.slice(123_450, 123_460))
      t.equal((await file.read(100, log.length - 5)).toString(), log.slice(-5))
      t.equal((await file.read(100, log.length)).length, 0)
      await file.close()
    })

    t.test('SIZE-1 modes: contents are read-only, records are not', async t => {
      const mode = async (path: string) => (await files.lstat(path)).mode
      t.equal(await mode(`${calculation}/run.log`), 0o444)
      t.equal(await mode(`reports/${ids.report}.json`), 0o644)
      t.equal(await mode(calculation), 0o755)
    })

    t.test('TIME-1 times stand: over a restart nothing has another time', async t => {
      const paths = [
        calculation,
        `${calculation}/run.log`,
        `${calculation}/TS1_opt.xyz`,
        `reports/${ids.report}.json`,
        'projects',
      ]
      const times = () => Promise.all(paths.map(async path => (await files.lstat(path)).mtimeMs))
      const before = await times()
      await testbed.remount()
      t.same(await times(), before)
    })
  })

  const services = {
    'no HEAD': { head: true },
    'no Range': { head: true, range: true },
    'no length': { contentLength: true },
    'nothing but the bytes': { head: true, range: true, contentLength: true },
    'every shortcoming': { ...poor, root: false },
  }
  for (const [name, lacks] of variants(open, Object.entries(services), 2)) {
    t.test(`SIZE-2 sizes are true before the first read, with ${name}`, async t => {
      const testbed = await open(t, { service: { shortcomings: { ...complete, ...lacks } } })
      t.equal((await testbed.files.lstat(`${calculation}/run.log`)).size, log.length)
      t.equal((await testbed.files.lstat(`${calculation}/empty.txt`)).size, 0)
      t.equal(await textOf(testbed, `${calculation}/run.log`), log)
    })
  }

  for (const status of [400, 501])
    t.test(`SIZE-2 a service that answers a Range with ${status} is one without it`, async t => {
      const big = 'x'.repeat(3 << 20)
      const testbed = await open(t, {
        service: { shortcomings: { ...complete, head: status === 400 } },
        fill: fillMany(['9'], () => ({ 'run.log': big })),
      })
      testbed.service.intercept(/^GET .*bitstream/, async (response, { headers, carryOut }) => {
        if (headers?.range === undefined) (await carryOut())()
        else response.writeHead(status).end()
      })
      t.equal((await testbed.files.lstat('projects/Many/c9/run.log')).size, big.length)
      t.equal(await textOf(testbed, 'projects/Many/c9/run.log'), big)
    })

  t.test('READ-1 a page whose body was lost before it was believed is read whole', async t => {
    const page = Buffer.from('<html>page</html>\n'.repeat(6_000))
    const testbed = await open(t, { fill: fillMany(['9'], () => ({ 'run.html': page.toString() })) })
    const path = 'projects/Many/c9/run.html'
    t.equal((await testbed.files.lstat(path)).size, page.length)
    let isLost = false
    testbed.service.intercept(/^GET .*bitstream/, async (response, { headers, carryOut }) => {
      if (isLost || /^bytes=\d+-\d/.test(headers?.range ?? '')) return (await carryOut())()
      isLost = true
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': page.length })
      response.write(page.subarray(0, 60_000), () => setTimeout(() => response.destroy(), 50))
    })
    testbed.service.intercept(/^GET (?!.*bitstream)/, async (_response, { carryOut }) => {
      const send = await carryOut()
      setTimeout(send, isLost ? 200 : 0)
    })
    const file = await testbed.files.open(path, 'r')
    const parts = await Promise.all([0, 8192, 50_000].map(offset => file.read(4096, offset)))
    for (const [at, offset] of [0, 8192, 50_000].entries())
      t.equal(parts[at]?.toString(), page.toString('latin1', offset, offset + 4096), `at ${offset}`)
    t.ok(isLost)
    await file.close()
  })

  t.test('bad answers', async t => {
    const { files, service } = await open(t)

    for (const status of [202, 204, 206])
      t.test(`READ-7 an empty listing with the status ${status} is no empty folder`, async t => {
        const mend = service.intercept(/^GET \/(project\/descendant|report)/, response => {
          response.writeHead(status, { 'content-type': 'application/json' })
          response.end(status === 204 ? '' : '[]')
        })
        t.equal(await outcome(files.readdir(`by-id/project/${ids.dyes}`)), 'EIO')
        t.equal(await outcome(files.readFile('reports/4712.json')), 'EIO')
        mend()
      })
  })
}
