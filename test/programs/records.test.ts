// A third of the programs save the other texts that can be edited; whatever can make a file makes a new report.
import t, { type Test } from 'tap'
import type { Seed } from '../../src/service/seed.js'
import type { KernelTestbed } from '../testbed/mount.js'
import { fillSampleData, ids } from '../testbed/sample-data.js'
import { writes } from '../testbed/service.js'
import { namesOf, textOf } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'
import { savesOnce, type Target } from './one-update.js'
import { type Saver, savers } from './savers.js'

/** One kind of text: where each program's own one is, and what saving it comes to. */
interface Kind {
  readonly name: string
  readonly takes: (saver: Saver) => boolean
  readonly seed: (seed: Seed, at: number) => void
  readonly target: (testbed: KernelTestbed, at: number) => Promise<Target>
}

const rows = [ids.transition, ids.product, ids.bare]

const kinds: readonly Kind[] = [
  {
    name: '.project.json',
    takes: saver => saver.everywhere === true,
    seed: (seed, at) => seed.addProject({ id: String(500 + at), name: `Edited ${at}`, owner: 'demo' }),
    target: (testbed, at) =>
      described(testbed, {
        path: `projects/Edited ${at}/.project.json`,
        due: 'PUT /project',
        query: `/project?id=${500 + at}`,
      }),
  },
  {
    name: '.calculation.json',
    takes: saver => saver.everywhere === true,
    seed: (seed, at) =>
      seed.addCalculation({
        id: String(5000 + at),
        name: `Edited ${at}`,
        project: ids.empty,
        files: { 'job.mop': 'PM7\n' },
      }),
    target: (testbed, at) =>
      described(testbed, {
        path: `projects/Water splitting/Sub project/Edited ${at}/.calculation.json`,
        due: 'PUT /calculation',
        query: `/calculation?id=${5000 + at}`,
      }),
  },
  {
    name: 'order.txt',
    takes: saver => saver.everywhere === true && saver.needs !== 'json',
    seed: (seed, at) =>
      seed.addReport({
        id: String(600 + at),
        name: 'Ordered',
        owner: 'demo',
        calculations: rows.map(id => ({ id, title: `Row of ${id}` })),
      }),
    async target(testbed, at) {
      const path = `reports/${600 + at}/order.txt`
      const [first, ...others] = (await textOf(testbed, path)).trimEnd().split('\n')
      return {
        path,
        text: `${[...others, first].join('\n')}\n`,
        due: ['PUT /report/calculations'],
        told: async () => (await recordOf(testbed, `/report?id=${600 + at}`))['calculations'],
        stored: [...rows.slice(1), ...rows.slice(0, 1)].map((id, place) => ({
          calcId: Number(id),
          calcOrder: place + 1,
          title: `Row of ${id}`,
        })),
      }
    },
  },
  {
    name: 'a new report',
    takes: saver => saver.needs === undefined,
    seed: () => {},
    async target(testbed, at) {
      const title = `Made ${at}`
      const newest = async (): Promise<number> =>
        Math.max(...(await namesOf(testbed, 'reports')).map(name => Number.parseInt(name, 10) || 0))
      return {
        path: `reports/new-${at}.json`,
        text: `${JSON.stringify({ name: 'Made', title, reportType: '1' }, undefined, 2)}\n`,
        due: ['POST /report'],
        told: async () => (await recordOf(testbed, `/report?id=${await newest()}`))['title'],
        stored: title,
        makes: async () => [`${await newest()}`, `${await newest()}.json`],
      }
    },
  },
]

t.setTimeout(240_000)

for (const kind of kinds) {
  t.test(`programs save ${kind.name}`, async t => {
    const those = savers.filter(kind.takes)
    const testbed = await warmMount(t, {
      fill(seed) {
        fillSampleData(seed)
        for (const at of those.keys()) kind.seed(seed, at)
      },
    })
    for (const [at, saver] of those.entries()) {
      t.test(`${saver.name} is one update of ${kind.name}`, async t => {
        await savesOnce(t, testbed, saver, await kind.target(testbed, at))
      })
    }
    await staysAsItIs(t, testbed)
  })
}

async function described(
  testbed: KernelTestbed,
  { path, due, query }: { path: string; due: string; query: string },
): Promise<Target> {
  const description = `Written in ${path}`
  const record = { ...JSON.parse(await textOf(testbed, path)), description }
  return {
    path,
    text: `${JSON.stringify(record, undefined, 2)}\n`,
    due: [due],
    told: async () => (await recordOf(testbed, query))['description'],
    stored: description,
  }
}

const recordOf = async ({ service }: KernelTestbed, query: string): Promise<Record<string, unknown>> =>
  JSON.parse(await service.elsewhere('GET', query))

async function staysAsItIs(t: Test, testbed: KernelTestbed): Promise<void> {
  t.test('two seconds later nothing more was sent, and there is no draft', async t => {
    t.same(writes(await testbed.service.during(() => testbed.pass(2500))), [])
    t.same(await namesOf(testbed, '.calcfs/drafts'), [])
  })
}
