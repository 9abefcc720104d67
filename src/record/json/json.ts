// JSON tree without loss: key order, number spelling, escapes and unknown fields are preserved.
import { foundOnce } from '../../recent-map.js'

/** One field of an object. Duplicate names are kept; the last one counts, as in JSON.parse. */
export interface Field {
  readonly name: string
  readonly rawName: string
  readonly value: Json
}
export interface JsonObject {
  readonly type: 'object'
  readonly fields: readonly Field[]
}
export interface JsonArray {
  readonly type: 'array'
  readonly items: readonly Json[]
  /** The items one after the other, of which none is held. */
  each?(): Iterable<Json>
}
/** `raw` is the token exactly as it was written, quotes and escapes included. */
export interface JsonString {
  readonly type: 'string'
  readonly value: string
  readonly raw: string
}
/** A number is only ever its spelling: `9007199254740993`, `0.10` and `1e400` all survive. */
export interface JsonNumber {
  readonly type: 'number'
  readonly raw: string
}
export interface JsonWord {
  readonly type: 'word'
  readonly raw: 'true' | 'false' | 'null'
}
export type Json = JsonObject | JsonArray | JsonString | JsonNumber | JsonWord

export const emptyObject: JsonObject = { type: 'object', fields: [] }

/** The value of a field, the last one where a name stands twice; undefined where there is none. */
export function fieldOf({ fields }: JsonObject, name: string): Json | undefined {
  if (fields.length >= indexedFrom) return indexOf(fields).get(name)?.value
  let value: Json | undefined
  for (const field of fields) if (field.name === name) value = field.value
  return value
}

/** In fewer fields a name is found as fast without an index. */
const indexedFrom = 256

/** An object never changes, and a save asks a long one for each of its names. */
const indexOf = foundOnce((fields: readonly Field[]) => new Map(fields.map(field => [field.name, field])))

/** The items in order; of a long list there is never a tree of all. */
export const eachItem = (array: JsonArray): Iterable<Json> => array.each?.() ?? array.items

/** Stands for the value of a field that is not there (any more). */
export const removed = Symbol('removed')
export type Edit = Json | typeof removed
/** The new value of each edited field, in the order of the program's text. */
export type Edits = ReadonlyMap<string, Edit>

/** The object with these edits: a value in its old place (every duplicate of it) or at the end. Every other field stays exactly as it is. */
export function withEdits(object: JsonObject, edits: Edits): JsonObject {
  if (edits.size === 0) return object
  const fresh = new Map(edits)
  const fields: Field[] = []
  for (const field of object.fields) {
    fresh.delete(field.name)
    const edit = edits.get(field.name)
    if (edit === undefined) fields.push(field)
    else if (edit !== removed) fields.push({ ...field, value: edit })
  }
  for (const [name, edit] of fresh)
    if (edit !== removed) fields.push({ name, rawName: JSON.stringify(name), value: edit })
  return { type: 'object', fields }
}

export const withField = (object: JsonObject, name: string, value: Json): JsonObject =>
  withEdits(object, new Map([[name, value]]))

export function without(object: JsonObject, names: readonly string[]): JsonObject {
  if (names.every(name => fieldOf(object, name) === undefined)) return object
  return { type: 'object', fields: object.fields.filter(({ name }) => !names.includes(name)) }
}

/** A text as a JSON string; lone surrogates are escaped, so that the result is always valid UTF-8. */
export function stringJson(text: string): JsonString {
  return { type: 'string', value: text, raw: JSON.stringify(text) }
}

const numberForm = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/

/** A number from its spelling, which is kept; a RangeError for a spelling that JSON does not have. */
export function numberJson(raw: string): JsonNumber {
  if (!numberForm.test(raw)) throw new RangeError(`not a JSON number: ${raw}`)
  return { type: 'number', raw }
}

export function textOf(json: Json | undefined): string | undefined {
  return json?.type === 'string' ? json.value : undefined
}
