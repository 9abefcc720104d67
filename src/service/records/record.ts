// A record is the JSON text its client sent: taken apart and put together without changing a digit.
import { invalid } from '../store/refusal.js'

/** The fields of a JSON object in their order, each with the text of its value exactly as it was written. */
export type JsonRecord = ReadonlyMap<string, string>

const blank = /[ \t\r\n]/

/**
 * Takes a JSON object apart. A name that stands twice counts with its last value, as in JSON.parse.
 * @throws Refusal 400 for a text that is no JSON or no object
 */
export function parseRecord(text: string): JsonRecord {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw Object.assign(invalid('the body is not JSON'), { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('the body is not a JSON object')
  }
  return fieldsOf(text)
}

/** Walks a text that is known to be one JSON object. */
function fieldsOf(text: string): JsonRecord {
  const fields = new Map<string, string>()
  let at = skipBlank(text, text.indexOf('{') + 1)
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at)
    const start = skipBlank(text, skipBlank(text, nameEnd) + 1)
    const end = endOfValue(text, start)
    fields.set(String(JSON.parse(text.slice(at, nameEnd))), text.slice(start, end))
    at = skipBlank(text, end)
    if (text[at] === ',') at = skipBlank(text, at + 1)
  }
  return fields
}

/** The elements of a text that is known to be one JSON array, each as it was written. */
export function elementsOf(text: string): readonly string[] {
  const elements: string[] = []
  let at = skipBlank(text, text.indexOf('[') + 1)
  while (at < text.length && text[at] !== ']') {
    const end = endOfValue(text, at)
    elements.push(text.slice(at, end))
    at = skipBlank(text, end)
    if (text[at] === ',') at = skipBlank(text, at + 1)
  }
  return elements
}

function skipBlank(text: string, from: number): number {
  let at = from
  while (blank.test(text.charAt(at))) at += 1
  return at
}

/** The place after the closing quote of the string that opens at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

/** The place after the value that starts at `from`: what ends it is a comma or a closing bracket of its parent. */
function endOfValue(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; ) {
    const sign = text.charAt(at)
    if (sign === '"') {
      at = endOfString(text, at)
      continue
    }
    if (sign === '{' || sign === '[') depth += 1
    else if (sign === '}' || sign === ']') depth -= 1
    if (depth < 0 || (depth === 0 && sign === ',')) return trimEnd(text, from, at)
    at += 1
  }
  return text.length
}

function trimEnd(text: string, from: number, to: number): number {
  let end = to
  while (end > from && blank.test(text.charAt(end - 1))) end -= 1
  return end
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

/**
 * An id as the decimal digits of a 64-bit integer, without leading zeros.
 * @throws Refusal 400 for anything else
 */
export function validId(written: string, name: string): string {
  if (!/^[0-9]{1,30}$/.test(written)) throw invalid(`${name} is not a whole number`)
  const id = BigInt(written)
  if (id > largestId) throw invalid(`${name} is larger than a 64-bit integer`)
  return id.toString()
}
