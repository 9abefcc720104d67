// The port of the metrics: two questions are answered; where another program has it the drive mounts, and mount says what to do.
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import t from 'tap'
import { freePort } from '../../testbed/fleet/redis.js'
import { mountPlace, realMount } from '../../testbed/mount.js'
import { outcome, overwrite } from '../../testbed/testbed.js'
import { succeeds, until, within } from '../../testbed/within.js'

t.test('METRIC-1 a port that is in use is told on standard error, and the drive is there', async t => {
  const { parts, removed } = await mountPlace(t, {})
  t.teardown(removed)
  const { service, calcfs, directory } = parts
  const other = createServer()
  await new Promise<void>(listening => void other.listen(0, '127.0.0.1', listening))
  t.teardown(() => other.close())
  const place = other.address()
  const address = `127.0.0.1:${typeof place === 'object' ? place?.port : ''}`
  const flags = ['--daemon', '--user', 'demo', '--metrics', address]
  const ran = await calcfs('mount', ...flags, service.url, directory)
  t.teardown(() => calcfs('unmount', directory))
  t.match(ran, { code: 0, stdout: /^mounted / })
  t.equal(
    ran.stderr,
    `calcfs: there are no metrics at ${address}: another program uses it; give each drive a port of its own with --metrics\n`,
  )
  t.ok((await within(30_000, 'a listing', readdir(directory))).includes('projects'))
})

t.test('METRIC-1 the port answers two questions, and says that an edit is unsaved', async t => {
  const address = `127.0.0.1:${await freePort()}`
  const testbed = await realMount(t, { settings: { metrics: address } })
  const asked = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://${address}${path}`, { method })
    return { status: answer.status, text: await answer.text() }
  }
  await until(30_000, 'the port, a moment after the drive', () => succeeds(asked('/healthz')))
  t.match(await asked('/metrics'), { status: 200, text: /^calcfs_/m })
  t.match(await asked('/healthz'), { status: 200 })
  t.match(await asked('/'), { status: 404 })
  t.match(await asked('/metrics', 'POST'), { status: 405 })
  t.equal(await outcome(overwrite(testbed, 'reports/42.json', '{')), 'EINVAL')
  t.match(await asked('/healthz'), { status: 503, text: /^one edit is not saved/ })
})
