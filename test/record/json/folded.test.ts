// A long text that is held as it came means and prints exactly what its tree does, and a mistake in it is named by its place.
import fc from 'fast-check'
import t from 'tap'
import { equalJson } from '../../../src/record/json/equal.js'
import { fieldOf, type Json } from '../../../src/record/json/json.js'
import { LongObject, parseJson, parseObject } from '../../../src/record/json/parse.js'
import { compactPrint, prettyBytes, prettyPrint } from '../../../src/record/json/print.js'
import { foldedFrom } from '../../../src/record/json/walk.js'
import { isJson, isTaken, plainTree } from './plain-reader.js'

const padding = JSON.stringify('x"\\'.repeat(foldedFrom / 4))
const spaces = ['', ' ', '\n', '\t\r\n  ']

/** The text of this value with white space of this choice between its tokens, and sometimes an empty place with some. */
function spelled(value: unknown, space: string): string {
  if (Array.isArray(value))
    return `[${space}${value.map(item => spelled(item, space)).join(`${space},${space}`)}${space}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(
    ([name, field]) => `${JSON.stringify(name)}${space}:${space}${spelled(field, space)}`,
  )
  return `{${space}${fields.join(`${space},${space}`)}${space}}`
}

const aSpace = fc.constantFrom(...spaces)
/** Random parts, short and long, before and behind a long string, in lists and in objects. */
const longText = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), aSpace, aSpace, fc.nat(4))
  .map(([one, other, space, outer, deep]) => {
    const [first, last] = [spelled(one, space), spelled(other, space)]
    let text = `{"a\\"b":${first}${space},"long":${padding},"last":${space}${last}}`
    for (let level = 0; level < deep; level += 1)
      text =
        level % 2 === 0 ? `[${first},${text}${outer},{${outer}},[${outer}]]` : `{"n":${text},"m":${last}}`
    return `${outer}${text}${outer}`
  })

t.test('a long text means and prints what its tree does', async () => {
  fc.assert(
    fc.property(longText, text => {
      const [long, tree] = [parseJson(text), plainTree(text)]
      return (
        equalJson(long, tree) &&
        prettyPrint(long) === prettyPrint(tree) &&
        compactPrint(long) === compactPrint(tree) &&
        prettyPrint(parseJson(prettyPrint(long))) === prettyPrint(tree)
      )
    }),
    { numRuns: 40 },
  )
})

t.test('a long text with one sign wrong is refused where JSON.parse refuses it', async () => {
  const signs = [...'{}[]",:\\ 0-.eEtu\u0000\n', '']
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 3 }),
      fc.nat(),
      fc.constantFrom(...signs),
      fc.boolean(),
      (value, place, sign, replaces) => {
        const part = `{"a":${JSON.stringify(value)},"n":[-0.5e+7,1E4,"\\u00e9\\n"]`
        const at = place % (part.length + 1)
        const text = `${part.slice(0, at)}${sign}${part.slice(replaces ? at + 1 : at)},"long":${padding}}`
        return isTaken(text) === isJson(text)
      },
    ),
    { numRuns: 150 },
  )
})

function manyFields(count: number): string {
  const fields = Array.from({ length: count }, (_, at) => `"field${at}":${at}`)
  return `{"id":7,"name":"many","n\\u0061me2":"x","twice":1,${fields.join(',')},"twice":[2],"creationDate":1700000000000}`
}

const isNumber = (json: Json | undefined, number: number): boolean =>
  json?.type === 'number' && json.raw === String(number)

t.test('a name is found in a long record as in its tree', async t => {
  const text = manyFields(20_000)
  const [long, tree] = [parseObject(Buffer.from(text)), plainTree(text)]
  if (tree.type !== 'object') throw new Error('an object is due')
  t.ok(long instanceof LongObject)
  const same = () => {
    for (const name of ['id', 'name', 'name2', 'twice', 'field0', 'field19999', 'n\\u0061me2', 'none', '']) {
      t.same(fieldOf(long, name), fieldOf(tree, name), name)
      t.same(fieldOf(tree, name), tree.fields.findLast(field => field.name === name)?.value, name)
    }
  }
  same()
  const numbered = Array.from({ length: 20_000 }, (_, at) => `field${at}`)
  t.ok(numbered.every((name, at) => isNumber(fieldOf(long, name), at) && isNumber(fieldOf(tree, name), at)))
  same()
  t.equal(prettyBytes(long).toString(), prettyPrint(tree))
  t.same(fieldOf(long, 'field777'), fieldOf(tree, 'field777'), 'once it is printed')
})

t.test('long parts in long parts, to the last level, print back as they are, in the time of one walk', t => {
  const depth = 190
  const inner = `"${'z'.repeat(4_000_000)}"`
  const text = `{"d":${'[{"e":'.repeat(depth / 2)}${inner}${'}]'.repeat(depth / 2)},"f":[${'[1,2],'.repeat(50_000)}3]}`
  const began = process.cpuUsage()
  const printed = compactPrint(parseObject(text))
  const { user } = process.cpuUsage(began)
  t.ok(printed === text, 'the same tokens')
  // Level by level it were a minute.
  t.ok(user < 10_000_000, `${user} µs of processor time`)
  t.end()
})

t.test('a mistake in a long text is named by its line and column', async t => {
  const text = (mistake: string): string =>
    `{"long":"${'é'.repeat(foldedFrom)}",\n"ß":1,\n "é": ${mistake},"id":7}\n`
  for (const [mistake, column, what] of [
    ['nul', 7, 'a value is expected (strings stand in double quotes)'],
    ['01', 8, 'a comma or } is expected'],
    ['"a\tb"', 9, 'a double quote is expected, or \\n or \\t for a line break or tab'],
  ] as const)
    t.throws(() => parseObject(text(mistake)), {
      message: `the text is not JSON: ${what} (line 3, column ${column})`,
    })
  t.throws(() => parseObject(text('['.repeat(200))), { message: /deeper than 200/ })
  t.ok(parseObject(text('['.repeat(199) + ']'.repeat(199))), 'with that of the record 200 levels')
  t.equal(fieldOf(parseObject(`\uFEFF${text('1')}`), 'ß')?.type, 'number')
})
