// A file that has become longer within the second for which the kernel keeps its size: read whole, or an error, never cut.
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Interceptor } from '../testbed/proxy.js'
import { fillSampleData, ids } from '../testbed/sample-data.js'
import { warmMount } from '../testbed/warm-mount.js'
import { within } from '../testbed/within.js'

t.setTimeout(120_000)

const short = 'short\n'.repeat(60)
const long = 'a longer one\n'.repeat(450)

/** What a program reads that begins now, or how it ends. */
async function cat(path: string): Promise<string> {
  try {
    return (await within(10_000, `cat ${path}`, promisify(execFile)('cat', [path]))).stdout
  } catch (thrown) {
    return String(thrown)
  }
}

/** A service that holds this text under the title. */
function holding(text: () => string): Interceptor {
  return (response, { heard }) => {
    const bytes = text()
    response.writeHead(200, { 'content-length': bytes.length, etag: `"${bytes.length}"` })
    response.end(heard.method === 'HEAD' ? undefined : bytes)
  }
}

t.test('READ-17 what `calcfs refresh` finds longer is read whole at once', async t => {
  const testbed = await warmMount(t)
  const path = join(testbed.directory, `by-id/calculation/${ids.transition}/run.log`)
  let text = short
  testbed.service.intercept(
    /bitstream\?id=1234&fileId=run\.log/,
    holding(() => text),
  )
  t.equal(await cat(path), short)
  text = long
  t.equal((await stat(path)).size, short.length, 'the kernel knows it now')
  t.match(await testbed.calcfs('refresh', path), { code: 0 })
  t.equal(await cat(path), long)
})

t.test('READ-17 after ESTALE the next open reads the longer version whole', async t => {
  const testbed = await warmMount(t)
  const path = join(testbed.directory, `by-id/calculation/${ids.transition}/run.log`)
  let text = short
  testbed.service.intercept(
    /bitstream\?id=1234&fileId=run\.log/,
    holding(() => text),
  )
  t.equal((await stat(path)).size, short.length)
  text = long
  t.match(await cat(path), /Stale file handle/)
  t.equal(await cat(path), long)
})

t.test('READ-17 another calculation that has the name now is read whole at once', async t => {
  const testbed = await warmMount(t, {
    fill(seed) {
      fillSampleData(seed)
      seed.addCalculation({ id: '3001', name: 'One', project: ids.water, files: { 'a.out': short } })
      seed.addCalculation({ id: '3002', name: 'Two', project: ids.water, files: { 'a.out': long } })
    },
  })
  const folder = join(testbed.directory, 'projects/Water splitting')
  t.equal(await cat(join(folder, 'Two/a.out')), long)
  t.equal(await cat(join(folder, 'One/a.out')), short)
  await testbed.service.elsewhere('PUT', '/calculation', '{"id":3001,"name":"Three"}')
  await testbed.service.elsewhere('PUT', '/calculation', '{"id":3002,"name":"One"}')
  t.equal((await stat(join(folder, 'One/a.out'))).size, short.length)
  t.match(await testbed.calcfs('refresh', folder), { code: 0 })
  t.equal(await cat(join(folder, 'One/a.out')), long)
})
