// Promises of `--sample`: everything the manifest names is there, and every calculation has a geometry.
import t, { type Test } from 'tap'
import { loadSample } from '../../src/service/sample.js'
import { startService } from '../../src/service/service.js'
import { type Client, scratch, signedIn } from './client.js'

t.setTimeout(120_000)

async function sampled(t: Test, directory?: string) {
  const service = await startService({ data: scratch(t) })
  t.teardown(() => service.close())
  loadSample(service.seed, directory)
  return service
}

async function items(client: Client, path: string): Promise<readonly { id: number; name: string }[]> {
  return JSON.parse((await client('GET', path)).text)
}

t.test('the shipped sample is as rich as the demo needs', async t => {
  const { url } = await sampled(t)
  const demo = await signedIn(t, url, 'demo')
  await signedIn(t, url, 'guest')
  const { text: root } = await demo('GET', '/navigation/path/resolve?path=/db/demo&type=project')
  t.ok((await items(demo, `/project/descendant?id=${root}&type=project`)).length >= 3)
  const calculations = await items(demo, `/project/descendant?id=${root}&depth=all`)
  t.ok(calculations.length >= 12)
  for (const { id, name } of calculations) {
    const files = JSON.parse((await demo('GET', `/calculation/files?id=${id}`)).text)
    t.ok(files.includes('output.cml'), `${name}: ${files}`)
    const { status, text } = await demo('GET', `/calculation/xyz?id=${id}`)
    const lines = text.trimEnd().split('\n')
    t.same([status, Number(lines[0]), lines[1]], [200, lines.length - 2, name])
  }
})
