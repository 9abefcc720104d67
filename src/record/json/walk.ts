// Walk over a JSON text that makes no tree, sign by sign: whether it is JSON, where its first mistake is, and where its long parts end.
import { Failure } from '../../failure.js'

/** Character codes of JSON, equal in UTF-8 bytes and UTF-16 units; in the place of a sign where the text has ended this one. */
export const endOfText = -1
export const [quote, backslash, comma, colon, slash, star] = [0x22, 0x5c, 0x2c, 0x3a, 0x2f, 0x2a] as const
export const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d] as const
export const [space, tab, lineFeed, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d] as const

/** An object or a list of so many characters stays its text, for its tree would take many times as much memory. */
export const foldedFrom = 1 << 16

/** Deeper texts are refused: a hostile answer must not exhaust the stack. */
export const deepest = 200

const plainForm = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in a string.
const notPlain = /["\\\u0000-\u001f]/g
const escapeForm = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** `at` is behind everything that is right, and `wrong` says what is not; each step is false for a mistake. */
export class Walk {
  at = 0
  wrong: string | undefined

  /** @param ends takes where each long part ends, by where it begins */
  constructor(
    readonly text: string,
    private readonly ends?: Map<number, number>,
  ) {}

  /** The next sign that is no white space, which stays unread. */
  sign(): number {
    for (; this.at < this.text.length; this.at += 1) {
      const sign = this.text.charCodeAt(this.at)
      if (sign !== space && sign !== lineFeed && sign !== tab && sign !== carriageReturn) return sign
    }
    return endOfText
  }

  value(depth: number): boolean {
    const sign = this.sign()
    if (sign !== quote && sign !== openObject && sign !== openList)
      return this.#passes(plainForm) || this.mistake('a value is expected (strings stand in double quotes)')
    if (sign !== quote && depth > deepest) return this.mistake(tooDeep)
    const start = this.at
    const isRight = sign === quote ? this.string() : this.#inside(sign === openObject, depth)
    if (this.at - start >= foldedFrom) this.ends?.set(start, this.at)
    return isRight
  }

  string(): boolean {
    const { text } = this
    notPlain.lastIndex = this.at + 1
    while (notPlain.test(text)) {
      const sign = text.charCodeAt(notPlain.lastIndex - 1)
      this.at = notPlain.lastIndex - Number(sign !== quote)
      if (sign === quote) return true
      if (sign !== backslash)
        return this.mistake('a double quote is expected, or \\n or \\t for a line break or tab')
      if (!this.#passes(escapeForm))
        return this.mistake('this is no escape; a backslash itself is written \\\\')
      notPlain.lastIndex = this.at
    }
    this.at = text.length
    return this.mistake('a double quote is expected')
  }

  /** The character at `at` cannot be right; the first mistake counts. */
  mistake(otherwise: string): false {
    this.wrong ??= wrongAt(this.text, this.at) ?? otherwise
    return false
  }

  failure(what: string): Failure {
    const before = this.text.slice(0, this.at)
    const [line, column] = [before.split('\n').length, this.at - before.lastIndexOf('\n')]
    return new Failure('not-json', `${what} (line ${line}, column ${column})`)
  }

  #inside(isObject: boolean, depth: number): boolean {
    const end = isObject ? closeObject : closeList
    this.at += 1
    for (let sign = this.sign(); sign !== end; ) {
      if (isObject) {
        if (sign !== quote) return this.mistake('a name in double quotes is expected')
        if (!this.string()) return false
        if (this.sign() !== colon) return this.mistake('a colon is expected')
        this.at += 1
      }
      if (!this.value(depth + 1)) return false
      sign = this.sign()
      if (sign === end) break
      if (sign !== comma) return this.mistake(`a comma or ${isObject ? '}' : ']'} is expected`)
      this.at += 1
      if (isObject) sign = this.sign()
      if (sign === closeObject) return this.mistake('no comma stands before a }')
    }
    this.at += 1
    return true
  }

  /** Nothing is made for what is right: a list may hold a hundred thousand. */
  #passes(form: RegExp): boolean {
    form.lastIndex = this.at
    if (!form.test(this.text)) return false
    this.at = form.lastIndex
    return true
  }
}

function wrongAt(text: string, at: number): string | undefined {
  if (at >= text.length) return /[^ \n\t\r]/.test(text) ? 'it ends too early' : 'it is empty'
  const second = text.charCodeAt(at + 1)
  const isComment = text.charCodeAt(at) === slash && (second === slash || second === star)
  return isComment ? 'a comment cannot stand in JSON' : undefined
}

export const tooDeep = `the text is nested deeper than ${deepest} levels`

/** True if a text was refused for this alone. */
export const isTooDeep = (thrown: unknown): boolean =>
  thrown instanceof Failure && (thrown.message.startsWith(tooDeep) || isTooDeep(thrown.cause))

// The memory of a text, estimated from the size of the engine's objects and strings.

/** Bytes of one value or name with its object, and of each character as text, as token and in print. */
const nodeBytes = 64
const characterBytes = 5

/** About how many bytes its tree takes, and characters its print: one that is nested deep may have hundreds of times its own. */
export function weightOf(text: string): { readonly tree: number; readonly print: number } {
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
