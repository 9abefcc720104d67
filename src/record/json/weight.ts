// Memory weight of a parsed JSON text: an estimate from the size of the engine's objects and strings.
import { foldedFrom, type JsonText } from './parse.js'

/** Bytes of one value or name with its object, and of each character as text, as token and in print. */
const nodeBytes = 64
const characterBytes = 5

/** A value of a long record in print: its line's end and some of the blanks before it. */
const lineBytes = 4

/** About how many bytes the tree of this JSON text takes; separators within strings count too. */
export const treeBytes = (text: JsonText): number => nodesIn(text) * nodeBytes + text.length * characterBytes

/** About how many bytes a record with this text takes; a long one is held as its print and nothing else. */
export function recordBytes(text: JsonText): number {
  if (text.length < foldedFrom) return treeBytes(text)
  const length = typeof text === 'string' ? Buffer.byteLength(text) : text.length
  return nodesIn(text) * lineBytes + length
}

function nodesIn(text: JsonText): number {
  let nodes = 1
  if (typeof text === 'string') {
    for (let at = 0; at < text.length; at += 1) nodes += begun[text.charCodeAt(at)] ?? 0
  } else {
    for (let at = 0; at < text.length; at += 1) nodes += begun[text[at] ?? 0] ?? 0
  }
  return nodes
}

/** How many values or names begin behind each sign. */
const begun = new Uint8Array(256)
for (const sign of ',:[{') begun[sign.charCodeAt(0)] = 1
