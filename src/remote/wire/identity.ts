// Checks that an answer is about the requested record: a cache before the service may ignore a query or mix two.

import { Failure } from '../../failure.js'
import { lastNameOf } from '../../layout.js'
import { fieldOf, fieldsNamed, type Json, type JsonObject } from '../../record/json/json.js'
import { bareName } from '../../spelling.js'
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
export function requireRequested(
  record: JsonObject,
  asked: RequestedRecord,
  fields: readonly string[],
): JsonObject {
  const other = numbersIn(record, fields).find(said => idIn(said) !== asked.id)
  const impossible = fields.flatMap(name => fieldsNamed(record, name)).find(({ value }) => isNoId(value))
  if (other !== undefined || impossible !== undefined)
    throw wrongRecordFailure(
      `${asked.kind} ${asked.id}`,
      other === undefined ? 'an invalid id' : `${asked.kind} ${scalarText(other)}`,
    )
  return record
}

/**
 * Refuses an answer about `of` whose item names another record in these fields.
 * @throws Failure 'broken'
 */
export function refuseOtherOwner(
  item: Json,
  { what, of, fields }: { what: string; of: RequestedRecord; fields: readonly string[] },
): void {
  if (item.type !== 'object') return
  const other = numbersIn(item, fields).find(said => idIn(said) !== of.id)
  if (other === undefined) return
  throw wrongRecordFailure(`the ${what} of ${of.kind} ${of.id}`, `one of ${of.kind} ${scalarText(other)}`)
}

/** @throws Failure 'broken' where the record found under a path has another name */
export function refuseOtherName(path: string, id: string, title: string | undefined): void {
  if (title === undefined || agrees(path, title)) return
  throw new Failure(
    'broken',
    `the service resolves ${path} to ${id}, but its record is named ${JSON.stringify(title)}`,
  )
}

export function wrongRecordFailure(asked: string, answered: string): Failure {
  return new Failure(
    'broken',
    `${asked} was asked for, and the service answered with ${answered}: does a cache stand in front of it that ignores the question?`,
  )
}

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

/** The platform may spell a name differently from a path: blanks, case and signs are ignored. */
function agrees(path: string, title: string): boolean {
  if (path === title || path.endsWith(`/${title}`)) return true
  return bareName(lastNameOf(path)) === bareName(title)
}
