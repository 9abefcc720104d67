// JSON parser: one pass, every token as written, numbers of any length; a long text stays bytes.
import { FoldedArray, FoldedObject, type Unfolding } from './folded.js'
import type { Field, Json, JsonObject, JsonString, JsonWord } from './json.js'
import {
  backslash,
  closeList,
  closeObject,
  colon,
  comma,
  endOfText,
  isSpace,
  openList,
  openObject,
  quote,
  space,
} from './signs.js'
import * as skim from './skim.js'
import { anotherType, checkedValue, deepest } from './syntax.js'

/** An object or a list of so many characters stays its text, for its tree would take many times as much memory. */
export const foldedFrom = 1 << 16

/** A JSON text; a long one as its bytes in UTF-8, which are not copied. */
export type JsonText = string | Uint8Array

/**
 * The text as a tree that prints back to the same tokens. One leading byte order mark is ignored.
 * @throws Failure 'not-json' with the place of the first mistake
 */
export function parseJson(text: JsonText): Json {
  if (text.length >= foldedFrom) {
    const value = checkedValue(utf8Bytes(text))
    return partOf(value, 0, value.length)
  }
  const short = typeof text === 'string' ? text.replace(/^\uFEFF/, '') : utf8Bytes(text).toString()
  const walk: ParseState = { text: short, at: 0 }
  const value = valueAt(walk, 1)
  if (value !== undefined && signAt(walk) === endOfText) return value
  // The walk only knows that something is wrong. What and where is for the slower check.
  checkedValue(Buffer.from(short))
  throw new Error('a JSON text was not read as one')
}

/**
 * As `parseJson`, for a text that must be an object.
 * @throws Failure 'not-json', also for JSON of another type
 */
export function parseObject(text: JsonText): JsonObject {
  const json = parseJson(text)
  if (json.type === 'object') return json
  throw anotherType(utf8Bytes(text), `a JSON object is expected, not ${named[json.type]}`)
}

const named = { array: 'a list', string: 'a string', number: 'a number', word: 'a single word' } as const

/** Without a byte order mark. */
function utf8Bytes(text: JsonText): Buffer {
  const bytes =
    typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.length)
  return bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes
}

const byteOrderMark = Buffer.of(0xef, 0xbb, 0xbf)

/** The value that begins here in a text that is JSON. */
function partOf(source: Buffer, start: number, end = skim.valueEnd(source, start)): Json {
  const [first] = source.subarray(start, start + 1)
  if (end - start >= foldedFrom && first === openObject)
    return new FoldedObject(source.subarray(start, end), unfolding)
  if (end - start >= foldedFrom && first === openList)
    return new FoldedArray(source.subarray(start, end), unfolding)
  const text = source.toString('utf8', start, end)
  const value = valueAt({ text, at: 0 }, 1)
  if (value === undefined) throw new Error('a part of a JSON text was not read as JSON')
  return value
}

function* itemsIn(source: Buffer): Generator<Json> {
  for (const walk: skim.ScanState = { bytes: source, at: 1 }; ; ) {
    const sign = skim.signAt(walk)
    if (sign === closeList || sign === endOfText) return
    if (sign === comma) {
      walk.at += 1
      continue
    }
    const start = walk.at
    walk.at = skim.valueEnd(source, start)
    yield partOf(source, start, walk.at)
  }
}

const unfolding: Unfolding = { value: (source, start) => partOf(source, start), items: itemsIn }

/** Where the walk over a short text stands; `at` is behind everything that was read. */
interface ParseState {
  readonly text: string
  at: number
}

/** The next sign that is no white space, which stays unread. */
function signAt(walk: ParseState): number {
  for (; walk.at < walk.text.length; walk.at += 1) {
    const sign = walk.text.charCodeAt(walk.at)
    if (!isSpace(sign)) return sign
  }
  return endOfText
}

/** Undefined for what is no JSON, or too deep. */
function valueAt(walk: ParseState, depth: number): Json | undefined {
  switch (signAt(walk)) {
    case quote:
      return stringAt(walk)
    case openObject:
      return depth > deepest ? undefined : objectAt(walk, depth)
    case openList:
      return depth > deepest ? undefined : listAt(walk, depth)
    default:
      return wordAt(walk) ?? numberAt(walk)
  }
}

function stringAt(walk: ParseState): JsonString | undefined {
  const { text, at: start } = walk
  let escaped = false
  for (let at = start + 1; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign < space) return undefined
    if (sign === backslash) {
      escaped = true
      at += 1
    } else if (sign === quote) {
      walk.at = at + 1
      const raw = text.slice(start, at + 1)
      const value = escaped ? unescapeString(raw) : raw.slice(1, -1)
      return value === undefined ? undefined : { type: 'string', value, raw }
    }
  }
  return undefined
}

/** Undefined where an escape is none. */
function unescapeString(raw: string): string | undefined {
  try {
    return String(JSON.parse(raw))
  } catch {
    return undefined
  }
}

const numberForm = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

function numberAt(walk: ParseState): Json | undefined {
  numberForm.lastIndex = walk.at
  const raw = numberForm.exec(walk.text)?.[0]
  if (raw === undefined) return undefined
  walk.at += raw.length
  return { type: 'number', raw }
}

const words: readonly JsonWord[] = [
  { type: 'word', raw: 'null' },
  { type: 'word', raw: 'true' },
  { type: 'word', raw: 'false' },
]

function wordAt(walk: ParseState): JsonWord | undefined {
  const word = words.find(({ raw }) => walk.text.startsWith(raw, walk.at))
  if (word !== undefined) walk.at += word.raw.length
  return word
}

function listAt(walk: ParseState, depth: number): Json | undefined {
  walk.at += 1
  const items: Json[] = []
  if (signAt(walk) === closeList) return endedText(walk, { type: 'array', items })
  for (;;) {
    const item = valueAt(walk, depth + 1)
    if (item === undefined) return undefined
    items.push(item)
    const sign = signAt(walk)
    if (sign === closeList) return endedText(walk, { type: 'array', items })
    if (sign !== comma) return undefined
    walk.at += 1
  }
}

function objectAt(walk: ParseState, depth: number): Json | undefined {
  walk.at += 1
  const fields: Field[] = []
  if (signAt(walk) === closeObject) return endedText(walk, { type: 'object', fields })
  for (;;) {
    const name = signAt(walk) === quote ? stringAt(walk) : undefined
    if (name === undefined || signAt(walk) !== colon) return undefined
    walk.at += 1
    const value = valueAt(walk, depth + 1)
    if (value === undefined) return undefined
    fields.push({ name: name.value, rawName: name.raw, value })
    const sign = signAt(walk)
    if (sign === closeObject) return endedText(walk, { type: 'object', fields })
    if (sign !== comma) return undefined
    walk.at += 1
  }
}

function endedText(walk: ParseState, value: Json): Json {
  walk.at += 1
  return value
}
