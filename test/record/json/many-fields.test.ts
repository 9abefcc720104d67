// A record of very many fields means what its tree does, and a mistake in it is named by its place.
import t from 'tap'
import { fieldOf, type Json } from '../../../src/record/json/json.js'
import { LongObject, parseObject } from '../../../src/record/json/parse.js'
import { compactPrint, prettyBytes, prettyPrint } from '../../../src/record/json/print.js'
import { foldedFrom } from '../../../src/record/json/walk.js'
import { plainTree } from './plain-reader.js'

t.setTimeout(240_000)

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
    ['"a\tb"', 9, 'a line break or tab in a string is written as an escape, \\n or \\t'],
  ] as const)
    t.throws(() => parseObject(text(mistake)), {
      message: `the text is not JSON: ${what} (line 3, column ${column})`,
    })
  t.throws(() => parseObject(text('['.repeat(201))), { message: /deeper than 200/ })
  t.equal(fieldOf(parseObject(`\uFEFF${text('1')}`), 'ß')?.type, 'number')
})
