// Reports: their formulas and type, read and written in the record's own form; the body of a new one, and whether a text is about a known one.
import { equalJson, hasSameTokens } from '../../record/json/equal.js'
import {
  fieldOf,
  type Json,
  type JsonObject,
  numberJson,
  stringJson,
  withField,
  without,
} from '../../record/json/json.js'
import { idForm, type ReportRow, type ReportType, type ReportTypeId } from '../remote.js'
import { type FieldNames, usual } from './names.js'
import { firstReadable, idIn, isEmpty, nonBlankText, overlaid } from './reading.js'
import type { ReportLists } from './rows.js'

/** A client of 2024 gives a new report its list under this name, as ids with commas between them. */
const postedList = 'calculationIds'

export class Reports {
  constructor(
    private readonly names: FieldNames,
    private readonly lists: ReportLists,
  ) {}

  /** Formulas, energy-profile ones by place (c1 = first row), graph ones by id. */
  configuration(report: JsonObject): string | undefined {
    return firstReadable(report, this.names.configuration, nonBlankText)
  }

  withConfiguration(report: JsonObject, text: string): JsonObject {
    const { configuration } = this.names
    const own = configuration.find(name => nonBlankText(fieldOf(report, name)) !== undefined)
    const name = own ?? configuration[0]
    return name === undefined ? report : withField(report, name, stringJson(text))
  }

  /** The number or the name of its type, as the record says it. */
  type(report: JsonObject): string | undefined {
    return firstReadable(report, this.names.reportType, this.#typeIn)
  }

  /** What the service calls its type, in a field of its own beside it. */
  typeName(report: JsonObject): string | undefined {
    return firstReadable(report, this.names.reportTypeName, this.#typeIn)
  }

  /** True for the name of that field, which follows the type. */
  isTypeName(field: string): boolean {
    return this.names.reportTypeName.includes(field)
  }

  /**
   * The record with this type in the form that `like` has its own in; with its very value where `type` is undefined. A second field
   * that says the same as the first follows it, unless the record says something else there.
   */
  withType(record: JsonObject, type: ReportType | undefined, like: JsonObject): JsonObject {
    const own = this.#fieldsOfType(record)
    const usualOf = this.#fieldsOfType(like)
    const first = own[0] ?? usualOf[0] ?? this.names.reportType[0]
    if (first === undefined) return record
    const was = this.type(like)
    const others = own.filter(name => {
      const [mine, old] = [fieldOf(record, name), fieldOf(like, name)]
      return (
        name !== first &&
        mine !== undefined &&
        old !== undefined &&
        equalJson(mine, old) &&
        this.#typeIn(old) === was
      )
    })
    return [first, ...others].reduce((whole, name) => {
      const old = fieldOf(like, name) ?? fieldOf(like, usualOf[0] ?? name)
      if (type !== undefined) return withField(whole, name, this.#inFormOf(old, type))
      const now = fieldOf(whole, name)
      const isSame = old === undefined || (now !== undefined && hasSameTokens(now, old))
      return isSame ? whole : withField(whole, name, old)
    }, record)
  }

  readonly #typeIn = (json: Json): string | undefined => {
    const { id, title } = this.names
    const said =
      json.type === 'object'
        ? (firstReadable(json, id, idIn) ?? firstReadable(json, title, nonBlankText))
        : (idIn(json) ?? nonBlankText(json))
    return said?.trim()
  }

  #fieldsOfType(record: JsonObject): readonly string[] {
    return this.names.reportType.filter(name => {
      const json = fieldOf(record, name)
      return json !== undefined && this.#typeIn(json) !== undefined
    })
  }

  #inFormOf(old: Json | undefined, type: ReportType): Json {
    switch (old?.type) {
      case 'number':
        return idForm.test(type.id) ? numberJson(type.id) : stringJson(type.id)
      case 'string':
        return stringJson(idForm.test(old.value.trim()) ? type.id : type.title)
      case 'object': {
        const fields = old.fields.map(field => ({ ...field, value: this.#partOf(field, type) }))
        return { type: 'object', fields }
      }
      default:
        return stringJson(type.id)
    }
  }

  /** A part of which the list of types says nothing stays. */
  #partOf({ name, value }: { readonly name: string; readonly value: Json }, type: ReportType): Json {
    if (this.names.id.includes(name)) return this.#inFormOf(value, type)
    if (this.names.title.includes(name)) return stringJson(type.title)
    return fieldOf(type.record, name) ?? value
  }

  /** The body of a POST; `rows` is the initial list, if the text gives one. */
  body(
    written: JsonObject,
    { type, rows }: { type: ReportTypeId; rows: readonly ReportRow[] | undefined },
  ): JsonObject {
    const titled = this.#withBothTitles(this.#bare(written))
    const typed = withField(titled, usual(this.names.reportType, [written]), stringJson(type))
    const list = rows?.map(row => row.calculation).join(',')
    return list === undefined ? typed : withField(typed, postedList, stringJson(list))
  }

  /** The service requires a name, readers see the title: a text that gives one of them means both. */
  #withBothTitles(record: JsonObject): JsonObject {
    const { reportTitle } = this.names
    const title = firstReadable(record, reportTitle, nonBlankText)
    if (title === undefined) return record
    const missing = reportTitle.filter(name => fieldOf(record, name) === undefined)
    return missing.reduce((whole, name) => withField(whole, name, stringJson(title)), record)
  }

  /** The record with every value of the text, under the record's own field names. */
  saying(written: JsonObject, record: JsonObject, rows: readonly ReportRow[] | undefined): JsonObject {
    const said = this.#bare(written, this.names.reportType)
    const isCopy = this.names.id.some(name => fieldOf(written, name) !== undefined)
    const whole = overlaid(record, isCopy ? unfilledFields(said, record) : said)
    return rows === undefined || this.lists.fieldIn(record) === undefined
      ? whole
      : this.lists.withRows(whole, rows)
  }

  /** A report's text without its list and what the service gives it. */
  #bare(written: JsonObject, besides: readonly string[] = []): JsonObject {
    const { id, reportTypeName } = this.names
    const list = this.lists.fieldIn(written) ?? []
    return without(written, [id, reportTypeName, besides, ownFields(this.names), list].flat())
  }

