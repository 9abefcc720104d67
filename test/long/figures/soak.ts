// Soak: mixes of programs for long on one mount with short lifetimes; memory and descriptors of the daemon stay where they are.
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Seed } from '../../../src/service/seed.js'
import { realMount } from '../../testbed/mount.js'
import { printed } from '../../testbed/programs.js'
import { cml, log, fillSampleData as world } from '../../testbed/sample-data.js'
import { descriptorsOf, memoryOf } from '../daemon.js'
import type { Figure, Frame } from '../engine.js'
import { scoped } from '../scope.js'
import type { Job, Mix, Soaked } from '../soak-child.js'

const child = fileURLToPath(new URL('../soak-child.js', import.meta.url))
const mixes: readonly Mix[] = ['walks', 'reads', 'edits', 'making', 'outages', 'all at once']
const programs = 3
const reportOf = (program: number): string => String(800 + program)
/** A hundredth of the usual ones: 30 s, 10 s, 5 s. */
const settings = {
  access: 'manage',
  ttlListing: '300ms',
  logLevel: 'warn',
}
/** Milliseconds that a mix goes on at least. */
const shortest = 4_000
/** Seconds; a token of a real service lives five minutes and more. */
const tokenLifetime = 3
const folders = 30

function fill(seed: Seed): void {
  world(seed)
  for (let at = 0; at < folders; at++)
    seed.addCalculation({
      id: String(2_000 + at),
      name: `Run ${at}`,
      project: '100',
      files: { 'output.cml': cml, 'run.log': log.slice(0, 1_000 * (at + 1)) },
    })
  for (let at = 0; at < programs; at++)
    seed.addReport({ id: reportOf(at), name: `R${at}`, title: 'Before', owner: 'demo', calculations: [] })
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const contents = Object.fromEntries(
  Array.from({ length: folders }, (_, at) => [
    [`projects/Water splitting/Run ${at}/output.cml`, sha256(cml)],
    [`projects/Water splitting/Run ${at}/run.log`, sha256(log.slice(0, 1_000 * (at + 1)))],
  ]).flat(),
)

interface Sample {
  readonly memory: number
  readonly descriptors: number
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** One is taken each second. */
const leastSamples = 60

/** How much more the last fifth has than the second one, in per cent; the first is for warming up. */
function growth(samples: readonly Sample[], of: 'memory' | 'descriptors'): number {
  const fifth = Math.floor(samples.length / 5)
  const early = median(samples.slice(fifth, 2 * fifth).map(one => one[of]))
  const late = median(samples.slice(-fifth).map(one => one[of]))
  return Math.round((1_000 * (late - early)) / Math.max(1, early)) / 10
}

interface Mixed {
  readonly soaked: readonly Soaked[]
  readonly renewals: number
  readonly samples: readonly Sample[]
}

async function soakOf(mix: Mix, seed: number, wanted: number): Promise<Mixed> {
  return scoped(async scope => {
    const testbed = await realMount(scope, { fill, settings, service: { tokenLifetime } })
    const until = Math.max(wanted, Date.now() + shortest)
    const { service } = testbed
    let isOver = false
    const samples: Sample[] = []
    const watch = async () => {
      while (!isOver) {
        samples.push({
          memory: (await memoryOf(testbed)) / 2 ** 20,
          descriptors: (await descriptorsOf(testbed)).length,
        })
        await testbed.pass(1_000)
      }
    }
    /** A second away in every three. */
    const weather = async () => {
      while (!isOver && mix === 'outages') {
        await testbed.pass(2_000)
        await service.leave()
        await testbed.pass(1_000)
        await service.back()
      }
    }
    const watching = Promise.all([watch(), weather()])
    const run = async (program: number): Promise<Soaked> => {
      const job: Job = {
        ...{ mix, until, contents, directory: testbed.directory },
        ...{ seed: seed + program, report: reportOf(program) },
      }
      const limit = until - Date.now() + 120_000
      return JSON.parse(await printed(process.execPath, [child, JSON.stringify(job)], { limit }))
    }
    const soaked = await Promise.all(Array.from({ length: programs }, (_, at) => run(at))).finally(() => {
      isOver = true
    })
    await watching
    const renewals = service.heard.filter(({ path }) => path === '/login').length
    return { soaked, renewals, samples }
  })
}

async function run(frame: Frame): Promise<void> {
  const { pick, isFull, wrong } = frame
  const { until } = frame.order
  const chosen = isFull ? mixes : [pick.of(mixes)]
  const each = (until - Date.now()) / chosen.length
  for (const [at, mix] of chosen.entries()) {
    // Programs that never pause keep every processor busy: in the cut for the shortest time.
    const end = isFull ? until - each * (chosen.length - 1 - at) - 5_000 : 0
    const { soaked, renewals, samples } = await soakOf(mix, pick.whole(1, 2 ** 30), end)
    for (const { operations } of soaked) frame.add('operations', operations)
    frame.add('renewals', renewals)
    for (const one of soaked) wrong.push(...one.wrong.map(what => `${mix}: ${what}`))
    const failures = soaked.flatMap(({ failures }) => Object.entries(failures))
    if (mix !== 'outages')
      for (const [errno, count] of failures) wrong.push(`${mix}: ${count} operations ended with ${errno}`)
    frame.say(`${mix}: ${JSON.stringify(failures)}`)
    frame.told()
    if (!isFull) continue
    if (samples.length < leastSamples) {
      frame.short(`${mix}: too short to tell of growth`)
      continue
    }
    frame.most('MB', Math.max(...samples.map(one => one.memory)))
    for (const of of ['memory', 'descriptors'] as const) {
      const grown = growth(samples, of)
      frame.most(`growth of ${of}, %`, grown)
      if (grown > 5) frame.short(`${mix}: ${of} grew by ${grown} %`)
    }
  }
}

export const soak: Figure = {
  name: 'soak',
  goal: 'six mixes of 15 minutes with lifetimes and token life / 100: 1,000,000 operations, 1,000 renewals, memory and descriptors within 5 %',
  least: { operations: 1_000_000, renewals: 1_000 },
  run,
}
