// A JSON text as a tree that forgets nothing: key order, number spelling, escapes and unknown fields all come back.

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
