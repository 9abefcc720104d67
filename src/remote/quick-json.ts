// How a long listing is read fast: with JSON.parse wherever that provably loses no digit, else losslessly.
import { type Field, type Json, stringJson } from '../record/json.js'
import { deepest, parseJson } from '../record/parse.js'

/** A number of more than 15 digits, or with an exponent of three: only these can change their value in a double. */
const delicate = /\d[\d.]{15}|\d[eE][+-]?\d{3}/

/**
 * The value of a text whose spelling does not matter; field names that stand twice count once.
 * @throws Failure 'not-json'
 */
export function quickJson(text: string): Json {
  if (delicate.test(text)) return parseJson(text)
  return treeOf(plainly(text), 0) ?? parseJson(text)
}

/** Undefined for what is no JSON: the lossless parser then says where the mistake stands. */
function plainly(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Undefined for what the lossless parser has to judge. */
function treeOf(value: unknown, depth: number): Json | undefined {
  if (depth > deepest) return undefined
  if (typeof value === 'string') return stringJson(value)
  if (typeof value === 'number') return { type: 'number', raw: String(value) }
  if (value === null) return nothing
  if (typeof value === 'boolean') return value ? yes : no
  if (typeof value !== 'object') return undefined
  return Array.isArray(value) ? arrayOf(value, depth) : objectOf(value, depth)
}

// Plain loops: a listing of a hundred thousand items passes through here while somebody waits.
function arrayOf(values: readonly unknown[], depth: number): Json | undefined {
  const items: Json[] = []
  for (const value of values) {
    const item = treeOf(value, depth + 1)
    if (item === undefined) return undefined
    items.push(item)
  }
  return { type: 'array', items }
}

function objectOf(object: object, depth: number): Json | undefined {
  const fields: Field[] = []
  for (const [name, inner] of Object.entries(object)) {
    const value = treeOf(inner, depth + 1)
    if (value === undefined) return undefined
    fields.push({ name, rawName: JSON.stringify(name), value })
  }
  return { type: 'object', fields }
}

const nothing: Json = { type: 'word', raw: 'null' }
const yes: Json = { type: 'word', raw: 'true' }
const no: Json = { type: 'word', raw: 'false' }
