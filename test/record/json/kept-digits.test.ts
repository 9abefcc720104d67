// A text that went through a program with rounded numbers says what it said before, and nothing else.
import fc from 'fast-check'
import t from 'tap'
import { fieldOf, type Json, type JsonObject, withField } from '../../../src/record/json/json.js'
import { withDigitsOf } from '../../../src/record/json/kept-digits.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { compactPrint } from '../../../src/record/json/print.js'
import { anyObject } from './arbitrary.js'

const runs = { numRuns: 1000 }
const idNames = ['calcId', 'id']

/** As `jq` takes a number that is too large for a double. */
const doubleOf = (raw: string): number => Math.min(Math.max(Number(raw), -Number.MAX_VALUE), Number.MAX_VALUE)

/** As `jq` and `node` print a record, awk, Python, and `vim`. */
const printers: readonly ((raw: string) => string)[] = [
  raw => String(doubleOf(raw)),
  raw => doubleOf(raw).toPrecision(15),
  raw => (/[.eE]/.test(raw) ? String(doubleOf(raw)) : raw),
  raw => raw,
]

function through(print: (raw: string) => string, json: Json): Json {
  switch (json.type) {
    case 'number':
      return { type: 'number', raw: print(json.raw) }
    case 'array':
      return { type: 'array', items: json.items.map(item => through(print, item)) }
    case 'object':
      return { type: 'object', fields: json.fields.map(f => ({ ...f, value: through(print, f.value) })) }
    default:
      return json
  }
}

const rounded = (print: (raw: string) => string, json: JsonObject): JsonObject =>
  through(print, json) as JsonObject
const anyPrinter = fc.constantFrom(...printers)

const hasNamesOnce = (json: Json): boolean => {
  if (json.type === 'array') return json.items.every(hasNamesOnce)
  if (json.type !== 'object') return true
  const names = new Set(json.fields.map(({ name }) => name))
  return names.size === json.fields.length && json.fields.every(({ value }) => hasNamesOnce(value))
}
const eachNameOnce = anyObject.filter(hasNamesOnce)

t.test('SAVE-2 a whole record keeps its digits', async () => {
  const isKept = (base: JsonObject, print: (raw: string) => string): boolean => {
    const { record, doubt } = withDigitsOf(base, rounded(print, base), idNames)
    return doubt !== undefined || compactPrint(record) === compactPrint(base)
  }
  fc.assert(fc.property(eachNameOnce, anyPrinter, isKept), runs)
})

/** Rows with ids that a double may hold or not, some of them so near that they print as one. */
const anyRows = fc.uniqueArray(
  fc.record({ id: fc.integer({ min: 0, max: 12 }), title: fc.constantFrom('A', 'B', undefined) }),
  { minLength: 1, maxLength: 6, selector: ({ id }) => id },
)
const idFrom = (near: number): string =>
  near < 3 ? String(near + 100) : (9007199254740990n + BigInt(near)).toString()
const listOf = (rows: readonly { id: number; title: string | undefined }[]): JsonObject =>
  parseObject(
    JSON.stringify({
      title: 'T',
      calculations: rows.map(({ id, title }, at) => ({ calcId: `#${id}`, calcOrder: at + 1, title })),
    }).replace(/"#(\d+)"/g, (_, id) => idFrom(Number(id))),
  )
const idsOf = (record: JsonObject): readonly string[] => {
  const list = fieldOf(record, 'calculations')
  const rows = list?.type === 'array' ? list.items : []
  return rows.map(row => (row.type === 'object' ? compactPrint(fieldOf(row, 'calcId') ?? row) : ''))
}

