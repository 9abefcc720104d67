// Type of a report in its record: read by number or name, and written in the form that another record has it in; its name beside it.
import { equalJson, hasSameTokens } from '../../record/json/equal.js'
import {
  fieldOf,
  type Json,
  type JsonObject,
  numberJson,
  stringJson,
  withField,
} from '../../record/json/json.js'
import { idForm, type ReportType } from '../remote.js'
import type { FieldNames } from './names.js'
import { firstReadable } from './reading.js'
import { idIn, nonBlankText } from './scalar.js'

/** A number as text, or a name; undefined where the record says neither. */
export const typeSaid = (record: JsonObject, names: FieldNames): string | undefined =>
  firstReadable(record, names.reportType, json => typeIn(json, names))

/** What the type is called in the field beside it; undefined where the record does not say. */
export const typeNameSaid = (record: JsonObject, names: FieldNames): string | undefined =>
  firstReadable(record, names.reportTypeName, json => typeIn(json, names))

function typeIn(json: Json, names: FieldNames): string | undefined {
  const said =
    json.type === 'object'
      ? (firstReadable(json, names.id, idIn) ?? firstReadable(json, names.title, nonBlankText))
      : (idIn(json) ?? nonBlankText(json))
  return said?.trim()
}

/**
 * The record with this type in the form that `like` has its own in; with its very value where `type` is undefined. A second field
 * that says the same as the first follows it, unless the record says something else there.
 */
export function typedLike(
  record: JsonObject,
  { type, like }: { readonly type: ReportType | undefined; readonly like: JsonObject },
  names: FieldNames,
): JsonObject {
  const first = saying(record, names)[0] ?? saying(like, names)[0] ?? names.reportType[0]
  if (first === undefined) return record
  const was = typeSaid(like, names)
  const others = saying(record, names).filter(name => {
    const [mine, old] = [fieldOf(record, name), fieldOf(like, name)]
    return (
      name !== first &&
      mine !== undefined &&
      old !== undefined &&
      equalJson(mine, old) &&
      typeIn(old, names) === was
    )
  })
  return [first, ...others].reduce((whole, name) => {
    const old = fieldOf(like, name) ?? fieldOf(like, saying(like, names)[0] ?? name)
    if (type !== undefined) return withField(whole, name, inFormOf(old, type, names))
    const own = fieldOf(whole, name)
    const isSame = old === undefined || (own !== undefined && hasSameTokens(own, old))
    return isSame ? whole : withField(whole, name, old)
  }, record)
}

const saying = (record: JsonObject, names: FieldNames): readonly string[] =>
  names.reportType.filter(name => {
    const json = fieldOf(record, name)
    return json !== undefined && typeIn(json, names) !== undefined
  })

function inFormOf(old: Json | undefined, type: ReportType, names: FieldNames): Json {
  switch (old?.type) {
    case 'number':
      return idForm.test(type.id) ? numberJson(type.id) : stringJson(type.id)
    case 'string':
      return stringJson(idForm.test(old.value.trim()) ? type.id : type.title)
    case 'object':
      return {
        type: 'object',
        fields: old.fields.map(field => ({ ...field, value: partOf(field, type, names) })),
      }
    default:
      return stringJson(type.id)
  }
}

/** A part of which the list of types says nothing stays. */
function partOf(
  { name, value }: { readonly name: string; readonly value: Json },
  type: ReportType,
  names: FieldNames,
): Json {
  if (names.id.includes(name)) return inFormOf(value, type, names)
  if (names.title.includes(name)) return stringJson(type.title)
  return fieldOf(type.record, name) ?? value
}
