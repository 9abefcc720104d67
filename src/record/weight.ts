// How much memory a JSON text takes once it is understood: an estimate, by what the engine's objects and strings take.
import { foldedFrom } from './quick-json.js'

/** Bytes of one value or name with its object, and of each character as text, as token and in print. */
const nodeBytes = 64
const characterBytes = 5

/** A value of a long record in print: its line's end and some of the blanks before it. */
const lineBytes = 4
/** A character of a long record, as text and in print: where the text is Latin, and where it is not. */
const [latinBytes, otherBytes] = [2, 5]

/** About how many bytes the tree of this JSON text takes; separators within strings count too. */
export const treeBytes = (text: string): number => nodesIn(text) * nodeBytes + text.length * characterBytes

/** About how many bytes a record with this text takes with its print; the tree of a long one is never held. */
export const recordBytes = (text: string): number =>
  text.length < foldedFrom
    ? treeBytes(text)
    : nodesIn(text) * lineBytes + text.length * (isLatin(text) ? latinBytes : otherBytes)

function nodesIn(text: string): number {
  let nodes = 1
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === comma || sign === colon || sign === list || sign === object) nodes += 1
  }
  return nodes
}

/** The engine holds such a text in one byte a character. */
const isLatin = (text: string): boolean => !/[\u0100-\uffff]/.test(text)

const [comma, colon, list, object] = [0x2c, 0x3a, 0x5b, 0x7b]
