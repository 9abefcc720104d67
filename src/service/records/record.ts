// A record is the JSON text its client sent: taken apart and put together without changing a digit.
import { invalid, missing } from '../store/refusal.js'
import type { Kind, Store } from '../store/store.js'

/** The fields of a JSON object in their order, each with the text of its value exactly as it was written. */
export type JsonRecord = ReadonlyMap<string, string>

/** A name that stands twice counts with its last value, as in JSON.parse. @throws Refusal 400 for a text that is no JSON or no object */
export function parseRecord(text: string): JsonRecord {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw Object.assign(invalid('the body is not JSON'), { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('the body is not a JSON object')
  const fields = new Map<string, string>()
  const parts = partsOf(text).values()
  for (const name of parts) fields.set(String(JSON.parse(name)), parts.next().value ?? 'null')
  return fields
}

/** A pair of signs with an escape in a string, a quote, or a sign that opens, closes or parts something. */
const signs = /\\.|["[\]{},:]/g

/** The elements of a text that is known to be a JSON array, or the names and values of an object in turn, each as it was written. */
export function partsOf(text: string): readonly string[] {
  const parts: string[] = []
  let [depth, start, isString] = [0, 0, false]
  for (const { 0: sign, index } of text.matchAll(signs)) {
    if (sign === '"') isString = !isString
    if (isString || sign === '"') continue
    if (sign === ']' || sign === '}') depth -= 1
    if (depth === 0 || (depth === 1 && (sign === ',' || sign === ':'))) {
      const part = text.slice(start, index).trim()
      if (part !== '') parts.push(part)
      start = index + 1
    }
    if (sign === '[' || sign === '{') depth += 1
  }
  return parts
}

export function recordText(record: JsonRecord): string {
  return `{${[...record].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}

/** The record after a PUT: the body's fields in the body's order, but the service's own fields keep their values. */
export function replaced(old: JsonRecord, body: JsonRecord, owned: readonly string[]): Map<string, string> {
  const result = new Map(body)
  for (const name of owned) {
    const kept = old.get(name)
    if (kept === undefined) result.delete(name)
    else result.set(name, kept)
  }
  return result
}

export interface Kept {
  readonly id: string
  readonly record: string
}

/** @param columns those that are wanted besides id and record. @throws Refusal 404 where there is none */
export function keptById<Row extends Kept>(
  store: Store,
  kind: Kind,
  id: string,
  ...columns: readonly string[]
): Row {
  const all = [idColumn('id'), 'record', ...columns].join(', ')
  const found = store.first<Row>(`SELECT ${all} FROM ${kind} WHERE id = ?`, id)
  if (found === undefined) throw missing(`there is no ${kind} ${id}`)
  return found
}

export const idColumn = (name: string): string => `CAST(${name} AS TEXT) AS ${name}`

/** The string in a field; undefined if the field is missing or holds something else. */
export function textIn(record: JsonRecord, name: string): string | undefined {
  const raw = record.get(name)
  return raw?.startsWith('"') ? String(JSON.parse(raw)) : undefined
}

/** The id in a field, written as a number or as a string of digits; undefined if the field is missing or `null`. */
export function idIn(record: JsonRecord, name: string): string | undefined {
  const raw = record.get(name)
  if (raw === undefined || raw === 'null') return undefined
  return validId(textIn(record, name) ?? raw, name)
}

const largestId = 9223372036854775807n

/** The decimal digits of a 64-bit integer, without leading zeros. @throws Refusal 400 for anything else */
export function validId(written: string, name: string): string {
  if (!/^[0-9]{1,30}$/.test(written)) throw invalid(`${name} is not a whole number`)
  const id = BigInt(written)
  if (id > largestId) throw invalid(`${name} is larger than a 64-bit integer`)
  return id.toString()
}
