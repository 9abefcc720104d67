// JSON printer: two blanks a level, one field a line, every token as written.
import { FoldedArray, FoldedObject } from './folded.js'
import type { Json } from './json.js'
import type { JsonText } from './parse.js'
import { spacedOut, withoutSpace } from './skim.js'

/** The text of a record file: pretty, with a final newline; key order, duplicates and spellings stay. */
export function prettyPrint(json: Json): string {
  return `${pretty(json, '\n')}\n`
}

/** The same in UTF-8; a long record is never a string, and is held as this text from now on. */
export function prettyBytes(json: Json): Buffer {
  if (json instanceof FoldedObject) return json.printed(source => spacedOut(source, whole))
  return Buffer.from(prettyPrint(json))
}

const whole = { level: 0, ending: '\n' }

/** As `compactPrint`; of a long record as bytes in UTF-8, which may be those it is held as. */
export function compactForm(json: Json): JsonText {
  return isFolded(json) ? withoutSpace(json.source) : compactPrint(json)
}

/** The same tokens without any white space, for a request's body. */
export function compactPrint(json: Json): string {
  if (isFolded(json)) return withoutSpace(json.source).toString()
  switch (json.type) {
    case 'object':
      return `{${json.fields.map(field => `${field.rawName}:${compactPrint(field.value)}`).join(',')}}`
    case 'array':
      return `[${json.items.map(compactPrint).join(',')}]`
    default:
      return json.raw
  }
}

const isFolded = (json: Json): json is FoldedObject | FoldedArray =>
  json instanceof FoldedObject || json instanceof FoldedArray

function pretty(json: Json, lineStart: string): string {
  if (isFolded(json))
    return spacedOut(json.source, { level: (lineStart.length - 1) / 2, ending: '' }).toString()
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
