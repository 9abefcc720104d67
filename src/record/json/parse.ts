// JSON parser: one walk over the text. Every token stays as written, numbers of any length, and a long object or list stays text.
import { Failure } from '../../failure.js'
import type { Field, Json, JsonArray, JsonObject, JsonString, JsonWord } from './json.js'
import {
  backslash,
  carriageReturn,
  closeList,
  closeObject,
  colon,
  comma,
  endOfText,
  isSpace,
  lineFeed,
  openList,
  openObject,
  quote,
  slash,
  space,
  star,
} from './signs.js'

/** An object or a list of so many characters stays its text, for its tree would take many times as much memory. */
export const foldedFrom = 1 << 16

/** Deeper texts are refused: a hostile answer must not exhaust the stack. */
const deepest = 200

/**
 * The text, or its bytes in UTF-8, as a tree that prints back to the same tokens. One leading byte order mark is ignored.
 * @throws Failure 'not-json' with line and column of the first mistake, both from 1 (columns in UTF-16 units)
 */
export function parseJson(given: string | Uint8Array): Json {
  const text = textOf(given)
  const ends = text.length >= foldedFrom ? new Map<number, number>() : undefined
  const walk = new Walk(text, ends)
  signAt(walk)
  const start = walk.at
  const value = valueAt(walk, 1)
  if (value === undefined || signAt(walk) !== endOfText) {
    mistake(walk, 'it goes on after its end')
    const what = walk.wrong === tooDeep ? tooDeep : `the text is not JSON: ${walk.wrong}`
    throw failureAt(walk, what)
  }
  return ends === undefined ? value : partAt(text, ends, start).value
}

/**
 * As `parseJson`, for a text that must be an object.
 * @throws Failure 'not-json', also for JSON of another type
 */
export function parseObject(given: string | Uint8Array): JsonObject {
  const json = parseJson(given)
  if (json.type === 'object') return json
  const walk = new Walk(textOf(given))
  signAt(walk)
  throw failureAt(walk, `a JSON object is expected, not ${named[json.type]}`)
}

const named = { array: 'a list', string: 'a string', number: 'a number', word: 'a single word' } as const

