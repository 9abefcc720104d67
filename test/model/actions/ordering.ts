// `order.txt`: the report's list as lines, edited and saved as one new list.
import { isShownBy } from '../expected/compare.js'
import { away, type Content, cellsIn, edited, judgeAll, type Row, rowsOf } from '../expected/content.js'
import { endsOfPaths } from '../expected/renamed.js'
import { calculationsOf, pick, reachable, type Stage } from '../stage.js'
import type { Step } from '../steps.js'
import { alteredOrder } from './altering.js'
import { type Distance, idAt, possibleBases, settle } from './editing.js'
import { expect, heardWrites, read, write } from './writing.js'

export async function order(stage: Stage, step: Extract<Step, { does: 'order' }>): Promise<void> {
  const report = pick(reachable(stage, 'report'), step.at)
  // One text of a report at a time: writing both would take two programs.
  if (report?.truth === undefined || report.draft !== undefined) return
  const path = `reports/${report.id}/order.txt`
  const shown = await read(stage, path)
  const base = report.order?.base ?? report.met.findLast(one => isShownBy(shown, one))
  if (base === undefined) return
  // A file that is only emptied waits for what comes next; a blank line is a text that says nothing.
  const text = alteredOrder(stage, shown, step) || '\n'
  const mine: Content = { ...base, calculations: rowsIn(stage, text) }
  const before = heardWrites(stage)
  const end = await write(stage.theatre.testbed, path, text, step.style)
  const sent = heardWrites(stage) - before
  // The lines say nothing of any other field.
  const list = (content: Content): Content => ({ calculations: rowsOf(content) })
  const { others, inDoubt } = possibleBases(report, { base, mine, others: report.order?.others }, rowsApart)
  const question = { kind: 'report' as const, base: list(base), mine: list(mine), truth: report.truth }
  const verdicts = judgeAll(
    { ...question, isUp: stage.isUp, existing: calculationsOf(stage) },
    { others: others.map(list), inDoubt },
  )
  const allowed = [
    ...(rowsOf(mine).length === 0 ? ['EINVAL'] : verdicts.flatMap(verdict => verdict.allowed)),
    // Entries are looked up before anything else.
    ...(stage.isUp ? [] : away),
    ...endsOfPaths(text, stage),
  ]
  expect(`${step.change} of ${path}`, end, allowed)
  if (end !== 'done') {
    if (sent > 0) throw new Error(`${path}: ${end}, and ${sent} requests were sent`)
    report.order = { text, json: text, base, others }
    return
  }
  report.order = undefined
  // A line that gives no title states none; what says nothing new is not sent, and the record is not read for it.
  if (sent === 0 && edited(list(base), list(mine)).length === 0) return
  settle(stage, report, { verdicts, mine: report.truth })
}

/** How many rows came or went; of as many, how many moved. */
const rowsApart: Distance = (one, other) => {
  const [before = [], after = []] = [one, other].map(content => numbered(rowsOf(content)))
  const kept = after.filter(row => before.includes(row)).map(row => before.indexOf(row))
  const runs: number[] = []
  for (const place of kept)
    runs.push(1 + Math.max(0, ...runs.filter((_, earlier) => (kept[earlier] ?? place) < place)))
  return 100 * (before.length + after.length - 2 * kept.length) + kept.length - Math.max(0, ...runs)
}

/** A calculation may stand twice: each time it is a row of its own. */
const numbered = (rows: readonly Row[]): string[] =>
  rows.map(({ calculation }, at) => {
    const times = rows.slice(0, at).filter(row => row.calculation === calculation).length
    return `${calculation} ${times}`
  })

/** What the lines mean. */
function rowsIn(stage: Stage, text: string): Row[] {
  return cellsIn(text).map(([entry = '', title = '']) => ({
    calculation: idAt(stage, entry),
    title: title === '' ? null : title,
  }))
}
