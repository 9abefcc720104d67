// Records unknown to calcfs: whatever a service holds, fields without an edit go back character for character.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { canonicalForm } from '../../src/record/json/equal.js'
import { type Json, numberJson } from '../../src/record/json/json.js'
import { compactPrint } from '../../src/record/json/print.js'
import { defaultFields } from '../../src/remote/wire/names.js'
import { anyJson } from '../record/json/arbitrary.js'
import { inProcess } from '../testbed/in-process.js'
import { ids } from '../testbed/sample-data.js'
import { overwrite, type Testbed, textOf } from '../testbed/testbed.js'

/** A field as it is spelled; two of one name may stand in one record. */
interface Spelled {
  readonly name: string
  readonly rawName: string
  readonly value: Json
}

/** Names that mean something to calcfs, or to the drive's own checks, are not opaque. */
const meant = new Set<string>(Object.values(defaultFields).flat())

/** The same string with some of its characters escaped, as services write them in one way or another. */
const spelling = (text: fc.Arbitrary<string>): fc.Arbitrary<{ text: string; raw: string }> =>
  fc.tuple(text, fc.infiniteStream(fc.boolean())).map(([text, escapes]) => {
    const units = Array.from({ length: text.length }, (_, at) => text.charAt(at))
    const raw = units.map(unit => {
      const isEscaped = escapes.next().value || unit < ' ' || /["\\\ud800-\udfff]/.test(unit)
      return isEscaped ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : unit
    })
    return { text, raw: `"${raw.join('')}"` }
  })

const oddNumbers = [
  '0.10',
  '-0',
  '1e400',
  '1E+05',
  '1.0e-7',
  '9223372036854775807',
  '123456789012345678901.0',
]
const anyName = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('__proto__', 'constructor', 'toString', '', '10', 'häßlich', '名', 'x-lab', 'a'),
)
const anyValue: fc.Arbitrary<Json> = fc.oneof(
  anyJson,
  fc.constantFrom(...oddNumbers).map(numberJson),
  spelling(fc.string({ unit: 'binary', maxLength: 12 })).map(
    ({ text, raw }): Json => ({ type: 'string', value: text, raw }),
  ),
)
const anyField: fc.Arbitrary<Spelled> = fc
  .tuple(spelling(anyName.filter(name => !meant.has(name))), anyValue)
  .map(([{ text, raw }, value]) => ({ name: text, rawName: raw, value }))

/** Of a record with these fields: `field` gets another value, or goes, or a new one comes, or only its title changes. */
const anyEdit = fc.record({
  what: fc.constantFrom('title' as const, 'value' as const, 'remove' as const, 'add' as const),
  which: fc.nat(),
  value: anyValue,
  title: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter(title => title.trim() !== ''),
})

/** textual: the text as it was shown, with the edit in it. respelled: the same rewritten by another JSON writer. */
const anyWriter = fc.constantFrom('textual' as const, 'respelled' as const)

const kinds = ['report', 'project', 'calculation'] as const
type Kind = (typeof kinds)[number]
const titleNames = { report: 'title', project: 'name', calculation: 'name' } as const
const files = {
  report: (id: string) => `reports/${id}.json`,
  project: (id: string) => `by-id/project/${id}/.project.json`,
  calculation: (id: string) => `by-id/calculation/${id}/.calculation.json`,
}

const spelled = (fields: readonly Spelled[], between = ''): string =>
  `{${fields.map(({ rawName, value }) => `${between}${rawName}:${between}${compactPrint(value)}`).join(',')}${between}}`

const quoted = (text: string): Json => ({ type: 'string', value: text, raw: JSON.stringify(text) })

t.test('opaque records survive an edit next to them', async t => {
  const testbed = await inProcess(t)
  const serve = records(testbed)
  let [last, puts] = [9_007_199_254_740_993n, 0]
  let runs = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...kinds),
      fc.array(anyField, { maxLength: 8 }),
      fc.nat(8),
      anyEdit,
      anyWriter,
      async (kind, opaque, at, edit, writer) => {
        const id = `${last++}`
        seedOf(testbed, kind, id)
        const own: Spelled[] = [
          { name: 'id', rawName: '"id"', value: numberJson(id) },
          { name: titleNames[kind], rawName: `"${titleNames[kind]}"`, value: quoted('before') },
        ]
        const before = [...opaque.slice(0, at), ...own, ...opaque.slice(at)]
        serve(kind, id, spelled(before, '\n '))
        const wanted = edited(before, edit, titleNames[kind])
        await textOf(testbed, files[kind](id))
        const text = spelled(writer === 'textual' ? wanted : respelledFields(wanted), '\t')
        const sent = await testbed.service.during(() => overwrite(testbed, files[kind](id), text))
        runs++
        const isUnchanged = meaningOf(wanted) === meaningOf(before)
        const due = isUnchanged ? [] : [sentFor({ before, wanted, writer })]
        const bodies = sent.filter(({ method }) => method === 'PUT').map(({ body }) => body)
        assert.deepEqual(bodies, due)
        puts += bodies.length
      },
    ),
    { numRuns: Number(process.env['CALCFS_TEST_RUNS'] ?? 80) },
  )
  t.comment(`${runs} opaque records, ${puts} of them sent back with an edit, character for character`)
})