function textOf(given: string | Uint8Array): string {
  const text =
    typeof given === 'string'
      ? given
      : Buffer.from(given.buffer, given.byteOffset, given.length).toString('utf8')
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** A long object or list, held as its text; what is in it is made when it is asked for, and kept while it is used. */
abstract class Long<Inner> {
  #all: WeakRef<readonly Inner[]> | undefined

  constructor(
    private readonly part: LongPart,
    private readonly read: (part: LongPart) => Iterable<Inner>,
  ) {}

  get text(): string {
    const { whole, start, end } = this.part
    return whole.slice(start, end)
  }

  /** One after the other, of which none is held. */
  each(): Iterable<Inner> {
    return this.#all?.deref() ?? this.read(this.part)
  }

  protected get all(): readonly Inner[] {
    const known = this.#all?.deref()
    if (known !== undefined) return known
    const all = [...this.read(this.part)]
    this.#all = new WeakRef(all)
    return all
  }
}

export class LongObject extends Long<Field> implements JsonObject {
  readonly type = 'object'

  constructor(part: LongPart) {
    super(part, fieldsIn)
  }

  get fields(): readonly Field[] {
    return this.all
  }
}

export class LongArray extends Long<Json> implements JsonArray {
  readonly type = 'array'

  constructor(part: LongPart) {
    super(part, itemsIn)
  }

  get items(): readonly Json[] {
    return this.all
  }
}

export const isLong = (json: Json): json is LongObject | LongArray => json instanceof Long

/** A long object or list in a text that is JSON, and where each such one in it ends, by where it begins. */
interface LongPart {
  readonly whole: string
  readonly ends: ReadonlyMap<number, number>
  readonly start: number
  readonly end: number
}

function* fieldsIn({ whole, ends, start }: LongPart): Generator<Field> {
  const walk = new Walk(whole)
  for (walk.at = start + 1; signAt(walk) !== closeObject; ) {
    const name = stringAt(walk)
    if (name === undefined || signAt(walk) !== colon) throw new Error('a field was not read as one')
    const { value, end } = partAt(whole, ends, walk.at + 1)
    yield { name: name.value, rawName: name.raw, value }
    walk.at = end
    if (signAt(walk) === comma) walk.at += 1
  }
}

function* itemsIn({ whole, ends, start }: LongPart): Generator<Json> {
  const walk = new Walk(whole)
  for (walk.at = start + 1; signAt(walk) !== closeList; ) {
    const { value, end } = partAt(whole, ends, walk.at)
    yield value
    walk.at = end
    if (signAt(walk) === comma) walk.at += 1
  }
}

/** The value that begins there, of a text that is JSON, and its end; a long one stays text, and is not walked again. */
function partAt(whole: string, ends: LongPart['ends'], from: number): { value: Json; end: number } {
  const walk = new Walk(whole)
  walk.at = from
  const first = signAt(walk)
  const start = walk.at
  const end = ends.get(start)
  if (end !== undefined) {
    const part = { whole, ends, start, end }
    return { value: first === openObject ? new LongObject(part) : new LongArray(part), end }
  }
  const value = valueAt(walk, 1)
  if (value === undefined) throw new Error('a part of a JSON text was not read as JSON')
  return { value, end: walk.at }
}

/** Where the walk stands: `at` is behind everything that is right, and `wrong` says what is not. */
class Walk {
  at = 0
  wrong: string | undefined

  /** @param ends no tree is made where they are given: what counts is whether the text is JSON, and where its long parts end */
  constructor(
    readonly text: string,
    readonly ends?: Map<number, number>,
  ) {}

  get passes(): boolean {
    return this.ends !== undefined
  }
}

/** The next sign that is no white space, which stays unread. */
function signAt(walk: Walk): number {
  for (; walk.at < walk.text.length; walk.at += 1) {
    const sign = walk.text.charCodeAt(walk.at)
    if (!isSpace(sign)) return sign
  }
  return endOfText
}

/** What stands at `at` cannot be right: always undefined, for the caller to give back. The first mistake counts. */
function mistake(walk: Walk, otherwise: string): undefined {
  const { text, at } = walk
  walk.wrong ??= wrongAt(text, at) ?? otherwise
}

function wrongAt(text: string, at: number): string | undefined {
  if (at >= text.length) return /[^ \n\t\r]/.test(text) ? 'it ends too early' : 'it is empty'
  const second = text.charCodeAt(at + 1)
  const isComment = text.charCodeAt(at) === slash && (second === slash || second === star)
  return isComment ? 'a comment cannot stand in JSON' : undefined
}

const tooDeep = `the text is nested deeper than ${deepest} levels`

/** Whether a text was refused for this alone. */
export const isTooDeep = (thrown: unknown): boolean =>
  thrown instanceof Failure && (thrown.message.startsWith(tooDeep) || isTooDeep(thrown.cause))

function failureAt({ text, at }: Walk, what: string): Failure {
  const before = text.slice(0, at)
  const place = { line: before.split('\n').length, column: at - before.lastIndexOf('\n') }
  return new Failure('not-json', `${what} (line ${place.line}, column ${place.column})`, { place })
}

/** Undefined for what is no JSON, or too deep. */
function valueAt(walk: Walk, depth: number): Json | undefined {
  const sign = signAt(walk)
  if (sign === quote) return stringAt(walk)
  if (sign !== openObject && sign !== openList) return wordAt(walk, sign) ?? numberAt(walk, sign)
  if (depth > deepest) return mistake(walk, tooDeep)
  const start = walk.at
  walk.at += 1
  const value = sign === openObject ? objectAt(walk, depth) : listAt(walk, depth)
  if (walk.at - start >= foldedFrom) walk.ends?.set(start, walk.at)
  return value
}

function listAt(walk: Walk, depth: number): Json | undefined {
  const items: Json[] = []
  for (let sign = signAt(walk); sign !== closeList; ) {
    const item = valueAt(walk, depth + 1)
    if (item === undefined) return undefined
    if (!walk.passes) items.push(item)
    sign = signAt(walk)
    if (sign !== comma && sign !== closeList) return mistake(walk, 'a comma or ] is expected')
    if (sign === comma) walk.at += 1
  }
  walk.at += 1
  return { type: 'array', items }
}

function objectAt(walk: Walk, depth: number): Json | undefined {
  const fields: Field[] = []
  for (let sign = signAt(walk); sign !== closeObject; ) {
    if (sign !== quote) return mistake(walk, 'a name in double quotes is expected')
    const name = stringAt(walk)
    if (name === undefined) return undefined
    if (signAt(walk) !== colon) return mistake(walk, 'a colon is expected')
    walk.at += 1
    const value = valueAt(walk, depth + 1)
    if (value === undefined) return undefined
    if (!walk.passes) fields.push({ name: name.value, rawName: name.raw, value })
    sign = signAt(walk)
    if (sign === closeObject) break
    if (sign !== comma) return mistake(walk, 'a comma or } is expected')
    walk.at += 1
    sign = signAt(walk)
    if (sign === closeObject) return mistake(walk, 'no comma stands before a }')
  }
  walk.at += 1
  return { type: 'object', fields }
}

const passedString: JsonString = { type: 'string', value: '', raw: '""' }

function stringAt(walk: Walk): JsonString | undefined {
  const { text, at: start } = walk
  let hasEscapes = false
  for (let at = start + 1; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === quote) {
      walk.at = at + 1
      if (walk.passes) return passedString
      const raw = text.slice(start, at + 1)
      return { type: 'string', value: hasEscapes ? String(JSON.parse(raw)) : raw.slice(1, -1), raw }
    }
    if (sign >= space && sign !== backslash) continue
    walk.at = at
    if (sign !== backslash) return mistake(walk, unescaped(sign))
    if (!passEscape(walk)) return undefined
    hasEscapes = true
    at = walk.at
  }
  walk.at = text.length
  return mistake(walk, 'a double quote is expected')
}

