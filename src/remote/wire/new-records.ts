// Body of a POST for a new record, and how its values appear in the record that the service made of it.
import { equalJson } from '../../record/json/equal.js'
import {
  fieldOf,
  type Json,
  type JsonObject,
  numberJson,
  stringJson,
  withField,
  withoutField,
} from '../../record/json/json.js'
import type { NewRecords, ReportRow } from '../remote.js'
import type { FieldNames } from './names.js'
import { firstReadable } from './reading.js'
import { listFieldOf, withRowsIn } from './rows.js'
import { ownFields, personNamed, resembles } from './same-thing.js'
import { nonBlankText } from './scalar.js'

/** A client of 2024 gives a new report its list under this name, as ids with commas between them. */
const postedList = 'calculationIds'

export function newRecordsIn(names: FieldNames): NewRecords {
  /** The field name of the neighbouring records, else the usual one. */
  const usual = (fields: readonly string[], like: readonly JsonObject[]): string =>
    fields.find(name => like.some(record => fieldOf(record, name) !== undefined)) ?? fields[0] ?? ''

  const without = (record: JsonObject, ...fields: readonly (readonly string[])[]): JsonObject =>
    fields.flat().reduce(withoutField, record)

  function report(written: JsonObject, said: Parameters<NewRecords['report']>[1]): JsonObject {
    const typeField = names.reportType.find(name => fieldOf(written, name) !== undefined)
    const typeName = typeField ?? names.reportType[0] ?? ''
    const list = listFieldOf(written, names)
    const left = [names.id, names.reportTypeName, ownOfService, list === undefined ? [] : [list]]
    const bare = without(written, ...left)
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
    const types = [names.reportType, names.reportTypeName]
    const said = without(written, names.id, ...types, ownOfService, list === undefined ? [] : [list])
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
      const bare = without(written, names.share, names.shareProject)
      const body = withField(bare, usual(names.shareProject, like), numberJson(project))
      if (person === undefined || personField === undefined) return body
      return withField(without(body, names.sharedWith), personField, person)
    },
    reportLike,
    shareLike: (written, record) =>
      overlaid(record, without(written, names.share, names.shareProject, names.sharedWith)),
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

/** The record with each field of `said` that differs. */
function overlaid(record: JsonObject, said: JsonObject): JsonObject {
  return said.fields.reduce((whole, { name, value }) => {
    const old = fieldOf(whole, name)
    return old !== undefined && equalJson(old, value) ? whole : withField(whole, name, value)
  }, record)
}

/** The record with another name, in the field that now holds its name. */
export function retitledIn(record: JsonObject, title: string, names: FieldNames): JsonObject {
  const field = names.title.find(name => fieldOf(record, name)?.type === 'string') ?? names.title[0] ?? ''
  return withField(record, field, stringJson(title))
}
