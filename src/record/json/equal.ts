// Equality of JSON values: spelling, white space and field order do not matter, everything else does.
import { eachItem, type Json, type JsonArray, type JsonObject } from './json.js'
import { isLong } from './parse.js'
import { decimalOf } from './same-number.js'

/** True if both say the same; numbers are compared as exact decimals, never as floating point. */
export function equalJson(one: Json, other: Json): boolean {
  if (one === other || isSameText(one, other)) return true
  if (one.type === 'string' && other.type === 'string') return one.value === other.value
  if (one.type === 'array' && other.type === 'array') return equalItems(one, other)
  return one.type === other.type && canonicalForm(one) === canonicalForm(other)
}

/** The same tokens: what a save compares differs in few of its fields, and a long one is never made a tree for that. */
function isSameText(one: Json, other: Json): boolean {
  if (isLong(one)) return isLong(other) && one.text === other.text
  return 'raw' in one && 'raw' in other && one.type === other.type && one.raw === other.raw
}

function equalItems(one: JsonArray, other: JsonArray): boolean {
  const others = eachItem(other)[Symbol.iterator]()
  for (const item of eachItem(one)) {
    const next = others.next()
    if (next.done === true || !equalJson(item, next.value)) return false
  }
  return others.next().done === true
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
