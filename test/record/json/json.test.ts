// A record goes through calcfs without losing a digit, an escape, a field or its order.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { Failure } from '../../../src/failure.js'
import { equalJson } from '../../../src/record/json/equal.js'
import {
  fieldOf,
  type Json,
  type JsonObject,
  numberJson,
  stringJson,
  textOf,
  withField,
  without,
} from '../../../src/record/json/json.js'
import { parseJson, parseObject } from '../../../src/record/json/parse.js'
import { compactPrint, prettyPrint } from '../../../src/record/json/print.js'
import { anyJson, anyObject } from './arbitrary.js'
import { isJson, isTaken, plainTree } from './plain-reader.js'

const runs = { numRuns: 300 }
const equal = (one: string, other: string) => equalJson(parseJson(one), parseJson(other))

t.test('whatever is printed is read back as the same tokens', async () => {
  const isSame = (json: Json): boolean => {
    assert.deepEqual(parseJson(prettyPrint(json)), json)
    assert.deepEqual(parseJson(compactPrint(json)), json)
    return true
  }
  fc.assert(fc.property(anyJson, isSame), runs)
})

t.test('a text of JSON.stringify with two blanks comes back letter for letter', async () => {
  const isSame = (value: unknown): boolean => {
    const text = `${JSON.stringify(value, null, 2)}\n`
    return prettyPrint(parseJson(text)) === text
  }
  fc.assert(fc.property(fc.jsonValue(), isSame), runs)
})

t.test('odd names, odd numbers and lone surrogates survive', async t => {
  const text =
    '{"__proto__":{"a":1},"10":1,"9":9007199254740993,"a":0.10,"b":1e400,"a":-0,"\\u0041":"\\ud800","k":"\u2028"}'
  const record = parseObject(text)
  t.equal(compactPrint(record), text)
  t.equal(textOf(fieldOf(record, 'A')), '\ud800')
  t.same(fieldOf(record, 'a'), numberJson('-0'), 'of two fields the last one counts')
  t.equal(fieldOf(record, 'constructor'), undefined)
  t.equal(textOf(fieldOf(record, '9')), undefined)
  t.equal(compactPrint(parseJson('\ufeff{"a":1}')), '{"a":1}', 'a byte order mark is no part of it')
})

t.test('numbers are equal by their exact decimal value', async t => {
  t.ok(equal('1.0', '1'))
  t.ok(equal('100', '1e2'))
  t.ok(equal('0.10', '1E-1'))
  t.ok(equal('1e400', '10e399'))
  t.ok(equal('-0', '0.000'))
  t.notOk(equal('9007199254740993', '9007199254740992'))
  t.notOk(equal('1e400', '1e401'))
  t.notOk(equal('1', '-1'))
  t.notOk(equal('1', '"1"'))
  const anyWhole = fc.bigInt().filter(number => number !== 0n)
  const isOneValue = (number: bigint, zeros: number): boolean =>
    equal(`${number}`, `${number}.${'0'.repeat(zeros + 1)}`) &&
    equal(`${number}${'0'.repeat(zeros)}`, `${number}e${zeros}`) &&
    !equal(`${number}`, `${number + 1n}`)
  fc.assert(fc.property(anyWhole, fc.integer({ min: 0, max: 30 }), isOneValue), runs)
})

t.test('objects are equal whatever the order of their fields, lists are not', async t => {
  t.ok(equal('{"a":1,"b":[{}]}', '{"b":[ {} ], "\\u0061":1.0}'))
  t.ok(equal('{"a":1,"a":2}', '{"a":2}'))
  t.notOk(equal('[1,2]', '[2,1]'))
  t.notOk(equal('{"a":null}', '{}'))
  t.notOk(equal('{"__proto__":1}', '{}'))
  const isEqualTurned = (object: JsonObject): boolean => {
    const isPlain = new Set(object.fields.map(({ name }) => name)).size === object.fields.length
    return !isPlain || equalJson(object, { type: 'object', fields: object.fields.toReversed() })
  }
  fc.assert(fc.property(anyObject, isEqualTurned), runs)
})

t.test('a field is replaced where it stands, and a new one comes last', async t => {
  const record = parseObject('{"a":1,"b":2,"a":3}')
  t.equal(compactPrint(withField(record, 'a', numberJson('7'))), '{"a":7,"b":2,"a":7}')
  t.equal(compactPrint(withField(record, 'c', stringJson('x"y'))), '{"a":1,"b":2,"a":3,"c":"x\\"y"}')
  t.equal(compactPrint(without(record, ['a'])), '{"b":2}')
  const isOnlyThat = (object: JsonObject, name: string, value: Json): boolean => {
    const changed = withField(object, name, value)
    const others = without(changed, [name])
    assert.deepEqual(others, without(object, [name]))
    return fieldOf(changed, name) === value && fieldOf(others, name) === undefined
  }
  fc.assert(fc.property(anyObject, fc.string({ unit: 'binary' }), anyJson, isOnlyThat), runs)
})

