// Identifies a record: an answer that names another id than the requested one is no answer to that request.
import { Failure } from '../../failure.js'
import { type Field, fieldOf, type Json, type JsonObject } from '../../record/json/json.js'
import { idIn } from './scalar.js'

/** The record that a request names. */
export interface RequestedRecord {
  readonly kind: 'project' | 'calculation' | 'report'
  readonly id: string
}

/**
 * The record, if it is the requested one. A record without an id, or whose id is no number, cannot be compared and passes.
 * @throws Failure 'broken' for a record with another id, or with an invalid one
 */
export function identify(record: JsonObject, asked: RequestedRecord, fields: readonly string[]): JsonObject {
  const other = numbersIn(record, fields).find(said => idIn(said) !== asked.id)
  const impossible = fields.flatMap(name => fieldsNamed(record, name)).find(({ value }) => isNoId(value))
  if (other === undefined && impossible === undefined) return record
  const answered = other === undefined ? 'an invalid id' : `${asked.kind} ${scalarText(other)}`
  throw new Failure(
    'broken',
    `${asked.kind} ${asked.id} was asked for, and the service answered with ${answered}: does a cache stand in front of it that ignores the question?`,
  )
}

const fieldsNamed = ({ fields }: JsonObject, name: string): readonly Field[] =>
  fields.filter(field => field.name === name)

/** The first of these fields that holds a number; all its values where the name is a duplicate. */
function numbersIn(record: JsonObject, fields: readonly string[]): readonly Json[] {
  for (const name of fields) {
    const held = fieldsNamed(record, name)
    const numbers = held.map(({ value }) => insideOf(value, fields)).filter(isNumeric)
    if (numbers.length > 0) return numbers
  }
  return []
}

/** An object may hold the id: `"project": {"id": 7}`. */
const insideOf = (value: Json, fields: readonly string[]): Json | undefined =>
  value.type === 'object' ? [...fields, 'id'].map(name => fieldOf(value, name)).find(isNumeric) : value

/** A text that begins like a number, `007` or `-1`, is a wrong id; any other text is ignored. */
const isNumeric = (json: Json | undefined): json is Json =>
  json?.type === 'number' || (json?.type === 'string' && /^\s*[-+]?\d+\s*$/.test(json.value))

/** `true` and lists name nothing; `null` is ignored. */
const isNoId = (json: Json): boolean => json.type === 'array' || (json.type === 'word' && json.raw !== 'null')

const scalarText = (json: Json): string =>
  json.type === 'string' ? json.value.trim() : 'raw' in json ? json.raw : ''
