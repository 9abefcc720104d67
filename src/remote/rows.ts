// A report's ordered list of calculations: read in every form that occurs, and written back in the form the record has.
import { Failure } from '../failure.js'
import { fieldOf, type Json, type JsonObject, numberJson, stringJson, withField } from '../record/json.js'
import type { CalculationId, ListEntry, ReportRow } from './remote.js'
import { idIn, isId } from './scalar.js'

/** The names `wire.ts` gives to the list and to what a row holds. */
export interface ListNames {
  readonly list: readonly string[]
  readonly rowCalculation: readonly string[]
  readonly rowPlace: readonly string[]
  readonly rowTitle: readonly string[]
  readonly rowPath: readonly string[]
}

/** The field that holds the list; a list of rows is known by its rows, whatever its name. */
export function listFieldOf(report: JsonObject, names: ListNames): string | undefined {
  const named = names.list.find(name => isList(fieldOf(report, name)))
  // Only names that nothing else has: a list of objects with a plain `id` may be anything.
  const telling = names.rowCalculation.filter(name => name !== 'id')
  return named ?? report.fields.find(({ value }) => holdsRows(value, telling))?.name
}

/** The rows in order; undefined where the record does not show the list, or shows one that makes no sense. */
export function rowsIn(report: JsonObject, names: ListNames): readonly ReportRow[] | undefined {
  const entries = entriesIn(report, report, names)
  const rows = entries?.flatMap(entry => (entry.as === 'id' ? [entry] : []))
  if (rows === undefined || rows.length !== entries?.length) return undefined
  return rows.map(({ calculation, title }) => ({ calculation, title }))
}

/**
 * The entries in the order their writer meant: by place number where only these differ from the base (or where the
 * record is its own base), else as they stand.
 */
export function entriesIn(
  report: JsonObject,
  base: JsonObject | undefined,
  names: ListNames,
): readonly ListEntry[] | undefined {
  const items = itemsOf(report, names)
  if (items === undefined) return undefined
  const before = base === undefined || base === report ? items : (itemsOf(base, names) ?? [])
  const numbered = base !== undefined && sameSequence(items, before, names)
  return (numbered ? byPlace(items, names) : items).map(item => entryOf(item, names))
}

/** True if every row has the place number that its calculation has in the other report, too. */
export function hasPlacesOf(report: JsonObject, other: JsonObject, names: ListNames): boolean {
  const placed = (item: Json) =>
    item.type === 'object' ? `${calculationOf(item, names)} at ${placeOf(item, names)}` : 'none'
  const there = new Set((itemsOf(other, names) ?? []).map(placed))
  return (itemsOf(report, names) ?? []).every(item => there.has(placed(item)))
}

/**
 * The record with this list in the form its list has; rows that stay keep their unknown fields.
 * @throws Failure 'refused' for a record without a list, for there is no form to write it in
 */
export function withRowsIn(
  report: JsonObject,
  { rows, base = report }: { rows: readonly ReportRow[]; base?: JsonObject | undefined },
  names: ListNames,
): JsonObject {
  const field = listFieldOf(report, names)
  const list = field === undefined ? undefined : fieldOf(report, field)
  if (field === undefined || list === undefined)
    throw new Failure('refused', 'this report has no list of calculations')
  if (list.type === 'string')
    return withField(report, field, stringJson(rows.map(row => row.calculation).join(',')))
  const items = list.type === 'array' ? list.items : []
  // Where a calculation was deleted a place is empty; only another order counts the places anew.
  const before = byPlace(itemsOf(base, names) ?? [], names)
  const numbers = sameRows(before, rows, names) ? before.map(item => placeIn(item, names)) : undefined
  return withField(report, field, { type: 'array', items: writtenLike(items, { rows, numbers }, names) })
}

function writtenLike(
  items: readonly Json[],
  { rows, numbers }: { rows: readonly ReportRow[]; numbers: readonly (Json | undefined)[] | undefined },
  names: ListNames,
): readonly Json[] {
  const objects = items.filter(item => item.type === 'object')
  // A calculation may stand twice: each of its rows goes on as one of them.
  const left = byPlace(items, names).filter(item => item.type === 'object')
  // An empty list has no form of its own; ids alone would lose the titles that somebody gave.
  const isOpen = items.length === 0 && rows.some(row => row.title !== undefined)
  if (objects.length > 0 || isOpen)
    return rows.map((row, index) =>
      rowObject(
        row,
        numbers === undefined ? numberJson(String(index + 1)) : numbers[index],
        { model: objects[0], left },
        names,
      ),
    )
  const quoted = items.length > 0 && items.every(item => item.type === 'string')
  return rows.map(row => (quoted ? stringJson(row.calculation) : numberJson(row.calculation)))
}

const sameRows = (items: readonly Json[], rows: readonly ReportRow[], names: ListNames): boolean =>
  items.length === rows.length &&
  rows.every(({ calculation }, at) => calculationIn(items[at], names) === calculation)

