// `npm run test:long`: one figure after another, each in a process of its own, and the table of what was found.
import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { alone } from './alone.js'
import type { Figure } from './engine.js'
import { figures } from './figures.js'
import { type Row, recorded, rowOf, tableHead } from './record.js'

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
  const rows: Row[] = []
  for (const figure of chosen) {
    if (interrupted.signal.aborted) break
    const began = Date.now()
    console.log(`${figure.name}, seed ${seed}, for at most ${minutes} minutes: ${figure.goal}`)
    const order = { figure: figure.name, seed, scale: 'full', until: began + minutes * 60_000 } as const
    const say = (line: string): void => console.log(`  ${line}`)
    const result = await alone(order, (minutes + grace) * 60_000, say, interrupted)
    if (interrupted.signal.aborted) break
    const record = recorded(result, { figure: figure.name, seed, began })
    for (const wrong of result.wrong) console.log(`  WRONG ${wrong}`)
    console.log(JSON.stringify(record))
    appendFileSync(values.keep, `${JSON.stringify(record)}\n`)
    rows.push(rowOf(figure, record))
  }

  if (rows.length > 0) console.log(['', tableHead, ...rows.map(({ line }) => line)].join('\n'))
  if (interrupted.signal.aborted) return 130
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

process.exitCode = await main()
