// JSON syntax: exactly the standard, at most 200 levels deep; an error names the first sign that cannot be right.
import { Failure } from '../../failure.js'
import {
  backslash,
  carriageReturn,
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
  slash,
  space,
  star,
} from './signs.js'
import { type ScanState, signAt } from './skim.js'

const [zero, nine, minus, plus, point] = [0x30, 0x39, 0x2d, 0x2b, 0x2e]
const [lowerE, upperE, lowerU] = [0x65, 0x45, 0x75]

const isDigit = (sign: number): boolean => sign >= zero && sign <= nine

/** Deeper texts are refused: a hostile answer must not exhaust the stack. */
export const deepest = 200

/**
 * The one value of a text in UTF-8, without the white space around it. No tree is made of it.
 * @throws Failure 'not-json' with line and column, both from 1 (columns in UTF-16 units)
 */
export function checkedValue(bytes: Buffer): Buffer {
  const walk: Checked = { bytes, at: 0, wrong: undefined }
  signAt(walk)
  const start = walk.at
  const isPassed = passValue(walk, deepest)
  const end = walk.at
  if (isPassed && (signAt(walk) === endOfText || isWrong(walk, 'it goes on after its end')))
    return bytes.subarray(start, end)
  throw notJson(bytes, walk.at, walk.wrong ?? 'it cannot be read')
}

/** The failure of a text that is JSON, but not of this type, at its first sign. */
export function anotherType(bytes: Buffer, what: string): Failure {
  const walk: ScanState = { bytes, at: 0 }
  signAt(walk)
  return failureAt(bytes, walk.at, what)
}

const notJson = (bytes: Buffer, at: number, wrong: string): Failure =>
  failureAt(bytes, at, wrong === tooDeep ? tooDeep : `the text is not JSON: ${wrong}`)

const tooDeep = `the text is nested deeper than ${deepest} levels`

function failureAt(bytes: Buffer, at: number, what: string): Failure {
  let line = 1
  let lineStart = 0
  for (let end = bytes.indexOf('\n'); end >= 0 && end < at; end = bytes.indexOf('\n', lineStart)) {
    line += 1
    lineStart = end + 1
  }
  const place = { line, column: bytes.toString('utf8', lineStart, at).length + 1 }
  return new Failure('not-json', `${what} (line ${place.line}, column ${place.column})`, { place })
}

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

/** `at` is behind everything that is right; `wrong` says what is not, once something is not. */
interface Checked extends ScanState {
  wrong: string | undefined
}

/** What stands at `at` cannot be right: always false, for the caller to give back. */
function isWrong(walk: Checked, otherwise: string): false {
  const sign = walk.bytes[walk.at]
  if (sign === undefined) walk.wrong = walk.bytes.every(isSpace) ? 'it is empty' : 'it ends too early'
  else if (sign === slash && isCommentSign(walk.bytes[walk.at + 1]))
    walk.wrong = 'a comment cannot stand in JSON'
  else walk.wrong = otherwise
  return false
}

const isCommentSign = (second: number | undefined): boolean => second === slash || second === star

function passValue(walk: Checked, deeper: number): boolean {
  const sign = signAt(walk)
  if (sign === quote) return passString(walk)
  if (sign === minus || isDigit(sign)) return passNumber(walk)
  if (sign !== openObject && sign !== openList) return passWord(walk)
  if (deeper > 0) return passItems(walk, deeper - 1, sign === openObject ? closeObject : closeList)
  return isWrong(walk, tooDeep)
}

function passItems(walk: Checked, deeper: number, close: number): boolean {
  walk.at += 1
  if (signAt(walk) === close) return passSign(walk)
  for (;;) {
    if (close === closeObject && !passName(walk)) return false
    if (!passValue(walk, deeper)) return false
    const sign = signAt(walk)
    if (sign === close) return passSign(walk)
    if (sign !== comma) return isWrong(walk, `a comma or ${close === closeObject ? '}' : ']'} is expected`)
    walk.at += 1
  }
}

