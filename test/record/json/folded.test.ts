// A long text that is held as it came means and prints exactly what its tree does.
import fc from 'fast-check'
import t from 'tap'
import { equalJson } from '../../../src/record/json/equal.js'
import { LongObject, parseJson } from '../../../src/record/json/parse.js'
import { compactPrint, prettyPrint } from '../../../src/record/json/print.js'
import { foldedFrom } from '../../../src/record/json/walk.js'
import { isJson, plainTree } from './plain-reader.js'

t.setTimeout(240_000)
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

const isTaken = (read: () => unknown): boolean => {
  try {
    read()
    return true
  } catch {
    return false
  }
}

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
        return isTaken(() => parseJson(text)) === isJson(text)
      },
    ),
    { numRuns: 150 },
  )
})

t.test('nesting has the same limit in a long text', async t => {
  for (const levels of [199, 200, 201]) {
    const text = `${'['.repeat(levels)}${padding}${']'.repeat(levels)}`
    t.equal(
      isTaken(() => parseJson(text)),
      levels <= 200,
      `${levels}`,
    )
  }
})

t.test('of a long record only what is looked at becomes a tree', async t => {
  const record = parseJson(`{"id":7,"rows":[${padding}],"name":"a"}`)
  t.ok(record instanceof LongObject)
  t.same(record.type === 'object' && record.fields.map(({ name, value }) => [name, value.type]), [
    ['id', 'number'],
    ['rows', 'array'],
    ['name', 'string'],
  ])
})
