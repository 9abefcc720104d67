// Random trees and deleters of every temper: a walk over a project sends no DELETE, whatever its order; one calculation sends one.
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { type Chance, chance } from '../../long/chance.js'
import { inProcess } from '../../testbed/in-process.js'
import { writes } from '../../testbed/service.js'
import { outcome, type Testbed, textOf } from '../../testbed/testbed.js'
import { drawnFrom } from '../../testbed/variants.js'

const { seed } = drawnFrom()
const trees = Number(process.env['CALCFS_TEST_RUNS'] ?? 6)

/** A project as it is drawn: how many files each calculation has, how many shares there are, and what is below. */
interface Plan {
  readonly calculations: readonly number[]
  readonly shares: number
  readonly projects: readonly Plan[]
}

const planOver = (projects: fc.Arbitrary<Plan[]>): fc.Arbitrary<Plan> =>
  fc.record({
    calculations: fc.array(fc.nat({ max: 3 }), { maxLength: 6 }),
    shares: fc.nat({ max: 2 }),
    projects,
  })
const leaves = planOver(fc.constant([]))
const plans = planOver(fc.array(planOver(fc.array(leaves, { maxLength: 2 })), { maxLength: 2 }))

/** How a deleter goes about it. */
const tempers = fc.record({
  order: fc.constantFrom('forwards', 'backwards', 'sorted', 'shuffled'),
  /** Depth first, all files before all directories, or any order in which a folder comes after what is in it. */
  course: fc.constantFrom('depth', 'files first', 'any'),
  atOnce: fc.constantFrom(1, 1, 1, 3),
  stopsAtError: fc.boolean(),
  /** A folder of which something could not be removed is not tried (`rm`), or all the same (`find -delete`). */
  triesFull: fc.boolean(),
  rmdirFirst: fc.boolean(),
  listsAhead: fc.boolean(),
  alias: fc.constantFrom('path', 'number'),
})
type Temper = typeof tempers extends fc.Arbitrary<infer Value> ? Value : never

interface Entry {
  readonly path: string
  readonly kind: string
  readonly below: readonly Entry[]
}

async function tree({ files }: Testbed, path: string): Promise<Entry> {
  const below: Entry[] = []
  for (const [name, kind] of await files.readdir(path)) {
    const entry = `${path}/${name}`
    below.push(
      kind === 'directory' ? await tree({ files } as Testbed, entry) : { path: entry, kind, below: [] },
    )
  }
  return { path, kind: 'directory', below }
}

function ordered(entries: readonly Entry[], { order }: Temper, pick: Chance): readonly Entry[] {
  if (order === 'backwards') return entries.toReversed()
  if (order === 'sorted') return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  if (order === 'forwards') return entries
  return pick.shuffled(entries)
}

/** Everything in the order in which it is tried; a folder comes after what is in it. */
function plan(entry: Entry, temper: Temper, pick: Chance): readonly Entry[] {
  const depthFirst = (one: Entry): readonly Entry[] => [
    ...ordered(one.below, temper, pick).flatMap(depthFirst),
    one,
  ]
  const all = depthFirst(entry)
  if (temper.course === 'depth') return all
  if (temper.course === 'files first')
    return [
      ...all.filter(({ kind }) => kind !== 'directory'),
      ...all.filter(({ kind }) => kind === 'directory'),
    ]
  const left = new Set(all)
  const free = (): readonly Entry[] => [...left].filter(({ below }) => !below.some(one => left.has(one)))
  const found: Entry[] = []
  while (left.size > 0) {
    const choice = free()
    const next = choice[pick.whole(0, choice.length - 1)]
    if (next === undefined) break
    left.delete(next)
    found.push(next)
  }
  return found
}

/** Removes these and all below them, as such a deleter does. */
async function walk(testbed: Testbed, paths: readonly string[], temper: Temper, pick: Chance): Promise<void> {
  const { files } = testbed
  const failed = new Set<Entry>()
  let hasStopped = false
  async function remove(entry: Entry): Promise<void> {
    if (hasStopped) return
    const isFull = entry.below.some(one => failed.has(one))
    if (isFull && !temper.triesFull) return void failed.add(entry)
    const work = entry.kind === 'directory' ? files.rmdir(entry.path) : files.unlink(entry.path)
    if ((await outcome(work)) === 'done') return
    failed.add(entry)
    hasStopped ||= temper.stopsAtError
  }
  const ahead = temper.listsAhead ? await Promise.all(paths.map(path => tree(testbed, path))) : []
  for (const [at, path] of paths.entries()) {
    const entry = ahead[at] ?? (await tree(testbed, path))
    if (temper.rmdirFirst) await tryBare(testbed, entry)
    for (const some of batches(plan(entry, temper, pick), temper.atOnce)) await Promise.all(some.map(remove))
  }
}

/** From the top down: a program that hopes that each folder is empty. */
async function tryBare(testbed: Testbed, entry: Entry): Promise<void> {
  if (entry.kind !== 'directory') return
  await outcome(testbed.files.rmdir(entry.path))
  for (const one of entry.below) await tryBare(testbed, one)
}

