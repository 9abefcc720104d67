// `npm run test:long`: one figure after another, each in a process of its own, what is written down of each run, and its row of the table.
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync } from 'node:fs'
import { arch, cpus, release, totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { alone } from './alone.js'
import type { Figure, Result } from './engine.js'
import { figures } from './figures.js'

const root = resolve(fileURLToPath(import.meta.url), '../../../..')
const usage = `npm run test:long -- [options]
  --only FIGURE     this figure, may be given again: ${figures.map(({ name }) => name).join(' ')}
  --seed N          every random choice comes from it; a new one each time otherwise
  --minutes M       for each figure (90)
  --keep FILE       adds a line of JSON for each run (default: .long/results.jsonl)`

/** Minutes for what a figure does behind its time: the case under way, and the clean-up. */
const grace = 5

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      seed: { type: 'string' },
      minutes: { type: 'string', default: '90' },
      keep: { type: 'string', default: join(root, '.long/results.jsonl') },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const chosen = chosenBy(values.only?.flatMap(names => names.split(',')))
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : numberIn(values.seed)
  const minutes = numberIn(values.minutes)
  mkdirSync(dirname(values.keep), { recursive: true })

  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  const rows: ReturnType<typeof rowOf>[] = []
  for (const figure of chosen) {
    const { name, goal } = figure
    const began = Date.now()
    console.log(`${name}, seed ${seed}, for at most ${minutes} minutes: ${goal}`)
    const order = { figure: name, scale: 'full', until: began + minutes * 60_000 } as const
    const say = (line: string): void => console.log(`  ${line}`)
    const limit = (minutes + grace) * 60_000
    const result = await alone({ ...order, seed }, limit, say, interrupted.signal)
    if (interrupted.signal.aborted) return 130
    for (const wrong of result.wrong) console.log(`  WRONG ${wrong}`)
    const line = JSON.stringify({
      date: new Date(began).toISOString(),
      minutes: Math.round((Date.now() - began) / 6_000) / 10,
      machine: machine(),
      node: process.versions.node,
      // Empty in an unpacked archive.
      commit: spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout?.trim() ?? '',
      seed,
      command: `npm run test:long -- --only ${name} --seed ${seed}`,
      ...result,
    })
    console.log(line)
    appendFileSync(values.keep, `${line}\n`)
    rows.push(rowOf(figure, result, { seed, began }))
  }
  console.log(['', tableHead, ...rows.map(({ line }) => line)].join('\n'))
  return rows.every(({ isMet }) => isMet) ? 0 : 1
}

function chosenBy(names: readonly string[] | undefined): readonly Figure[] {
  if (names === undefined) return figures
  const unknown = names.filter(name => !figures.some(figure => figure.name === name))
  if (unknown.length > 0) throw new Error(`no figure is called ${unknown.join(' or ')}\n${usage}`)
  return figures.filter(({ name }) => names.includes(name))
}

function numberIn(text: string): number {
  const number = Number(text)
  if (!Number.isFinite(number) || number < 0) throw new Error(`${text} is no number\n${usage}`)
  return number
}

const tableHead = '| figure | goal | found | met | when, with which seed |\n|---|---|---|---|---|'

/** A line of markdown, and whether the goal is met. */
function rowOf(
  { name, goal, least = {} }: Figure,
  { counts, wrong, short }: Result,
  { seed, began }: { seed: number; began: number },
) {
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
  const minutes = Math.round((Date.now() - began) / 60_000)
  const when = `${new Date(began).toISOString().slice(0, 10)}, ${minutes} min, ${seed}`
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

process.exitCode = await main()