t.test('a spelling that JSON does not have is no number', async t => {
  for (const raw of ['', '+1', '01', '.5', '5.', '0x10', 'NaN', '1e', ' 1'])
    t.throws(() => numberJson(raw), RangeError, raw)
})

function failureOf(text: string): Failure {
  try {
    parseJson(text)
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
  throw new Error(`accepted: ${text}`)
}

t.test('what is not JSON is refused with its line and column', async t => {
  const value = 'a value is expected (strings stand in double quotes)'
  const lineBreak = 'a double quote is expected, or \\n or \\t for a line break or tab'
  const cases: readonly (readonly [string, number, number, string])[] = [
    ['', 1, 1, 'it is empty'],
    [' \n', 2, 1, 'it is empty'],
    ['{', 1, 2, 'it ends too early'],
    ['{"a": "b', 1, 9, 'it ends too early'],
    ['{\n  "a": 1,\n}', 3, 1, 'no comma stands before a }'],
    ['[1,\r\n]', 2, 1, value],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'a comma or } is expected'],
    ['[1 2]', 1, 4, 'a comma or ] is expected'],
    ['{"a": }', 1, 7, value],
    ['{"a" 1}', 1, 6, 'a colon is expected'],
    ['[1, // note\n2]', 1, 5, 'a comment cannot stand in JSON'],
    ['{"a": 1} /* note */', 1, 10, 'a comment cannot stand in JSON'],
    ['{"a": 1}}', 1, 9, 'it goes on after its end'],
    ['[01]', 1, 3, 'a comma or ] is expected'],
    ['[1.]', 1, 3, 'a comma or ] is expected'],
    ['[+1]', 1, 2, value],
    ["{'a': 1}", 1, 2, 'a name in double quotes is expected'],
    ["['a']", 1, 2, value],
    ['[True]', 1, 2, value],
    ['["é", nil]', 1, 7, value],
    ['["tab\there"]', 1, 6, lineBreak],
    ['["one\nline"]', 1, 6, lineBreak],
    ['["C:\\data"]', 1, 5, 'this is no escape; a backslash itself is written \\\\'],
    ['["\\u00g0"]', 1, 3, 'this is no escape; a backslash itself is written \\\\'],
    ['\ufeff[1,]', 1, 4, value],
    ['[1.5.2]', 1, 5, 'a comma or ] is expected'],
  ]
  for (const [text, line, column, what] of cases) {
    const { kind, message } = failureOf(text)
    t.equal(`${kind}: ${message}`, `not-json: the text is not JSON: ${what} (line ${line}, column ${column})`)
  }
  t.throws(() => parseObject('\n [1]'), /object is expected, not a list \(line 2, column 2\)/)
})

t.test('calcfs takes exactly the texts that JSON.parse takes', async () => {
  const inserted = [...'{}[]",:\\ 0-.eEtu1/é\u0000\n\t\u00a0', '\\u', '/*', '']
  const damaged = fc
    .tuple(anyJson, fc.nat(), fc.constantFrom(...inserted), fc.boolean(), fc.boolean())
    .map(([json, place, sign, isPretty, replaces]) => {
      const text = isPretty ? prettyPrint(json) : compactPrint(json)
      const at = place % (text.length + 1)
      return text.slice(0, at) + sign + text.slice(replaces ? at + 1 : at)
    })
  const isRight = (text: string): boolean => {
    if (!isJson(text)) return !isTaken(text)
    assert.deepEqual(parseJson(text), plainTree(text))
    return true
  }
  fc.assert(fc.property(damaged, isRight), { numRuns: 2000 })
})

t.test('a text nested too deep is refused, and never ends the program', async t => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  t.ok(parseJson(nested(200)))
  t.match(failureOf(nested(201)), { kind: 'not-json', message: /\(line 1, column 201\)$/ })
  t.match(failureOf('{"a":'.repeat(100_000)), { kind: 'not-json' })
  t.match(failureOf(`"\n${'['.repeat(100_000)}`), { kind: 'not-json' })
  t.match(failureOf(`/*"*/${'['.repeat(100_000)}`), { kind: 'not-json' })
  const brackets: Json = parseJson('"[[[["')
  t.equal(textOf(brackets), '[[[[')
})
