// JSON printer: two blanks a level, one field a line, every token as written; a long record is printed part by part.
import type { Json } from './json.js'
import { isLong, keepParsed, LongArray, LongObject } from './parse.js'
import { foldedFrom } from './walk.js'

/** The prints of short values: a save prints the same record several times. */
const prints = new WeakMap<Json, string>()

/** The text of a record file: pretty, with a final newline; key order, duplicates and spellings stay. */
export function prettyPrint(json: Json): string {
  const known = prints.get(json)
  if (known !== undefined) return known
  const text = `${printed(json, '\n')}\n`
  if (json.type !== 'object' || text.length >= foldedFrom) return text
  prints.set(json, text)
  keepParsed(text, json)
  return text
}

/** The same in UTF-8; a long record is never there as a tree. */
export function prettyBytes(json: Json): Buffer {
  return isLong(json) ? bytesOfParts(partsOf(json, '\n'), '\n') : Buffer.from(prettyPrint(json))
}

/** A text of many parts in UTF-8, which is never there as a whole string; `end` comes behind them. */
export function bytesOfParts(parts: Iterable<string>, end = ''): Buffer {
  const pieces: Buffer[] = []
  let open = ''
  for (const part of parts) {
    open += part
    if (open.length < foldedFrom) continue
    pieces.push(Buffer.from(open))
    open = ''
  }
  return Buffer.concat([...pieces, Buffer.from(open + end)])
}

/** The same tokens without any white space, for a request's body. */
export const compactPrint = (json: Json): string => printed(json)

/** Without a start of lines there is no white space in it. No call for each token. */
function printed(json: Json, lineStart?: string): string {
  if ('raw' in json) return json.raw
  if (json instanceof LongObject || json instanceof LongArray) return [...partsOf(json, lineStart)].join('')
  const inner = lineStart === undefined ? '' : `${lineStart}  `
  const colon = lineStart === undefined ? ':' : ': '
  const deeper = lineStart === undefined ? undefined : inner
  let text = ''
  if (json.type === 'object') {
    for (const { rawName, value } of json.fields)
      text += `${text === '' ? '' : ','}${inner}${rawName}${colon}${'raw' in value ? value.raw : printed(value, deeper)}`
    return text === '' ? '{}' : `{${text}${lineStart ?? ''}}`
  }
  for (const item of json.items)
    text += `${text === '' ? '' : ','}${inner}${'raw' in item ? item.raw : printed(item, deeper)}`
  return text === '' ? '[]' : `[${text}${lineStart ?? ''}]`
}

/** The print of a long value in parts; without a start of lines there is no white space in it. */
function* partsOf(long: LongObject | LongArray, lineStart?: string): Generator<string> {
  const inner = lineStart === undefined ? undefined : `${lineStart}  `
  const [open, close] = long.type === 'object' ? '{}' : '[]'
  let before = open
  for (const one of long.each()) {
    const isField = 'rawName' in one
    const name = isField ? `${one.rawName}:${inner === undefined ? '' : ' '}` : ''
    yield `${before}${inner ?? ''}${name}`
    const value = isField ? one.value : one
    if (isLong(value)) yield* partsOf(value, inner)
    else yield printed(value, inner)
    before = ','
  }
  yield before === ',' ? `${lineStart ?? ''}${close}` : `${open}${close}`
}
