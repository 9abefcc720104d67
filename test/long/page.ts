// The table of figures, on the screen and in docs/reliability.md.
import { readFileSync, writeFileSync } from 'node:fs'
import type { Row } from './record.js'

const begin = '<!-- figures: written by `npm run test:long -- --page` -->'
const end = '<!-- /figures -->'

/** The rows as a markdown table. */
export function table(rows: readonly Row[]): string {
  return [
    '| figure | goal | found | met | when, with which seeds |',
    '|---|---|---|---|---|',
    ...rows.map(row => {
      const cells = [row.figure, row.goal, row.found, row.met ? 'yes' : '**no**', when(row)]
      return `| ${cells.map(inCell).join(' | ')} |`
    }),
  ].join('\n')
}

function when({ runs }: Row): string {
  const days = [...new Set(runs.map(({ date }) => date.slice(0, 10)))].join(', ')
  const minutes = Math.round(runs.reduce((sum, one) => sum + one.minutes, 0))
  return `${days}, ${minutes} min, ${runs.map(({ seed }) => seed).join(' ')}`
}

const inCell = (text: string): string => text.replaceAll('|', '\\|').replace(/\s+/g, ' ')

/** The lines of the table that stands in the page: what another machine has measured stays until it is measured again. */
function withEarlier(lines: readonly string[], earlier: readonly string[]): readonly string[] {
  const nameIn = (line: string) => /^\| (\w+) \|/.exec(line)?.[1]
  const fresh = new Map(lines.map(line => [nameIn(line), line]))
  const kept = earlier.filter(line => nameIn(line) !== undefined).map(line => fresh.get(nameIn(line)) ?? line)
  const isNew = (line: string) => !kept.includes(line)
  const head = lines.slice(0, 2)
  return [...head, ...kept.filter(line => !head.includes(line)), ...lines.slice(2).filter(isNew)]
}

/** A line about the machine of figures that were all measured again. */
function isSuperseded(line: string, rows: readonly Row[]): boolean {
  const names = /^Machine of ([\w, ]+):/.exec(line)?.[1]?.split(', ')
  return names?.every(name => rows.some(({ figure }) => figure === name)) === true
}

/** Writes the table, and on what it was measured, into the page; figures without a run keep their row. */
export function updatePage(path: string, rows: readonly Row[]): void {
  const page = readFileSync(path, 'utf8')
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from === -1 || to < from) throw new Error(`${path} has no place for the table`)
  const runs = rows.flatMap(row => row.runs)
  const about = [...new Set(runs.map(run => `${run.machine}, Node ${run.node}`))]
  const commits = [...new Set(runs.map(run => run.commit))].filter(name => name !== '')
  const earlier = page.slice(from, to).split('\n')
  const own = rows.map(({ figure }) => figure).join(', ')
  const block = [
    begin,
    '',
    ...withEarlier(table(rows).split('\n'), earlier),
    '',
    `Machine of ${own}: ${about.join('; ')}. Commits: ${commits.join(', ')}. Each figure: \`npm run test:long -- --only FIGURE --seed SEED\`.`,
    ...earlier.filter(line => /^Machine\b/.test(line) && !isSuperseded(line, rows)),
    '',
    end,
  ].join('\n')
  writeFileSync(path, page.slice(0, from) + block + page.slice(to + end.length))
}
