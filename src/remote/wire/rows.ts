// A report's ordered list of calculations: parsed in every form that occurs, and written back in the record's form.
import { Failure } from '../../failure.js'
import {
  eachItem,
  fieldOf,
  type Json,
  type JsonObject,
  numberJson,
  stringJson,
  textOf,
  withField,
} from '../../record/json/json.js'
import { continuedRows } from '../../record/match-rows.js'
import type { CalculationId, ListEntry, ReportRow } from '../remote.js'
import type { FieldNames } from './names.js'
import { firstReadable } from './reading.js'
import { idIn, isId } from './scalar.js'

/** The field that holds the list; a list of rows is known by its rows, whatever its name. */
export function listFieldOf(report: JsonObject, names: FieldNames): string | undefined {
  const named = names.list.find(name => isList(fieldOf(report, name)))
  // Only unambiguous names: a list of objects with a plain `id` may be anything.
  const telling = names.rowCalculation.filter(name => name !== 'id')
  return named ?? report.fields.find(({ value }) => holdsRows(value, telling))?.name
}

/** The rows in order; undefined where the record has no list, or an invalid one. */
export function rowsIn(report: JsonObject, names: FieldNames): readonly ReportRow[] | undefined {
  const entries = entriesIn(report, report, names)
  const rows = entries?.flatMap(entry => (entry.as === 'id' ? [entry] : []))
  if (rows === undefined || rows.length !== entries?.length) return undefined
  return rows.map(({ calculation, title }) => ({ calculation, title }))
}

/** A place number in the valid range. */
const largestPlace = 100_000

/**
 * The calculations by place, as formulas count: the first is c1. A place is empty where a calculation was deleted. Where
 * the rows are not numbered from 1 on, each by its own number, they count in their order.
 */
export function placesIn(
  report: JsonObject,
  names: FieldNames,
): readonly (CalculationId | undefined)[] | undefined {
  const rows = rowsIn(report, names)
  if (rows === undefined) return undefined
  const numbers = byPlace(listItems(report, names) ?? [], names).map(item =>
    item.type === 'object' ? (rowPlace(item, names) ?? 0) : 0,
  )
  const isCounted = numbers.every(number => Number.isInteger(number) && number > 0 && number <= largestPlace)
  if (!isCounted || new Set(numbers).size < numbers.length) return rows.map(row => row.calculation)
  const calculations = new Map(rows.map(({ calculation }, at) => [numbers[at], calculation]))
  return Array.from({ length: numbers.at(-1) ?? 0 }, (_, at) => calculations.get(at + 1))
}

/**
 * The entries in the intended order: by place number where only these differ from the base (or where the record is
 * its own base), else as they stand.
 */
export function entriesIn(
  report: JsonObject,
  base: JsonObject | undefined,
  names: FieldNames,
): readonly ListEntry[] | undefined {
  if (base === report) return ownEntries(report, names)
  const items = listItems(report, names)
  if (items === undefined) return undefined
  const before = base === undefined ? items : (listItems(base, names) ?? [])
  const numbered = base !== undefined && sameSequence(items, before, names)
  return (numbered ? byPlace(items, names) : items).map(item => listEntryOf(item, names))
}

/** The entries of a record that is its own base, by place number; a long list is never held as a tree. */
function ownEntries(report: JsonObject, names: FieldNames): readonly ListEntry[] | undefined {
  const list = listOf(report, names)
  const items = list?.type === 'array' ? eachItem(list) : listItems(report, names)
  if (items === undefined) return undefined
  const entries: { readonly entry: ListEntry; readonly place: number | undefined }[] = []
  for (const item of items) {
    const place = item.type === 'object' ? rowPlace(item, names) : undefined
    entries.push({ entry: listEntryOf(item, names), place })
  }
  if (entries.every(({ place }) => place !== undefined))
    entries.sort((one, other) => (one.place ?? 0) - (other.place ?? 0))
  return entries.map(({ entry }) => entry)
}

