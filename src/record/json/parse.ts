// What counts as JSON: exactly the standard, at most 200 levels deep, and the place of the first mistake.
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { Failure } from '../../failure.js'
import type { Field, Json, JsonObject } from './json.js'

/** Deeper texts are refused: a hostile answer must not exhaust the stack. */
export const deepest = 200

const strict = { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false }

/**
 * The text as a tree that prints back to the same tokens. One leading byte order mark is ignored.
 * @throws Failure 'not-json' with line and column, both from 1 (columns in UTF-16 units)
 */
export function parseJson(text: string): Json {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text
  refuseDepth(body)
  const errors: ParseError[] = []
  const root = parseTree(body, errors, strict)
  refuseLeniency(body, errors)
  if (root === undefined) throw new Error('a strict JSON text has a root')
  return fromNode(root, body)
}

/**
 * As `parseJson`, for a text that must be an object.
 * @throws Failure 'not-json', also for JSON of another type
 */
export function parseObject(text: string): JsonObject {
  const json = parseJson(text)
  if (json.type === 'object') return json
  throw notJson(text, text.search(/[^\s\uFEFF]/), `a JSON object is expected, not ${named[json.type]}`)
}

const named = { array: 'a list', string: 'a string', number: 'a number', word: 'a single word' } as const

/** Whether the text is nested too deep to be read, by its brackets alone. */
export function isTooDeep(text: string): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at]
    if (inString && sign === '\\') at += 1
    else if (sign === '"') inString = !inString
    else if (inString) continue
    else if (sign === '{' || sign === '[') depth += 1
    else if (sign === '}' || sign === ']') depth -= 1
    if (depth > deepest) return true
  }
  return false
}

/** The scanner of the parser itself, so that both always agree on where a bracket is one. */
function refuseDepth(text: string): void {
  const scanner = createScanner(text, true)
  let depth = 0
  for (let scanned = -1; scanned !== scanner.getPosition(); ) {
    scanned = scanner.getPosition()
    scanner.scan()
    const first = text[scanner.getTokenOffset()]
    if (first === '{' || first === '[') depth++
    if (first === '}' || first === ']') depth--
    if (depth > deepest) {
      throw notJson(text, scanner.getTokenOffset(), `the text is nested deeper than ${deepest} levels`)
    }
  }
}

/** `JSON.parse` is the judge of what is JSON; the tolerant parser only knows the place better. */
function refuseLeniency(text: string, errors: readonly ParseError[]): void {
  try {
    JSON.parse(text)
  } catch (cause) {
    const [first] = errors
    if (first === undefined) throw notJson(text, text.length, 'the text is not JSON', cause)
    const words = printParseErrorCode(first.error).replace(/([a-z])([A-Z])/g, '$1 $2')
    throw notJson(text, first.offset, `the text is not JSON: ${words.toLowerCase()}`, cause)
  }
}

/** The failure of a long text in UTF-8 that is no JSON from this byte on, or too deep there; no tree is made of it. */
export function noJsonAt(bytes: Buffer, at: number, isTooDeep: boolean): Failure {
  const what = isTooDeep ? `the text is nested deeper than ${deepest} levels` : 'the text is not JSON'
  let line = 1
  let lineStart = 0
  for (let end = bytes.indexOf('\n'); end >= 0 && end < at; end = bytes.indexOf('\n', lineStart)) {
    line += 1
    lineStart = end + 1
  }
  const place = { line, column: bytes.toString('utf8', lineStart, at).length + 1 }
  return notJsonIn(place, what)
}

function notJson(text: string, offset: number, what: string, cause?: unknown): Failure {
  const before = text.slice(0, offset)
  const place = { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
  return notJsonIn(place, what, cause)
}

function notJsonIn(place: { line: number; column: number }, what: string, cause?: unknown): Failure {
  return new Failure('not-json', `${what} (line ${place.line}, column ${place.column})`, { cause, place })
}

function fromNode(node: Node, text: string): Json {
  const raw = text.slice(node.offset, node.offset + node.length)
  switch (node.type) {
    case 'object':
      return { type: 'object', fields: childrenOf(node).map(property => fieldFrom(property, text)) }
    case 'array':
      return { type: 'array', items: childrenOf(node).map(item => fromNode(item, text)) }
    case 'string':
      return { type: 'string', value: JSON.parse(raw), raw }
    case 'number':
      return { type: 'number', raw }
    default:
      return { type: 'word', raw: raw === 'true' ? 'true' : raw === 'false' ? 'false' : 'null' }
  }
}

function fieldFrom(property: Node, text: string): Field {
  const [key, value] = childrenOf(property)
  if (key === undefined || value === undefined)
    throw new Error('a strict JSON property has a name and a value')
  const rawName = text.slice(key.offset, key.offset + key.length)
  return { name: JSON.parse(rawName), rawName, value: fromNode(value, text) }
}

function childrenOf(node: Node): readonly Node[] {
  if (node.children === undefined) throw new Error(`a JSON ${node.type} has children`)
  return node.children
}
