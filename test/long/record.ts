// What is written down of one run of a figure, and how several runs of it add up to one row of the table.
import { spawnSync } from 'node:child_process'
import { arch, cpus, release, totalmem } from 'node:os'
import { z } from 'zod'
import type { Figure, Result } from './figure.js'

const recordSchema = z.object({
  figure: z.string(),
  date: z.string(),
  minutes: z.number(),
  machine: z.string(),
  node: z.string(),
  commit: z.string(),
  seed: z.number(),
  command: z.string(),
  counts: z.record(z.string(), z.number()),
  wrong: z.array(z.string()),
  short: z.string().optional(),
})

/** One run, one line of JSON. */
export type Recorded = z.infer<typeof recordSchema>

export interface Row {
  readonly figure: string
  readonly goal: string
  readonly found: string
  readonly met: boolean
  readonly runs: readonly Recorded[]
}

/** The record of a run that began then. */
export function recorded(result: Result, about: { figure: string; seed: number; began: number }): Recorded {
  const { figure, seed, began } = about
  return {
    figure,
    date: new Date(began).toISOString(),
    minutes: Math.round((Date.now() - began) / 6_000) / 10,
    machine: machine(),
    node: process.versions.node,
    commit: commit(),
    seed,
    command: `npm run test:long -- --only ${figure} --seed ${seed}`,
    counts: { ...result.counts },
    wrong: [...result.wrong],
    ...(result.short === undefined ? {} : { short: result.short }),
  }
}

/** The records of a file with one in each line. */
export const recordsIn = (text: string): Recorded[] =>
  text
    .split('\n')
    .filter(line => line !== '')
    .map(line => recordSchema.parse(JSON.parse(line)))

/** The row of a figure; undefined where it was never run. */
export function rowOf(figure: Figure, all: readonly Recorded[]): Row | undefined {
  const runs = all.filter(one => one.figure === figure.name)
  if (runs.length === 0) return undefined
  const counts = summed(runs.map(one => one.counts))
  const wrong = runs.flatMap(one => one.wrong)
  const missing = [
    ...Object.entries(figure.least ?? {}).flatMap(([name, least]) =>
      (counts[name] ?? 0) < least ? [`${grouped(counts[name] ?? 0)} of ${grouped(least)} ${name}`] : [],
    ),
    ...new Set(runs.flatMap(one => one.short ?? [])),
  ]
  const words = Object.entries(counts).map(([name, count]) => `${name} ${grouped(count)}`)
  const found = [
    words.join(', '),
    ...(wrong.length === 0 ? [] : [`**${wrong.length} wrong**: ${wrong.slice(0, 3).join('; ')}`]),
    ...(missing.length === 0 ? [] : [`short: ${missing.join('; ')}`]),
  ]
  return {
    figure: figure.name,
    goal: figure.goal,
    found: found.join('; '),
    met: wrong.length === 0 && missing.length === 0,
    runs,
  }
}

function summed(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [name, count] of all.flatMap(counts => Object.entries(counts))) {
    const before = sums[name]
    if (before === undefined) sums[name] = count
    else if (name.startsWith('most ')) sums[name] = Math.max(before, count)
    else if (name.startsWith('least ')) sums[name] = Math.min(before, count)
    else sums[name] = before + count
  }
  return sums
}

const grouped = (count: number): string => count.toLocaleString('en-US')

/** Cores, memory and kernel. */
function machine(): string {
  const [first] = cpus()
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} × ${first?.model.trim() ?? arch()}, ${gigabytes} GiB, Linux ${release()}`
}

/** What was tried; empty in an unpacked archive. */
function commit(): string {
  return spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout?.trim() ?? ''
}
