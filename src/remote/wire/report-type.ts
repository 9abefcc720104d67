// Type of a report in its record: read by number or name, and written in the form that another record has it in.
import { hasSameTokens } from '../../record/json/equal.js'
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
  firstReadable(record, names.reportType, typeIn)

/** What the type is called in the field beside it; undefined where the record does not say. */
export const typeNameSaid = (record: JsonObject, names: FieldNames): string | undefined =>
  firstReadable(record, names.reportTypeName, typeIn)

const typeIn = (json: Json): string | undefined => (idIn(json) ?? nonBlankText(json))?.trim()

/** The record with this type in the form that `like` has its own in; with its very value where `type` is undefined. */
export function typedLike(
  record: JsonObject,
  { type, like }: { readonly type: ReportType | undefined; readonly like: JsonObject },
  names: FieldNames,
): JsonObject {
  const holds = (one: JsonObject) => names.reportType.find(field => fieldOf(one, field) !== undefined)
  const name = holds(record) ?? holds(like) ?? names.reportType[0]
  if (name === undefined) return record
  const [own, old] = [fieldOf(record, name), fieldOf(like, name)]
  const value = type === undefined ? old : inFormOf(old, type)
  const isSame = value === undefined || (own !== undefined && hasSameTokens(own, value))
  return isSame ? record : withField(record, name, value)
}

function inFormOf(old: Json | undefined, { id, title }: ReportType): Json {
  if (old?.type === 'number' && idForm.test(id)) return numberJson(id)
  const isNamed = old?.type === 'string' && !idForm.test(old.value.trim())
  return stringJson(isNamed ? title : id)
}