/** True if every row has the place number that its calculation has in the other report, too. */
export function hasPlacesOf(report: JsonObject, other: JsonObject, names: FieldNames): boolean {
  const placed = (item: Json) =>
    item.type === 'object' ? `${rowCalculation(item, names)} at ${rowPlace(item, names)}` : 'none'
  const there = new Set((listItems(other, names) ?? []).map(placed))
  return (listItems(report, names) ?? []).every(item => there.has(placed(item)))
}

/**
 * The record with this list in the form its list has; rows that stay keep their unknown fields.
 * @throws Failure 'refused' for a record without a list: the form is unknown
 */
export function withRowsIn(
  report: JsonObject,
  { rows, base = report }: { rows: readonly ReportRow[]; base?: JsonObject | undefined },
  names: FieldNames,
): JsonObject {
  const field = listFieldOf(report, names)
  const list = field === undefined ? undefined : fieldOf(report, field)
  if (field === undefined || list === undefined)
    throw new Failure('refused', 'this report has no list of calculations')
  if (list.type === 'string')
    return withField(report, field, stringJson(rows.map(row => row.calculation).join(',')))
  const items = list.type === 'array' ? list.items : []
  // A deleted calculation leaves its place empty; only another order renumbers the places.
  const before = byPlace(listItems(base, names) ?? [], names)
  const numbers = sameRows(before, rows, names) ? before.map(item => itemPlace(item, names)) : undefined
  return withField(report, field, { type: 'array', items: writtenLike(items, { rows, numbers }, names) })
}

function writtenLike(
  items: readonly Json[],
  { rows, numbers }: { rows: readonly ReportRow[]; numbers: readonly (Json | undefined)[] | undefined },
  names: FieldNames,
): readonly Json[] {
  const objects = items.filter(item => item.type === 'object')
  const old = byPlace(items, names).filter(item => item.type === 'object')
  const known = old.map(item => ({ calculation: rowCalculation(item, names), title: rowTitle(item, names) }))
  const continued = continuedRows(rows, known)
  const twice = new Set<string>([...twiceIn(rows), ...twiceIn(known)])
  // An empty list has no form of its own; ids alone would lose the titles that the user gave.
  const isOpen = items.length === 0 && rows.some(row => row.title !== undefined)
  if (objects.length > 0 || isOpen)
    return rows.map((row, index) =>
      rowObject(
        row,
        numbers === undefined ? numberJson(String(index + 1)) : numbers[index],
        { model: objects[0], stayed: old[continued[index] ?? -1], isTwice: twice.has(row.calculation) },
        names,
      ),
    )
  const quoted = items.length > 0 && items.every(item => item.type === 'string')
  return rows.map(row => (quoted ? stringJson(row.calculation) : numberJson(row.calculation)))
}

function twiceIn(rows: readonly { readonly calculation: string | undefined }[]): string[] {
  const once = new Set<string | undefined>()
  return rows.flatMap(({ calculation: id }) =>
    once.size === once.add(id).size && id !== undefined ? [id] : [],
  )
}

const sameRows = (items: readonly Json[], rows: readonly ReportRow[], names: FieldNames): boolean =>
  items.length === rows.length &&
  rows.every(({ calculation }, at) => itemCalculation(items[at], names) === calculation)

/** The old row with its new place, or a new one with the first row's fields for calculation, place and title. */
function rowObject(
  row: ReportRow,
  place: Json | undefined,
  {
    model,
    stayed,
    isTwice,
  }: { model: JsonObject | undefined; stayed: JsonObject | undefined; isTwice: boolean },
  names: FieldNames,
): JsonObject {
  const idField = presentIn(model, names.rowCalculation) ?? 'calcId'
  const placeField = presentIn(model, names.rowPlace)
  const titleField = presentIn(model, names.rowTitle) ?? 'title'
  let written =
    stayed ?? withField({ type: 'object', fields: [] }, idField, idLike(model, idField, row.calculation))
  if (place !== undefined && placeField !== undefined) written = withField(written, placeField, place)
  if (row.title !== undefined) return withField(written, titleField, stringJson(row.title))
  // A service that matches rows by calculation would give it the title of the other row.
  const isUnsaid = isTwice && fieldOf(written, titleField) === undefined
  return isUnsaid ? withField(written, titleField, { type: 'word', raw: 'null' }) : written
}

