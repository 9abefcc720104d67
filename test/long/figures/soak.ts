// Soak: mixes of programs for long on one mount with short lifetimes; memory and descriptors of the daemon stay where they are.
import { createHash } from 'node:crypto'
import type { Seed } from '../../../src/service/seed.js'
import { realMount } from '../../testbed/mount.js'
import { cml, log } from '../../testbed/sample-data.js'
import { errnoOf, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { type Chance, chance } from '../chance.js'
import { descriptorsOf, memoryOf } from '../daemon.js'
import type { Figure, Frame } from '../engine.js'
import { scoped } from '../scope.js'

const mixes = ['walks', 'reads', 'edits', 'making', 'outages', 'all at once'] as const
type Mix = (typeof mixes)[number]
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

function adds(seed: Seed): void {
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

const records = [
  'reports/42.json',
  'projects/Water splitting/.project.json',
  'reports/INDEX.tsv',
  '.calcfs/status.json',
]

/** What has become of one program. */
interface Soaked {
  operations: number
  /** How many operations ended so. */
  readonly failures: Record<string, number>
  readonly wrong: string[]
}

/** What is done in each mix, of which one comes after another; each program has a report of its own. */
function program({ files }: Testbed, report: string, pick: Chance) {
  const soaked: Soaked = { operations: 0, failures: {}, wrong: [] }
  let made = 0

  /** One system call, or a few that are one to a program; undefined where it failed. */
  async function attempt<Value>(work: Promise<Value>, path = ''): Promise<Value | undefined> {
    soaked.operations++
    try {
      return await work
    } catch (thrown) {
      const name = errnoOf(thrown)
      if (name === undefined) throw thrown
      // Another program of the soak may have taken away what it had made, between its listing and this.
      if (name === 'ENOENT' && /(^|[/])(made|scratch-)/.test(path)) return undefined
      soaked.failures[name] = (soaked.failures[name] ?? 0) + 1
      return undefined
    }
  }

  async function walk(path: string, depth: number): Promise<void> {
    for (const [name, kind] of (await attempt(files.readdir(path), path)) ?? []) {
      const below = `${path}/${name}`
      await attempt(files.lstat(below), below)
      if (kind === 'directory' && depth > 0) await walk(below, depth - 1)
    }
  }

  async function read(): Promise<void> {
    const path = pick.of(Object.keys(contents))
    const text = await attempt(textOf({ files }, path))
    if (text !== undefined && sha256(text) !== contents[path])
      soaked.wrong.push(`${path}: ${text.length} characters that are not the file's`)
  }

  const readRecord = (): Promise<unknown> => attempt(files.readFile(pick.of(records)))

  async function edit(): Promise<void> {
    const path = `reports/${report}.json`
    const text = await attempt(textOf({ files }, path))
    if (text === undefined) return
    const title = pick.word(5, 40)
    const edited = text.replace(/"title": "[^"]*"/, `"title": "${title}"`)
    const isSaved = await attempt(overwrite({ files }, path, edited).then(() => true))
    const now = isSaved && (await attempt(textOf({ files }, path)))
    if (typeof now === 'string' && !now.includes(title))
      soaked.wrong.push(`report ${report} does not show ${title}`)
  }

  async function make(): Promise<void> {
    const folder = `projects/Water splitting/Sub project/made ${report} ${++made}`
    await attempt(files.mkdir(folder))
    await attempt(files.rename(folder, `${folder} too`))
    await attempt(files.lstat(`${folder} too`))
    await attempt(files.rmdir(`${folder} too`))
    const scratch = `reports/scratch-${report}.tmp`
    await attempt(overwrite({ files }, scratch, pick.word(1, 50_000)))
    await attempt(files.unlink(scratch))
  }

  const walkProjects = () => walk('projects', 3)
  const works: Readonly<Record<Mix, readonly (() => Promise<unknown>)[]>> = {
    walks: [walkProjects, () => walk('reports', 1), () => walk('by-id', 0)],
    reads: [read, read, read, readRecord],
    edits: [edit, readRecord],
    making: [make],
    outages: [walkProjects, read, edit],
    'all at once': [walkProjects, read, read, readRecord, edit, make],
  }
  return { soaked, works }
}

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

async function soakOf(mix: Mix, seed: number, wanted: number) {
  return scoped(async scope => {
    const testbed = await realMount(scope, { adds, settings, service: { tokenLifetime } })
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
    const run = async (at: number): Promise<Soaked> => {
      const pick = chance(seed + at)
      const { soaked, works } = program(testbed, reportOf(at), pick)
      while (Date.now() < until && soaked.wrong.length < 5) await pick.of(works[mix])()
      return soaked
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