t.test('SAVE-2 after rows were taken out the others are the same ones, or it is in doubt', async () => {
  const isRight = (rows: Parameters<typeof listOf>[0], mask: number, print: (raw: string) => string) => {
    const base = listOf(rows)
    const left = listOf(rows.filter((_, at) => (mask >> at) % 2 === 0))
    const { record, doubt } = withDigitsOf(base, rounded(print, left), idNames)
    return doubt !== undefined || idsOf(record).join() === idsOf(left).join()
  }
  fc.assert(fc.property(anyRows, fc.integer({ min: 0, max: 63 }), anyPrinter, isRight), { numRuns: 5000 })
})

t.test('SAVE-2 rows with titles of their own are found again in any order', async () => {
  const moved = anyRows.chain(rows => {
    const titled = rows.map((row, at) => ({ ...row, title: `title ${at}` }))
    const order = fc.shuffledSubarray(titled, { minLength: titled.length })
    return fc.tuple(fc.constant(titled), order)
  })
  const isRight = ([rows, turned]: [Parameters<typeof listOf>[0], Parameters<typeof listOf>[0]]) =>
    printers.every(print => {
      const { record, doubt } = withDigitsOf(listOf(rows), rounded(print, listOf(turned)), idNames)
      return doubt !== undefined || idsOf(record).join() === idsOf(listOf(turned)).join()
    })
  fc.assert(fc.property(moved, isRight), { numRuns: 2000 })
})

const first = '9007199254740992'
const second = '9007199254740993'
const object = parseObject
const after = (base: string, written: string) => withDigitsOf(object(base), object(written), idNames)

t.test('SAVE-2 once a number beyond a double came back exactly, the text means what it says', async t => {
  const base = `{"a":${second},"b":9007199254740995,"c":0.12345678901234567890}`
  const edited = after(base, `{"a":${first},"b":9007199254740995,"c":0.12345678901234568}`)
  t.equal(compactPrint(edited.record), `{"a":${first},"b":9007199254740995,"c":0.12345678901234567890}`)
  t.equal(
    compactPrint(after(base, `{"a":${first},"b":9007199254740996,"c":0.12345678901234568}`).record),
    base,
  )
})

t.test('SAVE-2 where two rows could be meant, it is in doubt', async t => {
  const base = `{"calculations":[${first},${second}]}`
  t.match(after(base, `{"calculations":[${first}]}`).doubt, /9007199254740992 or 9007199254740993/)
  t.equal(after(base, `{"calculations":[${first},${first}]}`).doubt, undefined)
  t.equal(
    compactPrint(after(base, `{"calculations":["${second}",${first}]}`).record),
    `{"calculations":[${second},${first}]}`,
    'a text is rounded by no program',
  )
  t.match(after(`{"calculations":[${second}]}`, `{"calculations":[${first},${first}]}`).doubt, /may be/)
  t.match(after(`{"calculations":[${second}]}`, `{"calculations":[${first},9007199254740998]}`).doubt, /new/)
})

t.test('SAVE-2 what Perl writes as a text, and JavaScript as null, is the number still', async t => {
  const long = '123456789012345678901234567890'
  t.equal(compactPrint(after(`{"a":${long}}`, `{"a":"${long}"}`).record), `{"a":${long}}`)
  t.equal(compactPrint(after('{"a":1e400}', '{"a":null}').record), '{"a":1e400}')
  t.equal(compactPrint(after('{"a":12}', '{"a":"12"}').record), '{"a":"12"}')
})

t.test('an edit beside rounded numbers is that edit alone', async () => {
  const isAlone = (base: JsonObject, text: string): boolean => {
    const mine = withField(rounded(printers[0] ?? String, base), 'own title', {
      type: 'string',
      value: text,
      raw: JSON.stringify(text),
    })
    const { record, doubt } = withDigitsOf(base, mine, idNames)
    const wanted = withField(base, 'own title', fieldOf(mine, 'own title') ?? mine)
    return doubt !== undefined || compactPrint(record) === compactPrint(wanted)
  }
  fc.assert(fc.property(eachNameOnce, fc.string({ unit: 'grapheme', maxLength: 9 }), isAlone), runs)
})
