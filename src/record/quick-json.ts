// How a long answer is read fast: one walk over the text, every token as it was written, whatever digits a number has.
import { FoldedArray, FoldedObject } from './folded.js'
import type { Field, Json, JsonObject, JsonString, JsonWord } from './json.js'
import { deepest, parseJson, parseObject } from './parse.js'
import { endOf, isJson, signAt, type Walk } from './skim.js'

/** An object or a list of so many characters stays its text, for its tree would take many times as much memory. */
export const foldedFrom = 1 << 16

/**
 * The same tree as `parseJson` makes, many times faster.
 * @throws Failure 'not-json', with the place of the mistake
 */
export function quickJson(text: string): Json {
  if (text.length >= foldedFrom) return isJson(text, deepest) ? longAt({ text, at: 0 }) : parseJson(text)
  const walk: Walk = { text, at: 0 }
  const value = valueAt(walk, 1)
  // Whatever this walk does not understand, the parser with the good manners judges and explains.
  return value !== undefined && signAt(walk) === endOfText ? value : parseJson(text)
}

const endOfText = -1
const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]
const space = 0x20

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

/** A value of a long text that is JSON. @throws Failure 'not-json', which it then is not */
function longAt(walk: Walk): Json {
  const sign = signAt(walk)
  const isObject = sign === openObject
  if (isObject || sign === openList) {
    const end = endOf(walk.text, walk.at)
    if (end - walk.at >= foldedFrom) {
      const source = walk.text.slice(walk.at, end)
      walk.at = end
      return isObject ? new FoldedObject(source, fieldsIn) : new FoldedArray(source, itemsIn)
    }
  }
  return valueAt(walk, 1) ?? parseJson(walk.text)
}

/** The fields of an object that is the whole of this text. */
function fieldsIn(source: string): readonly Field[] {
  const fields: Field[] = []
  for (const walk: Walk = { text: source, at: 1 }; signAt(walk) !== closeObject; ) {
    const name = stringAt(walk)
    if (name === undefined || signAt(walk) !== colon) break
    walk.at += 1
    fields.push({ name: name.value, rawName: name.raw, value: longAt(walk) })
    if (signAt(walk) === comma) walk.at += 1
  }
  return fields
}

/** The items of a list that is the whole of this text. */
function itemsIn(source: string): readonly Json[] {
  const items: Json[] = []
  for (const walk: Walk = { text: source, at: 1 }; signAt(walk) !== closeList; ) {
    items.push(longAt(walk))
    if (signAt(walk) === comma) walk.at += 1
  }
  return items
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