/** The old row with its new place, or a new one that has what the first row has of calculation, place and title. */
function rowObject(
  row: ReportRow,
  place: Json | undefined,
  { model, left }: { model: JsonObject | undefined; left: JsonObject[] },
  names: ListNames,
): JsonObject {
  const idField = presentIn(model, names.rowCalculation) ?? 'calcId'
  const placeField = presentIn(model, names.rowPlace)
  const titleField = presentIn(model, names.rowTitle) ?? 'title'
  const at = left.findIndex(item => calculationOf(item, names) === row.calculation)
  const [stayed] = at < 0 ? [] : left.splice(at, 1)
  let written =
    stayed ?? withField({ type: 'object', fields: [] }, idField, idLike(model, idField, row.calculation))
  if (place !== undefined && placeField !== undefined) written = withField(written, placeField, place)
  return row.title === undefined ? written : withField(written, titleField, stringJson(row.title))
}

const idLike = (model: JsonObject | undefined, field: string, id: CalculationId): Json =>
  model !== undefined && fieldOf(model, field)?.type === 'string' ? stringJson(id) : numberJson(id)

const presentIn = (model: JsonObject | undefined, fields: readonly string[]): string | undefined =>
  model === undefined ? undefined : fields.find(name => fieldOf(model, name) !== undefined)

/** The items as values; a text is split at commas, but not inside a path that has one. */
function itemsOf(report: JsonObject, names: ListNames): readonly Json[] | undefined {
  const field = listFieldOf(report, names)
  const list = field === undefined ? undefined : fieldOf(report, field)
  if (list?.type === 'array') return list.items
  if (list?.type !== 'string') return undefined
  const parts = list.value.split(/,(?=\s*(?:\/|\d+\s*(?:,|$)|$))/).map(part => part.trim())
  return parts.filter(part => part !== '').map(stringJson)
}

function entryOf(item: Json, names: ListNames): ListEntry {
  const title = item.type === 'object' ? titleOf(item, names) : undefined
  const id = item.type === 'object' ? calculationOf(item, names) : idIn(item)
  if (id !== undefined) return { as: 'id', calculation: id as CalculationId, title }
  const path = item.type === 'object' ? pathOf(item, names) : item.type === 'string' ? item.value.trim() : ''
  if (path === undefined || path === '' || isNumeric(path)) return { as: 'nonsense', value: item }
  return { as: 'path', path, title }
}

/** Digits that are no id are a slip of the pen, not the name of a calculation. */
const isNumeric = (text: string): boolean => /^[-+]?[\d.]+$/.test(text) && !isId(text)

/** True if the calculations stand in the same order as in the base: then a changed place number is the edit. */
function sameSequence(items: readonly Json[], base: readonly Json[], names: ListNames): boolean {
  const ids = (list: readonly Json[]) =>
    list.map(item => (item.type === 'object' ? calculationOf(item, names) : 'none'))
  return ids(items).join() === ids(base).join()
}

function byPlace(items: readonly Json[], names: ListNames): readonly Json[] {
  const placed = items.map(item => ({
    item,
    place: item.type === 'object' ? placeOf(item, names) : undefined,
  }))
  if (placed.some(({ place }) => place === undefined)) return items
  return placed.sort((one, other) => (one.place as number) - (other.place as number)).map(({ item }) => item)
}

function placeOf(row: JsonObject, names: ListNames): number | undefined {
  const field = presentIn(row, names.rowPlace)
  const value = field === undefined ? undefined : fieldOf(row, field)
  const place =
    value?.type === 'number' ? Number(value.raw) : value?.type === 'string' ? Number(value.value) : Number.NaN
  return Number.isFinite(place) ? place : undefined
}

const calculationIn = (item: Json | undefined, names: ListNames): string | undefined =>
  item?.type === 'object' ? calculationOf(item, names) : undefined

function placeIn(item: Json, names: ListNames): Json | undefined {
  const field = item.type === 'object' ? presentIn(item, names.rowPlace) : undefined
  return item.type === 'object' && field !== undefined ? fieldOf(item, field) : undefined
}

const calculationOf = (row: JsonObject, names: ListNames): string | undefined =>
  names.rowCalculation.map(name => idIn(fieldOf(row, name))).find(id => id !== undefined)

const titleOf = (row: JsonObject, names: ListNames): string | undefined => textIn(row, names.rowTitle)
const pathOf = (row: JsonObject, names: ListNames): string | undefined => textIn(row, names.rowPath)?.trim()

function textIn(row: JsonObject, fields: readonly string[]): string | undefined {
  const values = fields.map(name => fieldOf(row, name))
  const found = values.find(value => value?.type === 'string')
  return found?.type === 'string' ? found.value : undefined
}

const isList = (json: Json | undefined): boolean => json?.type === 'array' || json?.type === 'string'

const holdsRows = (json: Json, fields: readonly string[]): boolean =>
  json.type === 'array' &&
  json.items.some(item => item.type === 'object' && presentIn(item, fields) !== undefined)
