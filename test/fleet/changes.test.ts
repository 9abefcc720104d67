// What one mount changes is seen on all others within a second: drawn changes, with another seed in each run.
import t from 'tap'
import type { Chance } from '../long/chance.js'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { untilSeen } from '../testbed/fleet/reads.js'
import { ids } from '../testbed/sample-data.js'
import { namesOf, outcome, overwrite, textOf } from '../testbed/testbed.js'
import { drawnFrom } from '../testbed/variants.js'
import { until, within } from '../testbed/within.js'

const water = 'projects/Water splitting'
/** Its calculations are deleted: elsewhere than empty projects, for `rm -r` of both at once is refused. */
const bin = 'projects/Bin'
/** For one call on a drive. */
const callMs = 20_000

/** A change that has been answered; whether a mount shows it. */
interface Made {
  readonly what: string
  readonly shows: (node: FleetNode) => Promise<boolean>
}

type Change = (node: FleetNode, word: string) => Promise<Made>

const spare = 8
/** A report with so many rows that no order comes back: a text of before could be an old buffer, and is refused. */
const long = '600'
/** Of things that drawn changes use up: one for each. */
function taken(names: string[]): string {
  const name = names.pop()
  if (name === undefined) throw new Error('all are used up')
  return name
}

const numbered = (word: string): string[] => Array.from({ length: spare }, (_, at) => `${word} ${at}`)
const reportIds = Array.from({ length: spare }, (_, at) => String(500 + at))
const userNames = Array.from({ length: spare }, (_, at) => `user${at}`)
const shares = `${water}/.shares`
const shareIds = Array.from({ length: spare / 2 }, (_, at) => String(700 + at))

const textIs = async (node: FleetNode, path: string, part: string): Promise<boolean> =>
  (await textOf(node, path).catch(() => '')).includes(part)

function changes(bed: FleetBed, others: () => readonly FleetNode[]): Readonly<Record<string, Change>> {
  const made = numbered('empty')
  const renamed = [...numbered('project'), ...numbered('calculation')]
  const removed = numbered('removed')
  const reports = [...reportIds]
  const users = userNames.slice(spare / 2)
  const shared = [...shareIds]

  const savedField =
    (path: string, field: string): Change =>
    async (node, word) => {
      const text = await textOf(node, path)
      const next = text.replace(new RegExp(`"${field}": "[^"]*"`), `"${field}": "${word}"`)
      await overwrite(node, path, next)
      return { what: `${field} of ${path}`, shows: async one => (await textOf(one, path)).includes(word) }
    }

  /** The pause before a deletion is the mount's own: it counts from the request on. */
  const deleted = (which: string): Promise<void> =>
    until(10_000, `DELETE ${which}`, () =>
      bed.service.heard.some(({ method, path }) => method === 'DELETE' && path.includes(which)),
    )

  return {
    'a report is saved': savedField(`reports/${ids.report}.json`, 'title'),
    'a calculation is saved': savedField(`${water}/TS1_opt/.calculation.json`, 'description'),
    'a project is saved': savedField(`${water}/Sub project/.project.json`, 'description'),
    async 'a report is made'(node, word) {
      const before = new Set(await namesOf(node, 'reports'))
      await overwrite(node, `reports/new-${word}.json`, JSON.stringify({ name: word, reportType: 1 }))
      const [name = ''] = (await namesOf(node, 'reports')).filter(
        one => /^\d+\.json$/.test(one) && !before.has(one),
      )
      const path = `reports/${name}`
      return { what: path, shows: one => textIs(one, path, word) }
    },
    async 'a project is made'(node, word) {
      await node.files.mkdir(`${water}/${word}`)
      made.push(word)
      return { what: `mkdir ${word}`, shows: async one => (await namesOf(one, water)).includes(word) }
    },
    async 'an empty project is removed'(node) {
      const name = taken(made)
      await node.files.rmdir(`${water}/${name}`)
      return { what: `rmdir ${name}`, shows: async one => !(await namesOf(one, water)).includes(name) }
    },
    async 'a thing is renamed'(node, word) {
      const name = taken(renamed)
      await node.files.rename(`${water}/${name}`, `${water}/${word}`)
      return {
        what: `mv ${name}`,
        async shows(one) {
          const names = await namesOf(one, water)
          return names.includes(word) && !names.includes(name)
        },
      }
    },
    async 'a report is deleted'(node) {
      const id = taken(reports)
      const path = `reports/${id}.json`
      for (const one of others()) await textOf(one, path)
      await node.files.unlink(path)
      await deleted(`/report?id=${id}`)
      return { what: `rm ${path}`, shows: async one => (await outcome(textOf(one, path))) === 'ENOENT' }
    },
    async 'a calculation is deleted'(node) {
      const name = taken(removed)
      const path = `${bin}/${name}`
      for (const one of others()) await namesOf(one, path)
      const { id } = JSON.parse(await textOf(node, `${path}/.calculation.json`)) as { id: number }
      for (const file of await namesOf(node, path)) await node.files.unlink(`${path}/${file}`)
      await node.files.rmdir(path)
      await deleted(`/calculation?id=${id}`)
      return { what: `rm -r ${name}`, shows: async one => !(await namesOf(one, bin)).includes(name) }
    },
    async 'a project is shared'(node, word) {
      const user = taken(users)
      const before = await namesOf(node, shares)
      await overwrite(node, `${shares}/new-${word}.json`, `{"user":"${user}","permission":"READ"}`)
      const [name = ''] = (await namesOf(node, shares)).filter(one => !before.includes(one))
      const path = `${shares}/${name}`
      return { what: `a share for ${user}`, shows: one => textIs(one, path, user) }
    },
    async 'a share is changed'(node) {
      const path = `${shares}/${taken(shared)}.json`
      const text = await textOf(node, path)
      await overwrite(node, path, text.replace('"READ"', '"WRITE"'))
      return { what: path, shows: one => textIs(one, path, '"WRITE"') }
    },
    async 'a list gets another order'(node) {
      const path = `reports/${long}/order.txt`
      const [first = '', ...rest] = (await textOf(node, path)).trimEnd().split('\n')
      const turned = [...rest, first].map(line => `${line}\n`).join('')
      await overwrite(node, path, turned)
      return { what: path, shows: async one => (await textOf(one, path)) === turned }
    },
  }
}