/** So many at once, but a folder never together with what is in it. */
function batches(all: readonly Entry[], size: number): readonly (readonly Entry[])[] {
  const found: Entry[][] = [[]]
  for (const entry of all) {
    const last = found.at(-1) ?? []
    if (last.length < size && !last.some(one => isIn(one, entry))) last.push(entry)
    else found.push([entry])
  }
  return found
}

const isIn = (one: Entry, above: Entry): boolean => one.path.startsWith(`${above.path}/`)

let number = 0

/** The project's id, and those of its calculations. */
function grow(service: Seed, wanted: Plan, parent?: string): { id: string; name: string } {
  const name = `P${++number}`
  const id = service.addProject({ name, owner: 'demo', ...(parent === undefined ? {} : { parent }) })
  for (const count of wanted.calculations) {
    const names = Array.from({ length: count }, (_, at) => [`file ${at}.out`, `${at}\n`])
    service.addCalculation({ name: `C${++number}`, project: id, files: Object.fromEntries(names) })
  }
  for (const user of ['ada', 'ben'].slice(0, wanted.shares))
    service.addShare({ project: id, user, permission: 'READ' })
  for (const below of wanted.projects) grow(service, below, id)
  return { id, name }
}

t.setTimeout(570_000)

t.test(`DEL-4 a walk over a project, CALCFS_TEST_SEED=${seed}`, async t => {
  const testbed = await inProcess(t, {
    fill(service) {
      for (const name of ['demo', 'ada', 'ben']) service.addUser({ name, password: name })
    },
    settings: { access: 'manage', root: ['/db/demo'] },
  })
  const { files, service } = testbed

  async function settle(): Promise<void> {
    await testbed.pass(3_200)
    await files.readdir('projects')
    const isDeleting = async (): Promise<boolean> =>
      JSON.parse(await textOf(testbed, '.calcfs/status.json')).deleting.length > 0
    for (let heard = -1; heard !== service.heard.length || (await isDeleting()); ) {
      heard = service.heard.length
      // A pause that began again on a busy machine ends, too.
      await testbed.pass(100)
      await new Promise(wake => setTimeout(wake, 60))
    }
  }

  async function project(wanted: Plan, alias: Temper['alias']): Promise<{ id: string; path: string }> {
    const { id, name } = service.seed.together(() => grow(service.seed, wanted))
    await testbed.pass(3_200)
    await files.touch('projects')
    return { id, path: alias === 'path' ? `projects/${name}` : `by-id/project/${id}` }
  }

  /** The writes of a walk over these paths. */
  const deletedBy = async (paths: readonly string[], temper: Temper, state: number): Promise<string[]> => {
    const sent = await service.during(async () => {
      await walk(testbed, paths, temper, chance(state))
      await settle()
    })
    return writes(sent)
  }

  async function tried(
    t: Test,
    judge: (wanted: Plan, temper: Temper, state: number) => Promise<void>,
  ): Promise<void> {
    let walks = 0
    const property = fc.asyncProperty(plans, tempers, fc.nat(), async (...drawn) => {
      await judge(...drawn)
      walks += 1
    })
    await fc.assert(property, { numRuns: trees, seed, interruptAfterTimeLimit: 120_000 })
    t.ok(walks > 0, `${walks} walks`)
  }

  await t.test('in any order deletes nothing', t =>
    tried(t, async (wanted, temper, state) => {
      // rmdir of an empty project is what it says.
      fc.pre(!temper.rmdirFirst || wanted.calculations.length + wanted.projects.length > 0)
      const { path } = await project(wanted, temper.alias)
      const deleted = await deletedBy([path], temper, state)
      if (deleted.length > 0) throw new Error(`${deleted.join(', ')} of ${path}`)
    }),
  )

  await t.test('DEL-4 over all that a shell finds in it (PROJECT/*) deletes three, or nothing', t =>
    tried(t, async (wanted, temper, state) => {
      fc.pre(wanted.calculations.length > 0)
      const { path } = await project(wanted, temper.alias)
      const names = [...(await files.readdir(path)).keys()].filter(name => !name.startsWith('.'))
      const paths = chance(state)
        .shuffled(names)
        .map(name => `${path}/${name}`)
      const deleted = await deletedBy(paths, { ...temper, stopsAtError: false, rmdirFirst: false }, state)
      // A project in it has files of its own.
      const isFew = wanted.calculations.length <= 3 && wanted.projects.length === 0
      const expected = isFew ? wanted.calculations.length : 0
      if (deleted.length !== expected) throw new Error(`${deleted.join(', ')} of ${path}/*`)
    }),
  )

  await t.test('DEL-3 over one calculation deletes that one', t =>
    tried(t, async (wanted, temper, state) => {
      const given = { ...wanted, calculations: [...wanted.calculations, 2] }
      const { id, path } = await project(given, temper.alias)
      const listing = JSON.parse(
        await service.elsewhere('GET', `/project/descendant?id=${id}&type=calculation`),
      )
      const one = listing[state % listing.length]
      const deleted = await deletedBy([`${path}/${one.name}`], { ...temper, stopsAtError: false }, state)
      if (deleted.join() !== `DELETE /calculation?id=${one.id}`) throw new Error(`${deleted} for ${one.id}`)
    }),
  )
})
