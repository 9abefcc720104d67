// Skimming of JSON bytes without a tree: where a value ends, and how it is printed.
import { longBytes } from '../compact/long-bytes.js'
import {
  backslash,
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
  space,
} from './signs.js'

/** Where the walk stands in UTF-8 bytes; `at` is behind everything that was read. */
export interface ScanState {
  readonly bytes: Uint8Array
  at: number
}

/** The next byte that is no white space, which stays unread. */
export function signAt(walk: ScanState): number {
  const { bytes } = walk
  for (; walk.at < bytes.length; walk.at += 1) {
    const sign = bytes[walk.at] ?? endOfText
    if (!isSpace(sign)) return sign
  }
  return endOfText
}

/** Behind the value that begins here, of a text that is JSON. */
export function valueEnd(bytes: Uint8Array, start: number): number {
  const first = bytes[start]
  if (first === quote) return closingQuote(bytes, start) + 1
  if (first !== openObject && first !== openList) return endOfWord(bytes, start)
  let depth = 0
  for (let at = start; at < bytes.length; at += 1) {
    const sign = bytes[at]
    if (sign === quote) at = closingQuote(bytes, at)
    else if (sign === openObject || sign === openList) depth += 1
    else if (sign === closeObject || sign === closeList) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return bytes.length
}

function endOfWord(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    const sign = bytes[at] ?? space
    if (sign === comma || sign === closeObject || sign === closeList || isSpace(sign)) return at
  }
  return bytes.length
}

function closingQuote(bytes: Uint8Array, start: number): number {
  let at = start + 1
  for (; at < bytes.length; at += 1) {
    const sign = bytes[at]
    if (sign === quote) break
    if (sign === backslash) at += 1
  }
  return at
}

/** The same tokens without any white space, of a text that is JSON; itself where there is none. */
export function withoutSpace(bytes: Buffer): Buffer {
  const length = squeeze(bytes)
  if (length === bytes.length) return bytes
  const out = longBytes(length)
  squeeze(bytes, out)
  return out
}

/** The length of the tokens alone, which are put into `out`. */
function squeeze(bytes: Uint8Array, out?: Uint8Array): number {
  let length = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const sign = bytes[at] ?? 0
    if (isSpace(sign)) continue
    const end = sign === quote ? closingQuote(bytes, at) + 1 : at + 1
    if (out !== undefined) copyLayout(bytes, at, end, out, length)
    length += end - at
    at = end - 1
  }
  return length
}

/** The same tokens two blanks a level and one item a line, of a text that is JSON; `ending` is put behind them. */
export function spacedOut(bytes: Buffer, { level, ending }: { level: number; ending: string }): Buffer {
  const length = layOut(bytes, level)
  const out = longBytes(length + ending.length)
  layOut(bytes, level, out)
  out.write(ending, length, 'latin1')
  return out
}

/** How long that is, of any text: one that is nested deep may be hundreds of times as long in print. */
export const printedLength = (bytes: Uint8Array): number => layOut(bytes, 0)

/** The length of the text in print, which is put into `out`: measured first, so that nothing is ever there twice. */
function layOut(bytes: Uint8Array, level: number, out?: Uint8Array): number {
  let length = 0
  let depth = level
  const newLine = (): void => {
    if (out !== undefined) {
      out[length] = lineFeed
      for (let at = length + 1; at <= length + 2 * depth; at += 1) out[at] = space
    }
    length += 1 + 2 * depth
  }
  for (let at = 0; at < bytes.length; at += 1) {
    const sign = bytes[at] ?? 0
    if (isSpace(sign)) continue
    if (sign === quote) {
      const end = closingQuote(bytes, at) + 1
      if (out !== undefined) copyLayout(bytes, at, end, out, length)
      length += end - at
      at = end - 1
      continue
    }
    if (sign === closeObject || sign === closeList) {
      depth -= 1
      newLine()
    }
    if (out !== undefined) out[length] = sign
    length += 1
    if (sign === comma) newLine()
    else if (sign === colon) {
      if (out !== undefined) out[length] = space
      length += 1
    } else if (sign === openObject || sign === openList) {
      const close = closeOfEmpty(bytes, at)
      if (close < 0) {
        depth += 1
        newLine()
      } else {
        if (out !== undefined) out[length] = bytes[close] ?? 0
        length += 1
        at = close
      }
    }
  }
  return length
}

/** Where an object or a list ends in which nothing is; -1 where something is. */
function closeOfEmpty(bytes: Uint8Array, open: number): number {
  const inside: ScanState = { bytes, at: open + 1 }
  const sign = signAt(inside)
  return sign === closeObject || sign === closeList ? inside.at : -1
}

/** A call of the engine's own copying costs as much as so many bytes one by one. */
const worthCalling = 64

function copyLayout(bytes: Uint8Array, start: number, end: number, out: Uint8Array, to: number): void {
  if (end - start > worthCalling) out.set(bytes.subarray(start, end), to)
  else for (let at = start; at < end; at += 1) out[to + at - start] = bytes[at] ?? 0
}
