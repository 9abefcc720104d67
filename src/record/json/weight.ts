// Memory weight of a JSON text: an estimate from the size of the engine's objects and strings.
import {
  backslash,
  closeList,
  closeObject,
  colon,
  comma,
  foldedFrom,
  openList,
  openObject,
  quote,
} from './walk.js'

/** Bytes of one value or name with its object, and of each character as text, as token and in print. */
const nodeBytes = 64
const characterBytes = 5

export interface TextWeight {
  /** About how many bytes its tree takes. */
  readonly tree: number
  /** About how many characters it has in print: one that is nested deep may have hundreds of times its own. */
  readonly print: number
}

/** The memory of a JSON text once it is understood. */
export function weightOf(text: string): TextWeight {
  let [nodes, depth, print] = [1, 0, text.length]
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === quote)
      for (at += 1; at < text.length && text.charCodeAt(at) !== quote; at += 1)
        at += text.charCodeAt(at) === backslash ? 1 : 0
    else if (sign === openObject || sign === openList) depth += 1
    else if (sign === closeObject || sign === closeList) depth -= 1
    if (sign === comma || sign === colon || sign === openObject || sign === openList) nodes += 1
    if (sign === comma || sign === openObject || sign === openList) print += 1 + 2 * depth
  }
  return { tree: nodes * nodeBytes + text.length * characterBytes, print }
}

/** About how many bytes a record with this text takes; a long one is held as its text and its print. */
export function recordBytes(text: string): number {
  const { tree, print } = weightOf(text)
  return text.length < foldedFrom ? tree : text.length + print
}
