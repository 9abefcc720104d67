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
import { firstReadable, idIn, isId, remembered } from './reading.js'

/** A place number in the valid range. */
const largestPlace = 100_000

/** The lists of the reports of an instance that names its fields so. */
export class ReportLists {
  constructor(private readonly names: FieldNames) {}

  /** The field that holds the list; a list of rows is known by its rows, whatever its name. */
  fieldIn(report: JsonObject): string | undefined {
    const { list, rowCalculation } = this.names
    for (const name of list) if (isList(fieldOf(report, name))) return name
    // Only unambiguous names: a list of objects with a plain `id` may be anything.
    const telling = rowCalculation.filter(name => name !== 'id')
    return report.fields.find(({ value }) => holdsRows(value, telling))?.name
  }

  /** The rows in order; undefined where the service does not show the list, or an invalid one. */
  readonly rows = remembered((report): readonly ReportRow[] | undefined => {
    const entries = this.entries(report, report)
    if (entries === undefined) return undefined
    const rows: ReportRow[] = []
    for (const entry of entries) {
      if (entry.as !== 'id') return undefined
      rows.push({ calculation: entry.calculation, title: entry.title })
    }
    return rows
  })

  /**
   * The calculations by place, as formulas count: the first is c1. A place is empty where a calculation was deleted. Where
   * the rows are not numbered from 1 on, each by its own number, they count in their order.
   */
  places(report: JsonObject): readonly (CalculationId | undefined)[] | undefined {
    const rows = this.rows(report)
    if (rows === undefined) return undefined
    const numbers = this.#byPlace(this.#items(report)).map(item => this.#placeOf(item) ?? 0)
    const isCounted = numbers.every(
      number => Number.isInteger(number) && number > 0 && number <= largestPlace,
    )
    if (!isCounted || new Set(numbers).size < numbers.length) return rows.map(row => row.calculation)
    const calculations = new Map(rows.map(({ calculation }, at) => [numbers[at], calculation]))
    return Array.from({ length: numbers.at(-1) ?? 0 }, (_, at) => calculations.get(at + 1))
  }

