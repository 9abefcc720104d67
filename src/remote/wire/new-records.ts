// Body of a POST for a new record, how its values appear in the record that the service made of it, and whether a text is about the same user or report as known records.
import { equalJson } from '../../record/json/equal.js'
import {
  fieldOf,
  type Json,
  type JsonObject,
  numberJson,
  stringJson,
  withField,
  without,
} from '../../record/json/json.js'
import { compactPrint } from '../../record/json/print.js'
import type { NewRecords, PersonNamed, ReportRow } from '../remote.js'
import type { FieldNames } from './names.js'
import { firstReadable } from './reading.js'
import { listFieldOf, withRowsIn } from './rows.js'
import { idIn, nonBlankText } from './scalar.js'

/** A client of 2024 gives a new report its list under this name, as ids with commas between them. */
const postedList = 'calculationIds'

export function newRecordsIn(names: FieldNames): NewRecords {
  /** The field name of the neighbouring records, else the usual one. */
  const usual = (fields: readonly string[], like: readonly JsonObject[]): string =>
    fields.find(name => like.some(record => fieldOf(record, name) !== undefined)) ?? fields[0] ?? ''

  function report(written: JsonObject, said: Parameters<NewRecords['report']>[1]): JsonObject {
    const typeField = names.reportType.find(name => fieldOf(written, name) !== undefined)
    const typeName = typeField ?? names.reportType[0] ?? ''
    const list = listFieldOf(written, names)
    const left = [...names.id, ...names.reportTypeName, ...ownOfService]
    const bare = without(written, list === undefined ? left : [...left, list])
    const typed = withField(withBothTitles(bare), typeName, stringJson(said.type))
    return said.rows === undefined ? typed : withField(typed, postedList, stringJson(idsIn(said.rows)))
  }

  const ownOfService = ownFields(names)

  /** The service requires a name, readers see the title: a text that gives one of them means both. */
  function withBothTitles(record: JsonObject): JsonObject {
    const title = firstReadable(record, names.reportTitle, nonBlankText)
    if (title === undefined) return record
    return names.reportTitle.reduce(
      (whole, name) =>
        fieldOf(whole, name) === undefined ? withField(whole, name, stringJson(title)) : whole,
      record,
    )
  }

  function reportLike(
    written: JsonObject,
    record: JsonObject,
    rows: readonly ReportRow[] | undefined,
  ): JsonObject {
    const list = listFieldOf(written, names)
    const left = [...names.id, ...names.reportType, ...names.reportTypeName, ...ownOfService]
    const said = without(written, list === undefined ? left : [...left, list])
    const isCopy = names.id.some(name => fieldOf(written, name) !== undefined)
    const whole = overlaid(record, isCopy ? unfilledFields(said, record) : said)
    const shown = listFieldOf(record, names)
    return rows === undefined || shown === undefined ? whole : withRowsIn(whole, { rows }, names)
  }

  return {
    project({ title, description, parent }, like) {
      const fields: readonly (readonly [string, Json])[] = [
        [usual(names.title, like), stringJson(title)],
        [usual(names.description, like), stringJson(description)],
        [usual(names.parent, like), numberJson(parent)],
      ]
      return fields.reduce((record, [name, value]) => withField(record, name, value), nothing)
    },
    report,
    share(written, project, like) {
      const person = firstReadable(written, names.sharedWith, json =>
        nonBlankText(json) === undefined ? undefined : json,
      )
      const personField = names.sharedWith.find(name => like.some(share => isPlain(fieldOf(share, name))))
      const bare = without(written, [...names.share, ...names.shareProject])
      const body = withField(bare, usual(names.shareProject, like), numberJson(project))
      if (person === undefined || personField === undefined) return body
      return withField(without(body, names.sharedWith), personField, person)
    },
    reportLike,
    shareLike: (written, record) =>
      overlaid(record, without(written, [...names.share, ...names.shareProject, ...names.sharedWith])),
    personNamed: (written, known) => personNamed(written, known, names),
    resembles: (written, known) => resembles(written, known, names),
  }
}

const nothing: JsonObject = { type: 'object', fields: [] }

const idsIn = (rows: readonly ReportRow[]): string => rows.map(row => row.calculation).join(',')

const isPlain = (json: Json | undefined): boolean => nonBlankText(json) !== undefined

/** In a copied record the owner and the like are the service's own: only fields left empty are filled again. */
function unfilledFields(said: JsonObject, record: JsonObject): JsonObject {
  const isEmpty = (json: Json | undefined) =>
    json === undefined ||
    (json.type === 'word' && json.raw === 'null') ||
    (json.type === 'string' && json.value === '')
  return { type: 'object', fields: said.fields.filter(({ name }) => isEmpty(fieldOf(record, name))) }
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

/** Every user that the text names must stand in one of the records, in any field. */
export function personNamed(
  written: JsonObject,
  known: readonly JsonObject[],
  names: FieldNames,
): PersonNamed {
  const named = personsIn(written, names)
  if (named.length === 0) return 'none'
  const there = new Set(known.flatMap(record => personsIn(record, names)))
  return named.every(person => there.has(person)) ? 'them' : 'another'
}

/** The users a share names, normalised so that two equal ones compare equal. */
function personsIn(share: JsonObject, names: FieldNames): readonly string[] {
  return names.sharedWith.flatMap(name => spellings(fieldOf(share, name), names))
}

function spellings(json: Json | undefined, names: FieldNames): readonly string[] {
  if (json === undefined || isEmpty(json)) return []
  if (json.type !== 'object')
    return [(nonBlankText(json) ?? idIn(json) ?? compactPrint(json)).trim().toLowerCase()]
  const login = firstReadable(json, names.login, nonBlankText)
  const found = [firstReadable(json, names.id, idIn), login?.trim().toLowerCase()].filter(
    one => one !== undefined,
  )
  return found.length > 0 ? found : [compactPrint(json)]
}

/**
 * True if the text can be an edit of a report that has these records: it has their title or none, or at least as many
 * fields in common as differ. The type and empty fields are ignored: every report has them.
 */
export function resembles(written: JsonObject, known: readonly JsonObject[], names: FieldNames): boolean {
  const titles = (record: JsonObject) =>
    names.reportTitle.flatMap(name => nonBlankText(fieldOf(record, name))?.trim() ?? [])
  const theirs = new Set(known.flatMap(titles))
  const own = titles(written)
  if (own.length === 0 || own.some(title => theirs.has(title))) return true
  const types = [...names.reportType, ...names.reportTypeName]
  const apart = new Set([...names.id, ...types, ...names.reportTitle, ...ownFields(names)])
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

/** Fields that the service fills in by itself. */
export const ownFields = ({ created, modified, state, published }: FieldNames): readonly string[] =>
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
