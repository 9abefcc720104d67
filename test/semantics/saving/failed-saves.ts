// After a save that failed the next one sends all of it: a text that was not stored is never a base.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { drawnFrom } from '../../testbed/variants.js'

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
  'written in place': async ({ files }, text) => {
    const file = await files.open(report, 'r+')
    try {
      await file.write(text, 0)
      await file.truncate(Buffer.byteLength(text))
    } finally {
      await file.close()
    }
  },
  'moved over': async (testbed, text) => {
    const scratch = `reports/.${ids.report}.json.swx`
    await overwrite(testbed, scratch, text)
    await testbed.files.rename(scratch, report)
  },
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
      const mend = service.intercept(
        /^(GET|PUT) \/report/,
        response => void response.writeHead(503).end('away'),
      )
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
      const sent = await service.during(async () => t.equal(await outcome(put(testbed, text)), 'done', told))
      t.same(writes(sent), ['PUT /report'], told)
      const { title, description } = await stored(testbed)
      t.same({ title, description }, { title: `Unsent ${turn} 1`, description: `One letter ${turn}` }, told)
    }
  })
}