/** What stood there stays as the service had spelled it; only an edited field is spelled as its writer did. */
function sentFor(one: { before: readonly Spelled[]; wanted: readonly Spelled[]; writer: string }): string {
  const { before, wanted, writer } = one
  const counts = (fields: readonly Spelled[], name: string) => fields.findLast(field => field.name === name)
  const write = (value: Json): Json => (writer === 'textual' ? value : respelled(value))
  const stayed = before.flatMap(field => {
    const now = counts(wanted, field.name)
    const then = counts(before, field.name)
    if (now === undefined || then === undefined) return []
    return [
      canonicalForm(now.value) === canonicalForm(then.value) ? field : { ...field, value: write(now.value) },
    ]
  })
  const fresh = wanted.filter(({ name }) => counts(before, name) === undefined)
  const added = fresh.map(field => ({
    ...field,
    rawName: JSON.stringify(field.name),
    value: write(field.value),
  }))
  return spelled([...stayed, ...added])
}

function edited(
  before: readonly Spelled[],
  edit: { what: 'title' | 'value' | 'remove' | 'add'; which: number; value: Json; title: string },
  titleName: string,
): readonly Spelled[] {
  const opaque = before.filter(({ name }) => name !== 'id' && name !== titleName)
  const chosen = opaque[edit.which % Math.max(1, opaque.length)]?.name
  // SAVE-2: a number as JavaScript prints it, null for one beyond a double, is no edit of it.
  const base = before.findLast(field => field.name === chosen)?.value
  const isPrinted = base?.type === 'number' && JSON.stringify(Number(base.raw)) === compactPrint(edit.value)
  const name = isPrinted ? undefined : chosen
  const set = (which: string, value: Json) =>
    before.map(field => (field.name === which ? { ...field, value } : field))
  if (edit.what === 'add' && !before.some(field => field.name === 'fresh'))
    return [...before, { name: 'fresh', rawName: '"fresh"', value: edit.value }]
  if (edit.what === 'value' && name !== undefined) return set(name, edit.value)
  if (edit.what === 'remove' && name !== undefined) return before.filter(field => field.name !== name)
  return set(titleName, quoted(edit.title))
}

const meaningOf = (fields: readonly Spelled[]): string => canonicalForm({ type: 'object', fields })

/** Another writer of JSON: everything that is not ASCII escaped, zeros appended, fields in another order where that is no matter. */
function respelled(json: Json): Json {
  switch (json.type) {
    case 'object':
      return { type: 'object', fields: respelledFields(json.fields) }
    case 'array':
      return { type: 'array', items: json.items.map(respelled) }
    case 'string':
      return { ...json, raw: asciiOf(json.value) }
    case 'number':
      return /^-?\d+\.\d+$/.test(json.raw) ? numberJson(`${json.raw}0`) : json
    case 'word':
      return json
  }
}

function respelledFields(fields: readonly Spelled[]): readonly Spelled[] {
  const isPlain = new Set(fields.map(({ name }) => name)).size === fields.length
  const inOrder = isPlain ? fields.toReversed() : fields
  return inOrder.map(({ name, value }) => ({ name, rawName: asciiOf(name), value: respelled(value) }))
}

const asciiOf = (text: string): string =>
  JSON.stringify(text).replace(/[^ -~]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** In the service's place: it holds texts, and knows nothing of what they say. */
function records({ service }: Testbed) {
  const texts = new Map<string, string>()
  const form = /^GET \/(report|project|calculation)\?id=(\d{16,})$/
  service.intercept(form, (response, { heard }) => {
    const [, kind, id] = form.exec(`GET ${heard.path}`) ?? []
    response.writeHead(200, { 'content-type': 'application/json' }).end(texts.get(`${kind} ${id}`) ?? 'null')
  })
  service.intercept(/^PUT \/(report|project|calculation)$/, (response, { heard }) => {
    const id = [...texts.keys()].findLast(key => key.startsWith(`${heard.path.slice(1)} `))
    if (id !== undefined) texts.set(id, heard.body)
    response.writeHead(200).end()
  })
  return (kind: Kind, id: string, text: string) => texts.set(`${kind} ${id}`, text)
}

/** So that the directories of the record are there. */
function seedOf({ service: { seed } }: Testbed, kind: Kind, id: string): void {
  if (kind === 'project') seed.addProject({ id, name: `p${id}`, owner: 'demo', parent: ids.water })
  if (kind === 'calculation') seed.addCalculation({ id, name: `c${id}`, project: ids.empty })
  if (kind === 'report') seed.addReport({ id, name: `r${id}`, owner: 'demo' })
}
