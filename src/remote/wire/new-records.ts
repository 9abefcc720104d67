// Body of a POST for a new record, how its values appear in the record that the service made of it, and whether a text is about the same user or report as known records.
import { equalJson } from '../../record/json/equal.js'
import {
  emptyObject,
  fieldOf,
  type Json,
  type JsonObject,
  numberJson,
  stringJson,
  withField,
  without,
} from '../../record/json/json.js'
import { compactPrint } from '../../record/json/print.js'
import type { NewProject, NewRecords, PersonNamed, ProjectId, ReportRow } from '../remote.js'
import type { FieldNames } from './names.js'
import { firstReadable } from './reading.js'
import type { ReportLists } from './rows.js'
import { idIn, nonBlankText } from './scalar.js'

/** A client of 2024 gives a new report its list under this name, as ids with commas between them. */
const postedList = 'calculationIds'

export class NewRecordForms implements NewRecords {
  constructor(
    private readonly names: FieldNames,
    private readonly lists: ReportLists,
  ) {}

  project({ title, description, parent }: NewProject, like: readonly JsonObject[]): JsonObject {
    const { names } = this
    const fields: readonly (readonly [string, Json])[] = [
      [usual(names.title, like), stringJson(title)],
      [usual(names.description, like), stringJson(description)],
      [usual(names.parent, like), numberJson(parent)],
    ]
    return fields.reduce((record, [name, value]) => withField(record, name, value), emptyObject)
  }

  report(written: JsonObject, { type, rows }: Parameters<NewRecords['report']>[1]): JsonObject {
    const { names } = this
    const titled = this.#withBothTitles(this.#bare(written))
    const typed = withField(titled, usual(names.reportType, [written]), stringJson(type))
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

  reportLike(written: JsonObject, record: JsonObject, rows: readonly ReportRow[] | undefined): JsonObject {
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

  share(written: JsonObject, project: ProjectId, like: readonly JsonObject[]): JsonObject {
    const { share, shareProject, sharedWith } = this.names
    const person = firstReadable(written, sharedWith, json => (isPlain(json) ? json : undefined))
    const personField = sharedWith.find(name => like.some(record => isPlain(fieldOf(record, name))))
    const bare = without(written, [...share, ...shareProject])
    const body = withField(bare, usual(shareProject, like), numberJson(project))
    if (person === undefined || personField === undefined) return body
    return withField(without(body, sharedWith), personField, person)
  }

  shareLike(written: JsonObject, record: JsonObject): JsonObject {
    const { share, shareProject, sharedWith } = this.names
    return overlaid(record, without(written, [...share, ...shareProject, ...sharedWith]))
  }

  /** Every user that the text names must stand in one of the records, in any field. */
  readonly personNamed = (written: JsonObject, known: readonly JsonObject[]): PersonNamed => {
    const named = this.#personsIn(written)
    if (named.length === 0) return 'none'
    const there = new Set(known.flatMap(record => this.#personsIn(record)))
    return named.every(person => there.has(person)) ? 'them' : 'another'
  }

  /** The users a share names, normalised so that two equal ones compare equal. */
  #personsIn(share: JsonObject): readonly string[] {
    return this.names.sharedWith.flatMap(name => this.#spellings(fieldOf(share, name)))
  }

  #spellings(json: Json | undefined): readonly string[] {
    if (json === undefined || isEmpty(json)) return []
    if (json.type !== 'object')
      return [(nonBlankText(json) ?? idIn(json) ?? compactPrint(json)).trim().toLowerCase()]
    const login = firstReadable(json, this.names.login, nonBlankText)?.trim().toLowerCase()
    const found = [firstReadable(json, this.names.id, idIn), login].filter(one => one !== undefined)
    return found.length > 0 ? found : [compactPrint(json)]
  }

  /**
   * True if the text can be an edit of a report that has these records: it has their title or none, or at least as many
   * fields in common as differ. The type and empty fields are ignored: every report has them.
   */
  readonly resembles = (written: JsonObject, known: readonly JsonObject[]): boolean => {
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

/** The field name of the neighbouring records, else the usual one. */
const usual = (fields: readonly string[], like: readonly JsonObject[]): string =>
  fields.find(name => like.some(record => fieldOf(record, name) !== undefined)) ?? fields[0] ?? ''

const isPlain = (json: Json | undefined): boolean => nonBlankText(json) !== undefined

/** In a copied record the owner and the like are the service's own: only fields left empty are filled again. */
function unfilledFields(said: JsonObject, record: JsonObject): JsonObject {
  const isUnfilled = (json: Json | undefined) =>
    json === undefined ||
    (json.type === 'word' && json.raw === 'null') ||
    (json.type === 'string' && json.value === '')
  return { type: 'object', fields: said.fields.filter(({ name }) => isUnfilled(fieldOf(record, name))) }
}

function overlaid(record: JsonObject, said: JsonObject): JsonObject {
  return said.fields.reduce((whole, { name, value }) => {
    const old = fieldOf(whole, name)
    return old !== undefined && equalJson(old, value) ? whole : withField(whole, name, value)
  }, record)
}

export function retitledIn(record: JsonObject, title: string, names: FieldNames): JsonObject {
  const field = names.title.find(name => fieldOf(record, name)?.type === 'string') ?? names.title[0] ?? ''
  return withField(record, field, stringJson(title))
}

/** Fields that the service fills in by itself. */
const ownFields = ({ created, modified, state, published }: FieldNames): readonly string[] =>
  [created, modified, state, published].flat()

/** Has no content: null, a blank text, an empty list or object. */
function isEmpty(json: Json): boolean {
  switch (json.type) {
    case 'word':
      return json.raw === 'null'
    case 'string':
      return json.value.trim() === ''
    case 'array':
      return json.items.length === 0
    case 'object':
      return json.fields.length === 0
    default:
      return false
  }
}
