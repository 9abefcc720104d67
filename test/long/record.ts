// What is written down of one run of a figure, and its row of the table.
import { spawnSync } from 'node:child_process'
import { arch, cpus, release, totalmem } from 'node:os'
import type { Figure, Result } from './engine.js'

/** One run, one line of JSON. */
export interface Recorded extends Result {
  readonly date: string
  readonly minutes: number
  readonly machine: string
  readonly node: string
  readonly commit: string
  readonly seed: number
  readonly command: string
}

export interface Row {
  /** A line of markdown. */
  readonly line: string
  readonly isMet: boolean
}

/** The record of a run that began then. */
export function recorded(
  result: Result,
  { figure, seed, began }: { figure: string; seed: number; began: number },
): Recorded {
  return {
    date: new Date(began).toISOString(),
    minutes: Math.round((Date.now() - began) / 6_000) / 10,
    machine: machine(),
    node: process.versions.node,
    commit: commit(),
    seed,
    command: `npm run test:long -- --only ${figure} --seed ${seed}`,
    ...result,
  }
}

export const tableHead = '| figure | goal | found | met | when, with which seed |\n|---|---|---|---|---|'

export function rowOf({ name, goal, least = {} }: Figure, record: Recorded): Row {
  const { counts, wrong, short } = record
  const missing = [
    ...Object.entries(least).flatMap(([what, due]) =>
      (counts[what] ?? 0) < due ? [`${grouped(counts[what] ?? 0)} of ${grouped(due)} ${what}`] : [],
    ),
    ...(short === undefined ? [] : [short]),
  ]
  const found = [
    Object.entries(counts)
      .map(([what, count]) => `${what} ${grouped(count)}`)
      .join(', '),
    ...(wrong.length === 0 ? [] : [`**${wrong.length} wrong**: ${wrong.slice(0, 3).join('; ')}`]),
    ...(missing.length === 0 ? [] : [`short: ${missing.join('; ')}`]),
  ]
  const isMet = wrong.length === 0 && missing.length === 0
  const when = `${record.date.slice(0, 10)}, ${Math.round(record.minutes)} min, ${record.seed}`
  const cells = [name, goal, found.join('; '), isMet ? 'yes' : '**no**', when]
  return { line: `| ${cells.map(inCell).join(' | ')} |`, isMet }
}

const inCell = (text: string): string => text.replaceAll('|', '\\|').replace(/\s+/g, ' ')

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
