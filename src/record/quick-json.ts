// How a long answer is read fast: one walk over the text, every token as it was written, whatever digits a number has.
import type { Field, Json, JsonObject, JsonString, JsonWord } from './json.js'
import { deepest, parseJson, parseObject } from './parse.js'

/** Where the walk stands; `at` is behind everything that was read. */
interface Walk {
  readonly text: string
  at: number
}

/**
 * The same tree as `parseJson` makes, many times faster.
 * @throws Failure 'not-json', with the place of the mistake
 */
export function quickJson(text: string): Json {
  const walk: Walk = { text, at: 0 }
  const value = valueAt(walk, 1)
  // Whatever this walk does not understand, the parser with the good manners judges and explains.
  return value !== undefined && signAt(walk) === endOfText ? value : parseJson(text)
}

const endOfText = -1
const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]
const [space, tab, lineFeed, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d]

/** The next sign that is no white space, which stays unread. */
function signAt(walk: Walk): number {
  for (; walk.at < walk.text.length; walk.at += 1) {
    const sign = walk.text.charCodeAt(walk.at)
    if (sign !== space && sign !== tab && sign !== lineFeed && sign !== carriageReturn) return sign
  }
  return endOfText
}

/** Undefined for what is no JSON, or too deep. */
function valueAt(walk: Walk, depth: number): Json | undefined {
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

function stringAt(walk: Walk): JsonString | undefined {
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
      const value = escaped ? unescaped(raw) : raw.slice(1, -1)
      return value === undefined ? undefined : { type: 'string', value, raw }
    }
  }
  return undefined
}

/** Undefined where an escape is none. */
function unescaped(raw: string): string | undefined {
  try {
    return String(JSON.parse(raw))
  } catch {
    return undefined
  }
}

const numberForm = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

function numberAt(walk: Walk): Json | undefined {
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

function wordAt(walk: Walk): JsonWord | undefined {
  const word = words.find(({ raw }) => walk.text.startsWith(raw, walk.at))
  if (word !== undefined) walk.at += word.raw.length
  return word
}

function listAt(walk: Walk, depth: number): Json | undefined {
  walk.at += 1
  const items: Json[] = []
  if (signAt(walk) === closeList) return ended(walk, { type: 'array', items })
  for (;;) {
    const item = valueAt(walk, depth + 1)
    if (item === undefined) return undefined
    items.push(item)
    const sign = signAt(walk)
    if (sign === closeList) return ended(walk, { type: 'array', items })
    if (sign !== comma) return undefined
    walk.at += 1
  }
}

function objectAt(walk: Walk, depth: number): Json | undefined {
  walk.at += 1
  const fields: Field[] = []
  if (signAt(walk) === closeObject) return ended(walk, { type: 'object', fields })
  for (;;) {
    const name = signAt(walk) === quote ? stringAt(walk) : undefined
    if (name === undefined || signAt(walk) !== colon) return undefined
    walk.at += 1
    const value = valueAt(walk, depth + 1)
    if (value === undefined) return undefined
    fields.push({ name: name.value, rawName: name.raw, value })
    const sign = signAt(walk)
    if (sign === closeObject) return ended(walk, { type: 'object', fields })
    if (sign !== comma) return undefined
    walk.at += 1
  }
}

function ended(walk: Walk, value: Json): Json {
  walk.at += 1
  return value
}

/** As `parseObject`, fast. @throws Failure 'not-json' */
export function quickObject(text: string): JsonObject {
  const json = quickJson(text)
  return json.type === 'object' ? json : parseObject(text)
}