const unescaped = (sign: number): string =>
  sign === lineFeed || sign === carriageReturn
    ? 'a string ends on its line; a line break in it is written \\n'
    : 'a control character in a string is written as an escape, a tab as \\t'

/** To the last sign of the escape that begins here. */
function passEscape(walk: Walk): boolean {
  const { text } = walk
  walk.at += 1
  const sign = text[walk.at] ?? ''
  if (sign !== '' && '"\\/bfnrt'.includes(sign)) return true
  if (sign !== 'u') mistake(walk, 'this is no escape; a backslash itself is written \\\\')
  for (let digits = 0; digits < 4 && walk.wrong === undefined; digits += 1) {
    walk.at += 1
    if (!/^[\da-fA-F]$/.test(text[walk.at] ?? ''))
      mistake(walk, 'four hexadecimal digits are expected after \\u')
  }
  return walk.wrong === undefined
}

const words: readonly JsonWord[] = [
  { type: 'word', raw: 'null' },
  { type: 'word', raw: 'true' },
  { type: 'word', raw: 'false' },
]

function wordAt(walk: Walk, sign: number): JsonWord | undefined {
  const word = words.find(({ raw }) => raw.charCodeAt(0) === sign)
  for (const letter of word?.raw ?? '') {
    if (walk.text[walk.at] !== letter) return mistake(walk, `${word?.raw} is expected`)
    walk.at += 1
  }
  return word
}

const numberForm = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
/** What goes on like a number behind one, up to where a digit is missing. */
const cutNumber = /\.|[eE][+-]?/y

function numberAt(walk: Walk, sign: number): Json | undefined {
  if (walk.wrong !== undefined) return undefined
  numberForm.lastIndex = walk.at
  const raw = numberForm.exec(walk.text)?.[0]
  if (raw === undefined) return noValue(walk, sign)
  walk.at += raw.length
  const next = walk.text[walk.at] ?? ''
  if (next >= '0' && next <= '9') return mistake(walk, 'no other digit follows a 0 at the start of a number')
  cutNumber.lastIndex = walk.at
  const cut = next === '.' && /[.eE]/.test(raw) ? undefined : cutNumber.exec(walk.text)?.[0]
  if (cut === undefined || /[eE]/.test(raw)) return { type: 'number', raw }
  walk.at += cut.length
  return mistake(walk, 'a digit is expected')
}

function noValue(walk: Walk, sign: number): undefined {
  if (sign === minus) {
    walk.at += 1
    return mistake(walk, 'a digit is expected')
  }
  const isClosed = sign === closeList || sign === closeObject
  if (isClosed) return mistake(walk, `a value is expected before the ${String.fromCharCode(sign)}`)
  return mistake(walk, 'a value is expected (strings stand in double quotes)')
}

const minus = 0x2d