function passName(walk: Checked): boolean {
  const sign = signAt(walk)
  if (sign === closeObject) return isWrong(walk, 'no comma stands before a }')
  if (sign !== quote) return isWrong(walk, 'a name in double quotes is expected')
  if (!passString(walk)) return false
  return signAt(walk) === colon ? passSign(walk) : isWrong(walk, 'a colon is expected')
}

function passSign(walk: Checked): true {
  walk.at += 1
  return true
}

function passString(walk: Checked): boolean {
  const { bytes } = walk
  for (let at = walk.at + 1; at < bytes.length; at += 1) {
    const sign = bytes[at] ?? 0
    if (sign === quote) {
      walk.at = at + 1
      return true
    }
    if (sign >= space && sign !== backslash) continue
    walk.at = at
    if (sign !== backslash) return isWrong(walk, unescaped(sign))
    if (!passEscape(walk)) return false
    at = walk.at
  }
  walk.at = bytes.length
  return isWrong(walk, 'a double quote is expected')
}

const unescaped = (sign: number): string =>
  sign === lineFeed || sign === carriageReturn
    ? 'a string ends on its line; a line break in it is written \\n'
    : 'a control character in a string is written as an escape, a tab as \\t'

const shortEscapes = new Set(Buffer.from('"\\/bfnrt'))

/** To the last sign of the escape that begins here. */
function passEscape(walk: Checked): boolean {
  const { bytes } = walk
  walk.at += 1
  const sign = bytes[walk.at] ?? endOfText
  if (shortEscapes.has(sign)) return true
  if (sign !== lowerU) return isWrong(walk, 'this is no escape; a backslash itself is written \\\\')
  for (let digits = 0; digits < 4; digits += 1) {
    walk.at += 1
    if (!isHexadecimal(bytes[walk.at] ?? endOfText))
      return isWrong(walk, 'four hexadecimal digits are expected after \\u')
  }
  return true
}

const isHexadecimal = (sign: number): boolean => isDigit(sign) || /^[a-fA-F]$/.test(String.fromCharCode(sign))

function passNumber(walk: Checked): boolean {
  const { bytes } = walk
  const whole = bytes[walk.at] === minus ? walk.at + 1 : walk.at
  let at = digitsEnd(bytes, whole)
  if (at === whole) return lacksDigit(walk, at)
  if (bytes[whole] === zero && at > whole + 1) {
    walk.at = whole + 1
    return isWrong(walk, 'no other digit follows a 0 at the start of a number')
  }
  if (bytes[at] === point) {
    const end = digitsEnd(bytes, at + 1)
    if (end === at + 1) return lacksDigit(walk, end)
    at = end
  }
  if (bytes[at] === lowerE || bytes[at] === upperE) {
    const signed = bytes[at + 1] === plus || bytes[at + 1] === minus ? at + 2 : at + 1
    const end = digitsEnd(bytes, signed)
    if (end === signed) return lacksDigit(walk, end)
    at = end
  }
  walk.at = at
  return true
}

function digitsEnd(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && isDigit(bytes[at] ?? 0)) at += 1
  return at
}

function lacksDigit(walk: Checked, at: number): false {
  walk.at = at
  return isWrong(walk, 'a digit is expected')
}

const noValue = (sign: number | undefined): string =>
  sign === closeList || sign === closeObject
    ? `a value is expected before the ${String.fromCharCode(sign)}`
    : 'a value is expected (strings stand in double quotes)'

const words = ['null', 'true', 'false'].map(word => Buffer.from(word))

function passWord(walk: Checked): boolean {
  const word = words.find(([first]) => first === walk.bytes[walk.at])
  if (word === undefined) return isWrong(walk, noValue(walk.bytes[walk.at]))
  for (const sign of word) {
    if (walk.bytes[walk.at] !== sign) return isWrong(walk, `${word} is expected`)
    walk.at += 1
  }
  return true
}
