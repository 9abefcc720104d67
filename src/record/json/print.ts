// JSON printer: two blanks a level, one field a line, every token as written; a long record is printed part by part.
import type { Json } from './json.js'
import { foldedFrom, isLong, type LongArray, type LongObject } from './parse.js'

/** The text of a record file: pretty, with a final newline; key order, duplicates and spellings stay. */
export function prettyPrint(json: Json): string {
  return `${pretty(json, '\n')}\n`
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
export function compactPrint(json: Json): string {
  if (isLong(json)) return [...partsOf(json)].join('')
  switch (json.type) {
    case 'object':
      return `{${json.fields.map(field => `${field.rawName}:${compactPrint(field.value)}`).join(',')}}`
    case 'array':
      return `[${json.items.map(compactPrint).join(',')}]`
    default:
      return json.raw
  }
}

function pretty(json: Json, lineStart: string): string {
  if (isLong(json)) return [...partsOf(json, lineStart)].join('')
  const inner = `${lineStart}  `
  switch (json.type) {
    case 'object': {
      if (json.fields.length === 0) return '{}'
      const fields = json.fields.map(field => `${inner}${field.rawName}: ${pretty(field.value, inner)}`)
      return `{${fields.join(',')}${lineStart}}`
    }
    case 'array': {
      if (json.items.length === 0) return '[]'
      return `[${json.items.map(item => `${inner}${pretty(item, inner)}`).join(',')}${lineStart}]`
    }
    default:
      return json.raw
  }
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
    else yield inner === undefined ? compactPrint(value) : pretty(value, inner)
    before = ','
  }
  yield before === ',' ? `${lineStart ?? ''}${close}` : `${open}${close}`
}