/** All that a drawn change may touch, so that each mount has it in its caches; a second time changes nothing. */
async function look(node: FleetNode): Promise<void> {
  await namesOf(node, 'reports')
  for (const folder of [water, bin, shares])
    for (const name of await namesOf(node, folder)) await outcome(node.files.lstat(`${folder}/${name}`))
  const records = [`${water}/TS1_opt/.calculation.json`, `${water}/Sub project/.project.json`]
  for (const path of [...records, `reports/${ids.report}.json`, `reports/${long}/order.txt`])
    await textOf(node, path)
  // Numbers of reports to come: "not there" is an answer that others have, too.
  for (const id of [1, 2, 3, 4]) await outcome(node.files.lstat(`reports/${id}.json`))
}

function drawn(pick: Chance): readonly string[] {
  const kinds = Object.keys(changes({} as FleetBed, () => []))
  const slow = kinds.filter(kind => kind.endsWith('deleted'))
  const quick = kinds.filter(kind => !slow.includes(kind))
  // Deletions wait for seconds: each once, all others at least once.
  return pick.shuffled([...kinds, ...quick, pick.of(quick), pick.of(quick)])
}

t.test('FLEET-2 whatever one mount changes is seen on all others within a second', async t => {
  const { seed, pick } = drawnFrom()
  t.comment(`seed ${seed}`)
  const bed = await fleetBed(t, {
    adds(seed) {
      for (const name of [...numbered('empty'), ...numbered('project')])
        seed.addProject({ name, owner: 'demo', parent: ids.water })
      const project = seed.addProject({ name: 'Bin', owner: 'demo' })
      const files = { 'a.out': 'a\n' }
      const calculations = numbered('calculation').map(name => ({
        id: seed.addCalculation({ name, project: ids.water, files }),
      }))
      seed.addReport({ id: long, name: 'Long', owner: 'demo', calculations })
      for (const name of numbered('removed')) seed.addCalculation({ name, project, files })
      for (const name of userNames) seed.addUser({ name, password: 'none' })
      for (const [at, id] of shareIds.entries())
        seed.addShare({ id, project: ids.water, user: `user${at}`, permission: 'READ' })
      for (const id of reportIds) seed.addReport({ id, name: `Report ${id}`, owner: 'demo' })
    },
  })
  const nodes = await Promise.all([1, 2, 3, 4].map(() => bed.join({ access: 'manage', maxDeletes: '50' })))
  let others: readonly FleetNode[] = []
  const make = changes(bed, () => others)
  for (const kind of drawn(pick)) {
    const writer = pick.of(nodes)
    others = nodes.filter(node => node !== writer)
    await within(callMs, 'looks', Promise.all(nodes.map(look)))
    const change = make[kind]
    if (change === undefined) throw new Error(kind)
    const { what, shows } = await within(callMs, kind, change(writer, `w${pick.word(6, 12)}`))
    const seen = others.map((node, at) =>
      untilSeen(nodes, `seed ${seed}: ${kind} (${what}) on mount ${at}`, () => shows(node)),
    )
    await within(4 * callMs, what, Promise.all(seen))
    t.ok(await shows(writer), `${kind} (${what}): its own mount shows it`)
  }
})
