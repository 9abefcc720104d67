// JSON parser: every token stays as written, numbers of any length; a long object or list stays text, and a short text is parsed once.
import { LRUCache } from 'lru-cache'
import type { Field, Json, JsonArray, JsonObject, JsonString, JsonWord } from './json.js'
import {
  backslash,
  closeList,
  closeObject,
  colon,
  comma,
  deepest,
  endOfText,
  foldedFrom,
  openList,
  openObject,
  quote,
  space,
  tooDeep,
  Walk,
} from './walk.js'

/** The trees of short texts that were parsed or printed last: a save meets each of its texts several times. */
const known = new LRUCache<string, JsonObject>({
  maxSize: 1 << 18,
  sizeCalculation: (_, text) => text.length + 1,
})

/** From now on this text of the object needs no parsing. */
export function keepParsed(text: string, object: JsonObject): void {
  if (text.length < foldedFrom) known.set(text, object)
}

/**
 * The text, or its bytes in UTF-8, as a tree that prints back to the same tokens. One leading byte order mark is ignored.
 * @throws Failure 'not-json' with line and column of the first mistake, both from 1 (columns in UTF-16 units)
 */
export function parseJson(given: string | Uint8Array): Json {
  const text = textOf(given)
  const tree = text.length < foldedFrom && isJson(text) ? treeAt(text, 0) : undefined
  if (tree !== undefined) return tree.value
  const ends = new Map<number, number>()
  const walk = new Walk(text, ends)
  walk.sign()
  const start = walk.at
  if (walk.value(1) && walk.sign() === endOfText) return partAt(text, ends, start).value
  walk.mistake('it goes on after its end')
  throw walk.failure(walk.wrong === tooDeep ? tooDeep : `the text is not JSON: ${walk.wrong}`)
}

/** As `parseJson`, for the text of a record, which may come again. */
export function parseKept(text: string): Json {
  const kept = known.get(text)
  if (kept !== undefined) return kept
  const json = parseJson(text)
  if (json.type === 'object') keepParsed(text, json)
  return json
}

/** As `parseKept`, for a text that must be an object. @throws Failure 'not-json', also for JSON of another type */
export function parseObject(given: string | Uint8Array): JsonObject {
  const text = textOf(given)
  const json = parseKept(text)
  if (json.type === 'object') return json
  const walk = new Walk(text)
  walk.sign()
  throw walk.failure(`a JSON object is expected, not ${named[json.type]}`)
}

const named = { array: 'a list', string: 'a string', number: 'a number', word: 'a single word' } as const

function textOf(given: string | Uint8Array): string {
  const text =
    typeof given === 'string'
      ? given
      : Buffer.from(given.buffer, given.byteOffset, given.length).toString('utf8')
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const words: Readonly<Record<string, JsonWord>> = {
  null: { type: 'word', raw: 'null' },
  true: { type: 'word', raw: 'true' },
  false: { type: 'word', raw: 'false' },
}

type OpenContainer = { type: 'object'; fields: Field[] } | { type: 'array'; items: Json[] }

/** A value of a text that is JSON, and where it ends. */
interface Part {
  readonly value: Json
  readonly end: number
}

/** The value that begins behind these signs of a text that is JSON; undefined where it is nested too deep. One loop: no call for each token. */
function treeAt(text: string, from: number): Part | undefined {
  const open: OpenContainer[] = []
  let name: JsonString | undefined
  let root: Json | undefined
  for (let at = from; at < text.length; ) {
    const sign = text.charCodeAt(at)
    const start = at
    at += 1
    if (sign <= space || sign === comma || sign === colon) continue
    let value: Exclude<Json, JsonObject | JsonArray> | OpenContainer | undefined
    if (sign === closeObject || sign === closeList) open.pop()
    else if (sign === openObject) value = { type: 'object', fields: [] }
    else if (sign === openList) value = { type: 'array', items: [] }
    else if (sign === quote) {
      let hasEscapes = false
      for (let next = text.charCodeAt(at); next !== quote; next = text.charCodeAt(at)) {
        if (next === backslash) hasEscapes = true
        at += next === backslash ? 2 : 1
      }
      at += 1
      const raw = text.slice(start, at)
      value = { type: 'string', value: hasEscapes ? String(JSON.parse(raw)) : raw.slice(1, -1), raw }
    } else {
      for (let next = text.charCodeAt(at); at < text.length; next = text.charCodeAt(at)) {
        if (next <= space || next === comma || next === closeObject || next === closeList) break
        at += 1
      }
      const raw = text.slice(start, at)
      value = words[raw] ?? { type: 'number', raw }
    }
    const inner = open.at(-1)
    if (value !== undefined) {
      if (inner === undefined) root = value
      else if (inner.type === 'array') inner.items.push(value)
      else if (name !== undefined) {
        inner.fields.push({ name: name.value, rawName: name.raw, value })
        name = undefined
      } else if (value.type === 'string') {
        name = value
        continue
      }
      if (value.type === 'object' || value.type === 'array') {
        if (open.length === deepest) return undefined
        open.push(value)
      }
    }
    if (open.length === 0 && root !== undefined) return { value: root, end: at }
  }
  return undefined
}

/** The text of a string. */
const spoken = (raw: string): string => (raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1))