  /**
   * The entries as the user wrote them, each an id or a path, or why it is invalid: in the order of their place numbers where
   * only these differ from the base (or where the record is its own base), else as they stand.
   */
  entries(report: JsonObject, base?: JsonObject): readonly ListEntry[] | undefined {
    const list = this.#listOf(report)
    if (!isList(list)) return undefined
    const isNumbered = base === report || (base !== undefined && this.#isSameSequence(report, base))
    // A long list is never held as a tree.
    const items = list?.type === 'array' ? eachItem(list) : this.#items(report)
    const entries: ListEntry[] = []
    const places: (number | undefined)[] = []
    for (const item of items) {
      entries.push(this.#entryOf(item))
      places.push(this.#placeOf(item))
    }
    return isNumbered ? inOrder(entries, places) : entries
  }

  /** True if every row has the place number that its calculation has in the other report, too. */
  hasPlacesOf(report: JsonObject, other: JsonObject): boolean {
    const placed = (item: Json) =>
      item.type === 'object' ? `${this.#calculationOf(item)} at ${this.#placeOf(item)}` : 'none'
    const there = new Set(this.#items(other).map(placed))
    return this.#items(report).every(item => there.has(placed(item)))
  }

  /**
   * The report with this list in the form its own has; rows that stay keep their unknown fields. Places are renumbered where the
   * order differs from the base's. @throws Failure 'refused' for a record without a list: the form is unknown
   */
  withRows(report: JsonObject, rows: readonly ReportRow[], base = report): JsonObject {
    const field = this.fieldIn(report)
    const list = this.#listOf(report)
    if (field === undefined || list === undefined)
      throw new Failure('refused', 'this report has no list of calculations')
    if (list.type === 'string' && !isTitled(rows))
      return withField(report, field, stringJson(rows.map(row => row.calculation).join(',')))
    const items = list.type === 'array' ? list.items : []
    // A deleted calculation leaves its place empty; only another order renumbers the places.
    const before = this.#byPlace(this.#items(base))
    const isSame =
      before.length === rows.length &&
      rows.every(({ calculation }, at) => this.#calculationOf(before[at]) === calculation)
    const places = rows.map((_, at) => {
      const old = before[at]
      if (!isSame) return numberJson(String(at + 1))
      return old?.type === 'object' ? firstReadable(old, this.names.rowPlace, json => json) : undefined
    })
    return withField(report, field, { type: 'array', items: this.#written(items, rows, places) })
  }

  #written(
    items: readonly Json[],
    rows: readonly ReportRow[],
    places: readonly (Json | undefined)[],
  ): readonly Json[] {
    const model = items.find(item => item.type === 'object')
    const old = this.#byPlace(items).filter(item => item.type === 'object')
    const known = old.map(item => ({ calculation: this.#calculationOf(item), title: this.#titleOf(item) }))
    const continued = continuedRows(rows, known)
    const twice = new Set<string>([...twiceIn(rows), ...twiceIn(known)])
    if (model !== undefined || isTitled(rows))
      return rows.map((row, at) => {
        const stayed = old[continued[at] ?? -1]
        return this.#row(row, places[at], { model, stayed, isTwice: twice.has(row.calculation) })
      })
    const quoted = items.length > 0 && items.every(item => item.type === 'string')
    return rows.map(row => (quoted ? stringJson(row.calculation) : numberJson(row.calculation)))
  }

  /** The old row with its new place, or a new one with the first row's fields for calculation, place and title. */
  #row(
    row: ReportRow,
    place: Json | undefined,
    {
      model,
      stayed,
      isTwice,
    }: { model: JsonObject | undefined; stayed: JsonObject | undefined; isTwice: boolean },
  ): JsonObject {
    const { rowCalculation, rowPlace, rowTitle } = this.names
    const idField = presentIn(model, rowCalculation) ?? 'calcId'
    const placeField = presentIn(model, rowPlace)
    const titleField = presentIn(model, rowTitle) ?? 'title'
    let written =
      stayed ?? withField({ type: 'object', fields: [] }, idField, idLike(model, idField, row.calculation))
    if (place !== undefined && placeField !== undefined) written = withField(written, placeField, place)
    if (row.title !== undefined) return withField(written, titleField, stringJson(row.title))
    // A service that matches rows by calculation would give it the title of the other row.
    const isUnsaid = isTwice && fieldOf(written, titleField) === undefined
    return isUnsaid ? withField(written, titleField, { type: 'word', raw: 'null' }) : written
  }

  #listOf(report: JsonObject): Json | undefined {
    const field = this.fieldIn(report)
    return field === undefined ? undefined : fieldOf(report, field)
  }

  /** The items as values; a text is split at commas, but not inside a path. */
  #items(report: JsonObject): readonly Json[] {
    const list = this.#listOf(report)
    if (list?.type === 'array') return list.items
    if (list?.type !== 'string') return []
    const parts = list.value.split(/,(?=\s*(?:\/|\d+\s*(?:,|$)|$))/).map(part => part.trim())
    return parts.filter(part => part !== '').map(stringJson)
  }

  #entryOf(item: Json): ListEntry {
    const { rowCalculation, rowTitle, rowPath } = this.names
    const row = item.type === 'object' ? item : undefined
    const id = row === undefined ? idIn(item) : firstReadable(row, rowCalculation, idIn)
    const title = row && firstReadable(row, rowTitle, textOf)
    if (id !== undefined) return { as: 'id', calculation: id as CalculationId, title }
    const path = (row === undefined ? textOf(item) : firstReadable(row, rowPath, textOf))?.trim() ?? ''
    return path === '' || isNumeric(path) ? { as: 'nonsense', value: item } : { as: 'path', path, title }
  }

  /** True if the rows stand in the same order as in the base: then a changed place number is the edit. */
  #isSameSequence(report: JsonObject, base: JsonObject): boolean {
    const items = this.#items(report)
    // For a calculation that stands twice, only the titles distinguish the rows.
    const isTwice = new Set(items.map(item => this.#calculationOf(item))).size < items.length
    const keyOf = (item: Json) =>
      JSON.stringify([this.#calculationOf(item) ?? 'none', (isTwice && this.#titleOf(item)) || ''])
    return items.map(keyOf).join() === this.#items(base).map(keyOf).join()
  }

  #byPlace(items: readonly Json[]): readonly Json[] {
    return inOrder(
      items,
      items.map(item => this.#placeOf(item)),
    )
  }

  #calculationOf(item: Json | undefined): string | undefined {
    return item?.type === 'object' ? firstReadable(item, this.names.rowCalculation, idIn) : undefined
  }

  #titleOf(item: Json): string | undefined {
    return item.type === 'object' ? firstReadable(item, this.names.rowTitle, textOf) : undefined
  }

  #placeOf(item: Json): number | undefined {
    return item.type === 'object' ? firstReadable(item, this.names.rowPlace, placeIn) : undefined
  }
}

/** By their places, where each has one; most lists stand in that order. */
function inOrder<One>(all: readonly One[], places: readonly (number | undefined)[]): readonly One[] {
  let isSorted = true
  for (const [at, place] of places.entries()) {
    if (place === undefined) return all
    isSorted &&= place >= (places[at - 1] ?? place)
  }
  const placed = isSorted ? [] : all.map((one, at) => ({ one, place: places[at] ?? 0 }))
  return isSorted ? all : placed.sort((one, other) => one.place - other.place).map(({ one }) => one)
}

/** Ids alone would lose the titles that the user gave. */
const isTitled = (rows: readonly ReportRow[]): boolean => rows.some(row => row.title !== undefined)

function twiceIn(rows: readonly { readonly calculation: string | undefined }[]): string[] {
  const once = new Set<string | undefined>()
  return rows.flatMap(({ calculation: id }) =>
    once.size === once.add(id).size && id !== undefined ? [id] : [],
  )
}

const idLike = (model: JsonObject | undefined, field: string, id: CalculationId): Json =>
  model !== undefined && fieldOf(model, field)?.type === 'string' ? stringJson(id) : numberJson(id)

const presentIn = (model: JsonObject | undefined, fields: readonly string[]): string | undefined =>
  model === undefined ? undefined : fields.find(name => fieldOf(model, name) !== undefined)

/** Digits that are no valid id are a typing error, not the name of a calculation. */
const isNumeric = (text: string): boolean => /^[-+]?[\d.]+$/.test(text) && !isId(text)

function placeIn(json: Json): number | undefined {
  const place = json.type === 'number' ? Number(json.raw) : Number(textOf(json) ?? Number.NaN)
  return Number.isFinite(place) ? place : undefined
}

const isList = (json: Json | undefined): boolean => json?.type === 'array' || json?.type === 'string'

function holdsRows(json: Json, fields: readonly string[]): boolean {
  if (json.type !== 'array') return false
  for (const item of eachItem(json))
    if (item.type === 'object' && presentIn(item, fields) !== undefined) return true
  return false
}
