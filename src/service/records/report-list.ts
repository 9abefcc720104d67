// The ordered list of a report's calculations: how it is replaced, and which titles its rows keep.
import { invalid } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import { elementsOf, idIn, type JsonRecord, parseRecord, textIn, validId } from './record.js'

/** The field in which a report shows its list. */
export const listField = 'calculations'
/** How a list of calculations may come with a POST. */
export const postedListField = 'calculationIds'

/** One entry of a report's list; its title, as JSON text, is the row's own. */
interface Row {
  readonly calculation: string
  readonly title: string
}
interface PlacedRow extends Row {
  readonly place: number
}

/** The list in its order. A deleted calculation leaves its place empty: the formulas of the others keep their meaning. */
export function rowsOf(store: Store, report: string): readonly PlacedRow[] {
  return store.all<PlacedRow>(
    'SELECT CAST(calculation AS TEXT) AS calculation, place, title FROM report_row WHERE report = ? ORDER BY place',
    report,
  )
}

/** The titles of a list as a client sent it; entries that are no rows are ignored. */
function titlesIn(list: string): readonly Row[] {
  const entries: unknown = JSON.parse(list)
  if (!Array.isArray(entries)) throw invalid(`${listField} is not a list`)
  return elementsOf(list).flatMap(text => {
    if (!text.startsWith('{')) return []
    const row = parseRecord(text)
    const calculation = idIn(row, 'calcId')
    if (calculation === undefined || !row.has('title')) return []
    return [{ calculation, title: titleText(row) }]
  })
}

/** A row's title as JSON text. */
function titleText(row: JsonRecord): string {
  const title = row.get('title')
  if (title === 'null') return 'null'
  const text = textIn(row, 'title')
  if (text === undefined) throw invalid('a title is no text')
  return JSON.stringify(text)
}

/** Takes the titles of rows that are in the list from a list as JSON; its order and its other rows are ignored. */
export function takeTitles(store: Store, report: string, sent: string): void {
  const left = [...titlesIn(sent)]
  for (const row of rowsOf(store, report)) {
    const title = takeTitle(left, row.calculation)
    if (title === undefined) continue
    store.run('UPDATE report_row SET title = ? WHERE report = ? AND place = ?', title, report, row.place)
  }
}

/** The first title for a calculation, taken out: a calculation that stands twice has two. */
function takeTitle(rows: Row[], calculation: string): string | undefined {
  const at = rows.findIndex(row => row.calculation === calculation)
  return at < 0 ? undefined : rows.splice(at, 1)[0]?.title
}

/** The ids in `12,7,31`; an empty text is an empty list. */
export function listedIds(text: string, name: string): readonly string[] {
  if (text.trim() === '') return []
  return text.split(',').map(id => validId(id.trim(), name))
}

/** The list a POST brings along, if it does. */
export function postedList(body: JsonRecord): readonly string[] | undefined {
  const text = textIn(body, postedListField)
  return text === undefined ? undefined : listedIds(text, postedListField)
}

/** Replaces the whole list. A row that stays keeps its title, unless this instance loses them. */
export function setList(
  store: Store,
  change: { report: string; list: readonly string[]; loseTitles: boolean },
): void {
  const old: Row[] = change.loseTitles ? [] : [...rowsOf(store, change.report)]
  store.run('DELETE FROM report_row WHERE report = ?', change.report)
  change.list.forEach((calculation, index) => {
    const title = takeTitle(old, calculation)
    store.run(
      'INSERT INTO report_row VALUES (?, ?, ?, ?)',
      change.report,
      index + 1,
      calculation,
      title ?? 'null',
    )
  })
}

/** Gives the rows of a list their titles, one after the other. */
export function setTitles(store: Store, report: string, titles: readonly (string | undefined)[]): void {
  titles.forEach((title, index) => {
    if (title === undefined) return
    const text = JSON.stringify(title)
    store.run('UPDATE report_row SET title = ? WHERE report = ? AND place = ?', text, report, index + 1)
  })
}
