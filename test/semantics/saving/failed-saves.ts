// A save that failed: its errno, its text and its why; the next one sends all of it.
import type { Test } from 'tap'
import type { Interceptor } from '../../testbed/proxy.js'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { drawnFrom, variants } from '../../testbed/variants.js'
import { until } from '../../testbed/within.js'

const report = `reports/${ids.report}.json`
const stored = async ({ service }: Testbed): Promise<Record<string, unknown>> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${ids.report}`))

const edited = (text: string, name: string, value: string): string =>
  text.replace(new RegExp(`("${name}": )"[^"]*"(,\n {2}")`), `$1"${value}"$2`)

const between: Readonly<Record<string, (testbed: Testbed) => Promise<unknown>>> = {
  nothing: async () => undefined,
  'a stat': ({ files }) => files.lstat(report),
  'a reading': testbed => textOf(testbed, report),
  'a reading later': async testbed => {
    await testbed.pass(2_500)
    return textOf(testbed, report)
  },
  'a remount': testbed => testbed.remount(),
}

/** As editors put a text into its place. */
const ways: Readonly<Record<string, (testbed: Testbed, text: string) => Promise<unknown>>> = {
  'written over': (testbed, text) => overwrite(testbed, report, text),
  'written in place': (testbed, text) => overwrite(testbed, report, text, 'r+'),
  'moved over': async (testbed, text) => {
    const scratch = `reports/.${ids.report}.json.swx`
    await overwrite(testbed, scratch, text)
    await testbed.files.rename(scratch, report)
  },
}

/** What comes in the place of an answer to the PUT, and the errno of the save. */
const refusals: Readonly<Record<string, { readonly answer: Interceptor; readonly errno: string }>> = {
  ...Object.fromEntries(
    Object.entries({
      400: 'EINVAL',
      403: 'EACCES',
      404: 'ENOENT',
      // One number here.
      405: 'ENOTSUP|EOPNOTSUPP',
      409: 'ESTALE',
      410: 'ENOENT',
      412: 'ESTALE',
      413: 'EFBIG',
      422: 'EINVAL',
      423: 'EBUSY',
      429: 'EBUSY',
      500: 'EIO',
      501: 'ENOTSUP|EOPNOTSUPP',
      503: 'EBUSY',
      507: 'ENOSPC',
    }).map(([status, errno]) => {
      const answer: Interceptor = response =>
        void response.writeHead(Number(status)).end(JSON.stringify({ error: `no ${status}` }))
      return [`the service answered ${status} [\\s\\S]*The service said: .*no ${status}`, { answer, errno }]
    }),
  ),
  'the server ignored the change of "title"': { answer: response => void response.end('{}'), errno: 'EIO' },
  'was not saved: .*(page|ignored the change)': {
    answer: response =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
    errno: 'EIO',
  },
  'no answer to PUT .*\\nIt was sent, and whether': { answer: () => {}, errno: 'ETIMEDOUT' },
  'was not saved: (?!.*answered)': { answer: response => void response.destroy(), errno: 'EHOSTUNREACH' },
}

const drawnOf = <Value>(all: Readonly<Record<string, Value>>, draw: (below: number) => number) =>
  Object.entries(all)[draw(Object.keys(all).length)] as [string, Value]

export function failedSaves(t: Test, open: OpenTestbed): void {
  t.test('DRAFT-2 what a failed save said is sent with the next letter', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const { seed, draw } = drawnFrom()
    for (let turn = 0; turn < 6; turn += 1) {
      const did: string[] = []
      let text = await textOf(testbed, report)
      const mend = service.refuse(/^(GET|PUT) \/report/, 503, 'away')
      for (let letters = 1 + draw(2); letters > 0; letters -= 1) {
        const [way, put] = drawnOf(ways, draw)
        const [meanwhile, look] = drawnOf(between, draw)
        did.push(way, meanwhile)
        const name = letters === 2 ? 'configuration' : 'title'
        text = edited(text, name, `Unsent ${turn} ${letters}`)
        t.match(await outcome(put(testbed, text)), /^E/, did.join(', '))
        await look(testbed)
        t.equal(await textOf(testbed, report), text, `the draft is shown: ${did.join(', ')}, seed ${seed}`)
      }
      mend()
      await testbed.pass(2_500)
      text = edited(text, 'description', `One letter ${turn}`)
      const [way, put] = drawnOf(ways, draw)
      const told = `${[...did, way].join(', ')}, seed ${seed}, turn ${turn}`
      await service.sends(t, ['PUT /report'], told, async () =>
        t.equal(await outcome(put(testbed, text)), 'done', told),
      )
      const { title, description } = await stored(testbed)
      t.same({ title, description }, { title: `Unsent ${turn} 1`, description: `One letter ${turn}` }, told)
    }
  })

  t.test('DRAFT-2 a refusal is its errno and a why; the text is kept, and sent by no other save', async t => {
    const all = [...Object.entries(refusals).entries()]
    const idOf = (at: number): string => String(900 + at)
    const testbed = await open(t, {
      settings: { deadlineSave: '4s', deadlineMetadata: '4s' },
      adds(seed) {
        for (const [at] of all) seed.addReport({ id: idOf(at), name: 'R', title: 'Before', owner: 'demo' })
      },
    })
    const { service } = testbed
    const titleOf = async (id: string): Promise<unknown> =>
      JSON.parse(await service.elsewhere('GET', `/report?id=${id}`)).title
    for (const [at, [why, { answer, errno }]] of variants(open, all, 3)) {
      const [id, name] = [idOf(at), `reports/${idOf(at)}.json`]
      const text = (await textOf(testbed, name)).replace('"Before"', `"After ${at}"`)
      const mend = service.intercept(/^PUT \/report$/, answer)
      await service.sends(t, ['PUT /report'], why, async () => {
        t.match(await outcome(overwrite(testbed, name, text)), new RegExp(`^(${errno})$`), why)
        t.equal(await textOf(testbed, name), text, 'the file shows the text')
        t.match(await textOf(testbed, `.calcfs/drafts/${id}.json.why`), new RegExp(why, 'i'))
        const theirs = errno === 'ESTALE' ? [`${id}.theirs.json`] : []
        t.same(await namesOf(testbed, '.calcfs/drafts'), [`${id}.json`, `${id}.json.why`, ...theirs])
      })
      mend()
      t.equal(await titleOf(id), 'Before', why)
      const isSaved = async () => (await outcome(overwrite(testbed, name, text))) === 'done'
      await until(30_000, 'the next save', isSaved)
      t.equal(await titleOf(id), `After ${at}`)
      t.same(await namesOf(testbed, '.calcfs/drafts'), [])
    }
  })

  t.test('SAVE-16 the text of before takes back what is stored of a save that failed', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const text = await textOf(testbed, report)
    const before = (await stored(testbed))['calculations']
    const rows = [...(before as object[])].reverse().map((row, at) => ({ ...row, calcOrder: at + 1 }))
    const other = JSON.stringify({ ...JSON.parse(text), title: 'Never stored', calculations: rows })
    const mend: (() => void)[] = []
    mend[0] = service.intercept(/^PUT \/report$/, response => {
      mend[1] = service.refuse(/^GET \/report/, 500)
      response.writeHead(500).end()
    })
    t.equal(await outcome(overwrite(testbed, report, other)), 'EIO')
    for (const undo of mend) undo()
    t.same((await stored(testbed))['calculations'], rows)
    await until(20_000, 'it', async () => (await outcome(overwrite(testbed, report, text))) === 'done')
    t.same((await stored(testbed))['calculations'], before)
  })
}

export function privateDrafts(t: Test, open: OpenTestbed): void {
  t.test('STATE-2 no other user can read an unsaved text', async t => {
    const { files, ...testbed } = await open(t)
    const mode = async (path: string) => (await files.lstat(path)).mode
    t.equal(await mode('.calcfs/drafts'), 0o700)
    t.equal(await mode(report), 0o644)
    for (const path of [report, 'reports/new-secret.json', `reports/${ids.profile}/order.txt`]) {
      t.equal(await outcome(overwrite({ files, ...testbed }, path, '{ "secret": not yet')), 'EINVAL')
      t.equal(await mode(path), 0o600, path)
    }
    for (const name of (await files.readdir('.calcfs/drafts')).keys())
      t.equal(await mode(`.calcfs/drafts/${name}`), 0o400, name)
    for (const name of (await files.readdir('.calcfs/drafts')).keys())
      if (!/\.(why|theirs\.json)$/.test(name)) await files.unlink(`.calcfs/drafts/${name}`)
    // The kernel's cached attributes hold for a second.
    await testbed.pass(1100)
    t.equal(await mode(report), 0o644)
  })
}
