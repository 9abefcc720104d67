// Equality of JSON values: spelling, white space and field order do not matter, everything else does.
import { eachItem, type Json, type JsonObject } from './json.js'
import { Long } from './parse.js'
import { compactPrint } from './print.js'
import { decimalOf } from './same-number.js'

/** True if both say the same; numbers are compared as exact decimals, never as floating point. */
export function equalJson(one: Json, other: Json): boolean {
  if (one.type !== other.type) return false
  if (hasSameTokens(one, other)) return true
  if (one.type === 'string' && other.type === 'string') return one.value === other.value
  if (one.type !== 'array' || other.type !== 'array') return canonicalForm(one) === canonicalForm(other)
  const others = eachItem(other)[Symbol.iterator]()
  for (const item of eachItem(one)) {
    const next = others.next()
    if (next.done === true || !equalJson(item, next.value)) return false
  }
  return others.next().done === true
}

/** The same tokens in the same order: texts that are compared differ in little. No call for each token; a long one is never made a tree for that. */
export function hasSameTokens(one: Json, other: Json): boolean {
  if (one === other) return true
  if ('raw' in one) return 'raw' in other && one.raw === other.raw && one.type === other.type
  if (one instanceof Long || other instanceof Long) {
    if (!(one instanceof Long && other instanceof Long)) return false
    return one.text === other.text || compactPrint(one) === compactPrint(other)
  }
  if (one.type === 'array') {
    if (other.type !== 'array' || one.items.length !== other.items.length) return false
    for (const [at, item] of one.items.entries()) {
      const its = other.items[at]
      if (
        its === undefined ||
        !('raw' in item && 'raw' in its ? item.raw === its.raw : hasSameTokens(item, its))
      )
        return false
    }
    return true
  }
  if (other.type !== 'object' || one.fields.length !== other.fields.length) return false
  for (const [at, { rawName, value }] of one.fields.entries()) {
    const its = other.fields[at]
    if (its?.rawName !== rawName) return false
    if (
      !('raw' in value && 'raw' in its.value ? value.raw === its.value.raw : hasSameTokens(value, its.value))
    )
      return false
  }
  return true
}

/** A text that is the same for all spellings of one value, and different for different values. */
export function canonicalForm(json: Json): string {
  switch (json.type) {
    case 'object':
      return `{${objectMeaning(json)}}`
    case 'array':
      return `[${Array.from(eachItem(json), canonicalForm).join(',')}]`
    case 'string':
      return JSON.stringify(json.value)
    case 'number':
      return decimalOf(json.raw)
    case 'word':
      return json.raw
  }
}

function objectMeaning(object: JsonObject): string {
  const last = [...new Map(object.fields.map(field => [field.name, field.value]))]
  const sorted = last.sort(([one], [other]) => (one < other ? -1 : 1))
  return sorted.map(([name, value]) => `${JSON.stringify(name)}:${canonicalForm(value)}`).join(',')
}