  /**
   * True if the text can be an edit of a report that has these records: it has their title or none, or at least as many
   * fields in common as differ. The type and empty fields are ignored: every report has them.
   */
  resembles(written: JsonObject, known: readonly JsonObject[]): boolean {
    const { id, reportTitle, reportType, reportTypeName } = this.names
    const titles = (record: JsonObject) =>
      reportTitle.flatMap(name => nonBlankText(fieldOf(record, name))?.trim() ?? [])
    const theirs = new Set(known.flatMap(titles))
    const own = titles(written)
    if (own.length === 0 || own.some(title => theirs.has(title))) return true
    const apart = new Set([id, reportType, reportTypeName, reportTitle, ownFields(this.names)].flat())
    const said = written.fields.filter(({ name, value }) => !apart.has(name) && !isEmpty(value))
    const isKnown = ({ name, value }: { name: string; value: Json }) =>
      known.some(record => {
        const there = fieldOf(record, name)
        return there !== undefined && equalJson(there, value)
      })
    const common = said.filter(isKnown).length
    // The title is one that differs.
    const different = said.length - common + 1
    return common > 0 && common >= different
  }
}

/** In a copied record the owner and the like are the service's own: only fields left empty are filled again. */
function unfilledFields(said: JsonObject, record: JsonObject): JsonObject {
  const isUnfilled = (json: Json | undefined) =>
    json === undefined ||
    (json.type === 'word' && json.raw === 'null') ||
    (json.type === 'string' && json.value === '')
  return { type: 'object', fields: said.fields.filter(({ name }) => isUnfilled(fieldOf(record, name))) }
}

/** Fields that the service fills in by itself. */
const ownFields = ({ created, modified, state, published }: FieldNames): readonly string[] =>
  [created, modified, state, published].flat()
