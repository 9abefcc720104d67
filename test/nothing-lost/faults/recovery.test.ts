// What breaks in the middle of a save and mends by itself: a token that ends, an answer that is lost; the user sees nothing of it.
import t from 'tap'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import type { Interceptor } from '../../testbed/proxy.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'

const report = `reports/${ids.report}.json`
const put = /^PUT \/report$/

/** The service's answers to PUTs that get lost or are late, though it has carried them out. */
const lost: readonly { readonly name: string; readonly how: Interceptor }[] = [
  {
    name: 'the connection breaks before the answer',
    async how(response, { carryOut }) {
      await carryOut()
      response.destroy()
    },
  },
  {
    name: 'the answer never comes',
    async how(_, { carryOut }) {
      await carryOut()
    },
  },
  {
    name: 'a proxy gives up waiting and answers 504',
    async how(response, { carryOut }) {
      await carryOut()
      response.writeHead(504).end()
    },
  },
  {
    name: 'a proxy answers with a page of its own',
    async how(response, { carryOut }) {
      await carryOut()
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Thank you</html>')
    },
  },
]

t.setTimeout(120_000)

t.test('answers that are lost', async t => {
  const testbed = await realMount(t, { settings: { deadlineSave: '3s' } })
  for (const [at, { name, how }] of lost.entries()) {
    t.test(`${name}: what was stored is saved, and sent once`, async t => {
      const mend = testbed.service.intercept(put, how)
      const title = `Title ${10 + at}`
      const text = await retitled(testbed, title)
      const sent = await testbed.service.during(async () => {
        t.equal(await outcome(overwrite(testbed, report, text)), 'done')
      })
      mend()
      t.same(writes(sent), ['PUT /report'])
      t.equal(JSON.parse(await stored(testbed)).title, title)
      t.same(await namesOf(testbed, '.calcfs/drafts'), [])
    })
  }

  t.test(
    'a token that the service takes back before the PUT is renewed, and the edit is stored once',
    async t => {
      let refusals = 0
      const mend = testbed.service.intercept(put, async (response, { carryOut }) => {
        refusals++
        if (refusals === 1) return void response.writeHead(401).end('{"error":"not signed in"}')
        const passOn = await carryOut()
        passOn()
      })
      t.equal(await outcome(overwrite(testbed, report, await retitled(testbed, 'Signed again'))), 'done')
      mend()
      t.equal(refusals, 2)
      t.equal(JSON.parse(await stored(testbed)).title, 'Signed again')
    },
  )
})

t.test(
  'CLI-22 unsent at the unmount: it says so, ends with 7, and the text is there at the next mount',
  async t => {
    const testbed = await realMount(t)
    const text = await retitled(testbed, 'Unsent')
    const mend = testbed.service.intercept(put, response => void response.writeHead(500).end())
    t.equal(await outcome(overwrite(testbed, report, text)), 'EIO')
    mend()
    t.match(await testbed.calcfs('unmount', testbed.directory), {
      code: 7,
      stderr: /unmounted, but not saved on the service: report 42; the texts are kept in .*\/drafts/,
    })
    await testbed.mount()
    const told = /one edit of an earlier mount is not saved yet: calcfs drafts list/
    await until(10_000, 'the log tells of it', async () => told.test(await testbed.log()))
    t.equal(await textOf(testbed, report), text)
    t.equal(await testbed.terminate(), 7, 'so does the daemon when a signal ends it')
    t.match(await testbed.log(), /not saved on the service: report 42/)
    await testbed.mount()
    t.equal(await textOf(testbed, `.calcfs/drafts/${ids.report}.json`), text)
    t.equal(await outcome(overwrite(testbed, report, text)), 'done')
    t.equal(JSON.parse(await stored(testbed)).title, 'Unsent')
    t.match(await testbed.calcfs('unmount', testbed.directory), { code: 0 })
  },
)

const stored = ({ service }: MountTestbed): Promise<string> =>
  service.elsewhere('GET', `/report?id=${ids.report}`)

const retitled = async (testbed: MountTestbed, title: string): Promise<string> =>
  (await textOf(testbed, report)).replace(/"title": "[^"]*",\n/, `"title": "${title}",\n`)
