// Random JSON as services and users really write it: odd names, odd numbers, any unicode, duplicates.
import fc from 'fast-check'
import {
  type Field,
  type Json,
  type JsonObject,
  numberJson,
  stringJson,
} from '../../../src/record/json/json.js'

const text = fc.string({ unit: 'binary', maxLength: 12 })
const name = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', '10', '9', 'id', 'title', 'toString'))
const number = fc.oneof(
  fc.bigInt().map(String),
  fc.constantFrom('0', '-0', '0.10', '1e400', '1E+5', '9007199254740993', '9223372036854775807', '1.0e-7'),
)
const word = fc.constantFrom('true' as const, 'false' as const, 'null' as const)

/** Any object, its fields in any order, now and then one name twice. */
export const { json: anyJson, object: anyObject } = fc.letrec<{ json: Json; object: JsonObject }>(tie => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text.map(stringJson),
    number.map(numberJson),
    word.map((raw): Json => ({ type: 'word', raw })),
    fc.array(tie('json'), { maxLength: 4 }).map((items): Json => ({ type: 'array', items })),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(name, tie('json')), { maxLength: 6 })
    .map(pairs => ({ type: 'object', fields: pairs.map(toField) })),
}))

function toField([name, value]: [string, Json]): Field {
  return { name, rawName: JSON.stringify(name), value }
}
