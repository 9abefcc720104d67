// How much memory a JSON text takes once it is a tree: measured, many times its length where it is made of short values.

/** Bytes of one value or name with its object, and of each character as text, as token and in print. */
const nodeBytes = 64
const characterBytes = 5

/** About how many bytes the tree of this JSON text takes. Separators within strings count too: it is an upper bound. */
export function treeBytes(text: string): number {
  let nodes = 1
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === comma || sign === colon || sign === list || sign === object) nodes += 1
  }
  return nodes * nodeBytes + text.length * characterBytes
}

const [comma, colon, list, object] = [0x2c, 0x3a, 0x5b, 0x7b]