const idLike = (model: JsonObject | undefined, field: string, id: CalculationId): Json =>
  model !== undefined && fieldOf(model, field)?.type === 'string' ? stringJson(id) : numberJson(id)

const presentIn = (model: JsonObject | undefined, fields: readonly string[]): string | undefined =>
  model === undefined ? undefined : fields.find(name => fieldOf(model, name) !== undefined)

function listOf(report: JsonObject, names: FieldNames): Json | undefined {
  const field = listFieldOf(report, names)
  return field === undefined ? undefined : fieldOf(report, field)
}

/** The items as values; a text is split at commas, but not inside a path. */
function listItems(report: JsonObject, names: FieldNames): readonly Json[] | undefined {
  const list = listOf(report, names)
  if (list?.type === 'array') return list.items
  if (list?.type !== 'string') return undefined
  const parts = list.value.split(/,(?=\s*(?:\/|\d+\s*(?:,|$)|$))/).map(part => part.trim())
  return parts.filter(part => part !== '').map(stringJson)
}

function listEntryOf(item: Json, names: FieldNames): ListEntry {
  const title = item.type === 'object' ? rowTitle(item, names) : undefined
  const id = item.type === 'object' ? rowCalculation(item, names) : idIn(item)
  if (id !== undefined) return { as: 'id', calculation: id as CalculationId, title }
  const path = item.type === 'object' ? rowPath(item, names) : item.type === 'string' ? item.value.trim() : ''
  if (path === undefined || path === '' || isNumeric(path)) return { as: 'nonsense', value: item }
  return { as: 'path', path, title }
}

/** Digits that are no valid id are a typing error, not the name of a calculation. */
const isNumeric = (text: string): boolean => /^[-+]?[\d.]+$/.test(text) && !isId(text)

/** True if the rows stand in the same order as in the base: then a changed place number is the edit. */
function sameSequence(items: readonly Json[], base: readonly Json[], names: FieldNames): boolean {
  const ids = items.map(item => itemCalculation(item, names))
  const isTwice = new Set(ids).size < ids.length
  // For a calculation that stands twice, only the titles distinguish the rows.
  const title = (item: Json) => (isTwice && item.type === 'object' ? (rowTitle(item, names) ?? '') : '')
  const keys = (list: readonly Json[]) =>
    list.map(item => JSON.stringify([itemCalculation(item, names) ?? 'none', title(item)]))
  return keys(items).join() === keys(base).join()
}

function byPlace(items: readonly Json[], names: FieldNames): readonly Json[] {
  const placed = items.map(item => ({
    item,
    place: item.type === 'object' ? rowPlace(item, names) : undefined,
  }))
  if (placed.some(({ place }) => place === undefined)) return items
  return placed.sort((one, other) => (one.place as number) - (other.place as number)).map(({ item }) => item)
}

const rowPlace = (row: JsonObject, names: FieldNames): number | undefined =>
  firstReadable(row, names.rowPlace, placeIn)

function placeIn(json: Json): number | undefined {
  const place = json.type === 'number' ? Number(json.raw) : Number(textOf(json) ?? Number.NaN)
  return Number.isFinite(place) ? place : undefined
}

const itemCalculation = (item: Json | undefined, names: FieldNames): string | undefined =>
  item?.type === 'object' ? rowCalculation(item, names) : undefined

const itemPlace = (item: Json, names: FieldNames): Json | undefined =>
  item.type === 'object' ? firstReadable(item, names.rowPlace, json => json) : undefined

const rowCalculation = (row: JsonObject, names: FieldNames): string | undefined =>
  firstReadable(row, names.rowCalculation, idIn)
const rowTitle = (row: JsonObject, names: FieldNames): string | undefined =>
  firstReadable(row, names.rowTitle, textOf)
const rowPath = (row: JsonObject, names: FieldNames): string | undefined =>
  firstReadable(row, names.rowPath, textOf)?.trim()

const isList = (json: Json | undefined): boolean => json?.type === 'array' || json?.type === 'string'

function holdsRows(json: Json, fields: readonly string[]): boolean {
  if (json.type !== 'array') return false
  for (const item of eachItem(json))
    if (item.type === 'object' && presentIn(item, fields) !== undefined) return true
  return false
}
