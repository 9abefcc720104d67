// The tests' own reader of JSON: slow, and of another making than what it judges.
import { Failure } from '../../../src/failure.js'
import type { Json } from '../../../src/record/json/json.js'
import { parseJson } from '../../../src/record/json/parse.js'

const tokens = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|[a-z]+|[[\]{},:]/gs

/** The whole tree of a text. @throws SyntaxError where JSON.parse does */
export function plainTree(text: string): Json {
  JSON.parse(text)
  const found = text.match(tokens) ?? []
  let at = 0
  const take = (): string => found[at++] ?? ''

  /** Up to the sign that closes. */
  function each<Part>(part: () => Part): Part[] {
    const parts: Part[] = []
    for (;;) {
      if (found[at] === ',') take()
      else if (found[at] === ']' || found[at] === '}') {
        take()
        return parts
      } else parts.push(part())
    }
  }

  function field() {
    const rawName = take()
    take()
    return { name: String(JSON.parse(rawName)), rawName, value: value() }
  }

  function value(): Json {
    const raw = take()
    if (raw === '{') return { type: 'object', fields: each(field) }
    if (raw === '[') return { type: 'array', items: each(value) }
    if (raw.startsWith('"')) return { type: 'string', value: String(JSON.parse(raw)), raw }
    if (raw === 'true' || raw === 'false' || raw === 'null') return { type: 'word', raw }
    return { type: 'number', raw }
  }
  return value()
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Whether calcfs takes the text. */
export function isTaken(text: string): boolean {
  try {
    parseJson(text)
    return true
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.kind === 'not-json') return false
    throw thrown
  }
}