/** A long object or list, held as its text; what is in it is made when it is asked for, and kept while it is used. */
export abstract class Long<Inner> {
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

/** A long object or list in a text that is JSON, and where each long value in it ends, by where it begins. */
interface LongPart {
  readonly whole: string
  readonly ends: ReadonlyMap<number, number>
  readonly start: number
  readonly end: number
}

function* fieldsIn(part: LongPart): Generator<Field> {
  const { whole, ends, start } = part
  const walk = new Walk(whole)
  for (walk.at = start + 1; walk.sign() !== closeObject; ) {
    const from = walk.at
    walk.string()
    const rawName = whole.slice(from, walk.at)
    walk.sign()
    walk.at += 1
    walk.sign()
    yield new LongField(part, rawName, walk.at)
    const end = ends.get(walk.at)
    if (end === undefined) walk.value(1)
    else walk.at = end
    if (walk.sign() === comma) walk.at += 1
  }
}

/** A field of a long object, of which few are looked at. */
class LongField implements Field {
  readonly name: string
  readonly #part: LongPart
  readonly #start: number
  #value: Json | undefined

  constructor(
    part: LongPart,
    readonly rawName: string,
    start: number,
  ) {
    this.#part = part
    this.#start = start
    this.name = spoken(rawName)
  }

  get value(): Json {
    this.#value ??= partAt(this.#part.whole, this.#part.ends, this.#start).value
    return this.#value
  }
}

function* itemsIn({ whole, ends, start }: LongPart): Generator<Json> {
  const walk = new Walk(whole)
  for (walk.at = start + 1; walk.sign() !== closeList; ) {
    const { value, end } = partAt(whole, ends, walk.at)
    yield value
    walk.at = end
    if (walk.sign() === comma) walk.at += 1
  }
}

/** The value that begins there; a long one stays text. */
function partAt(whole: string, ends: LongPart['ends'], from: number): Part {
  const walk = new Walk(whole)
  walk.at = from
  if (walk.sign() === colon) walk.at += 1
  const first = walk.sign()
  const start = walk.at
  const end = ends.get(start)
  if (end !== undefined && first === quote) {
    const raw = whole.slice(start, end)
    return { value: { type: 'string', value: spoken(raw), raw }, end }
  }
  if (end !== undefined) {
    const part = { whole, ends, start, end }
    return { value: first === openObject ? new LongObject(part) : new LongArray(part), end }
  }
  const tree = treeAt(whole, start)
  if (tree === undefined) throw new Error('a part of a JSON text was not read as JSON')
  return tree
}
