// JSON printer: two blanks a level, one field a line, every token as written; a long text is laid out without a tree.
import type { Json } from './json.js'
import { isLong, keepParsed, Long } from './parse.js'
import {
  backslash,
  closeList,
  closeObject,
  colon,
  comma,
  foldedFrom,
  lineFeed,
  openList,
  openObject,
  quote,
  space,
} from './walk.js'

/** The prints of short values: a save prints the same record several times. */
const prints = new WeakMap<Json, string>()

/** The text of a record file: pretty, with a final newline; key order, duplicates and spellings stay. */
export function prettyPrint(json: Json): string {
  const known = prints.get(json)
  if (known !== undefined) return known
  const text = `${printed(json, 0)}\n`
  if (json.type !== 'object' || text.length >= foldedFrom) return text
  prints.set(json, text)
  keepParsed(text, json)
  return text
}

/** The same in UTF-8, outside of Node's pool, 8 kB of which a kept text would hold; a long record is never there as a tree. */
export const prettyBytes = (json: Json): Buffer =>
  isLong(json) ? laidOut(json.text, 0, '\n') : Buffer.from(encoder.encode(prettyPrint(json)).buffer)

/** A text of many parts in UTF-8, which is never there as a whole string. */
export function bytesOfParts(parts: Iterable<string>): Buffer {
  const pieces: Buffer[] = []
  let open = ''
  for (const part of parts) {
    open += part
    if (open.length < foldedFrom) continue
    pieces.push(Buffer.from(open))
    open = ''
  }
  return Buffer.concat([...pieces, Buffer.from(open)])
}

/** The same tokens without any white space, for a request's body. */
export const compactPrint = (json: Json): string => printed(json)

/** At this depth of lines; without one there is no white space in it. No call for each token. */
function printed(json: Json, depth?: number): string {
  if ('raw' in json) return json.raw
  if (json instanceof Long) {
    if (depth !== undefined) return laidOut(json.text, depth).toString()
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(json.text))
    const length = layOut(json.text, depth, bytes)
    // An answer has no white space: it is held once.
    return length === bytes.length ? json.text : bytes.toString('utf8', 0, length)
  }
  const end = depth === undefined ? '' : `\n${'  '.repeat(depth)}`
  const inner = depth === undefined ? '' : `${end}  `
  const between = depth === undefined ? ':' : ': '
  const deeper = depth === undefined ? undefined : depth + 1
  let text = ''
  if (json.type === 'object') {
    for (const { rawName, value } of json.fields)
      text += `${text === '' ? '' : ','}${inner}${rawName}${between}${'raw' in value ? value.raw : printed(value, deeper)}`
    return text === '' ? '{}' : `{${text}${end}}`
  }
  for (const item of json.items)
    text += `${text === '' ? '' : ','}${inner}${'raw' in item ? item.raw : printed(item, deeper)}`
  return text === '' ? '[]' : `[${text}${end}]`
}

/** The same of a text that is JSON, in UTF-8. */
function laidOut(text: string, depth: number, end = ''): Buffer {
  const length = layOut(text, depth)
  const bytes = Buffer.allocUnsafeSlow(length + end.length)
  layOut(text, depth, bytes)
  bytes.write(end, length)
  return bytes
}

const encoder = new TextEncoder()
/** A piece of a text in UTF-8: nothing is made for a token, and no second text. */
const piece = Buffer.allocUnsafeSlow(3 * foldedFrom)

/** Answers how many bytes it takes, which are written where there is a place for them. */
function layOut(text: string, start: number | undefined, into?: Uint8Array): number {
  let to = 0
  let depth = start ?? 0
  let before = 0
  let isInString = false
  let isEscaped = false
  for (let read = 0; read < text.length; ) {
    // Never between the two halves of a character.
    const isCut = text.charCodeAt(read + foldedFrom - 1) >> 10 === 0x36
    const part = encoder.encodeInto(text.slice(read, read + foldedFrom - Number(isCut)), piece)
    read += part.read
    const bytes = piece.subarray(0, part.written)
    if (isInString && !isEscaped && !bytes.includes(quote) && !bytes.includes(backslash)) {
      into?.set(bytes, to)
      to += bytes.length
      continue
    }
    for (let at = 0; at < part.written; at += 1) {
      const sign = piece[at] ?? space
      if (isInString) {
        if (isEscaped) isEscaped = false
        else if (sign === backslash) isEscaped = true
        else if (sign === quote) isInString = false
      } else {
        if (sign <= space) continue
        const isFirst = before === openObject || before === openList
        const isEnd = sign === closeObject || sign === closeList
        if (isEnd) depth -= 1
        if (start !== undefined && before === colon) {
          if (into !== undefined) into[to] = space
          to += 1
        } else if (start !== undefined && (isEnd ? !isFirst : isFirst || before === comma)) {
          if (into !== undefined) into[to] = lineFeed
          into?.fill(space, to + 1, to + 1 + 2 * depth)
          to += 1 + 2 * depth
        }
        if (sign === openObject || sign === openList) depth += 1
        isInString = sign === quote
        before = sign
      }
      if (into !== undefined) into[to] = sign
      to += 1
    }
  }
  return to
}
