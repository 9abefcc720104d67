// Programs that compute in doubles save records with numbers that a double cannot hold: digits stay, rows stay the same rows.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { type JsonObject, numberJson, withField } from '../../src/record/json/json.js'
import { parseObject } from '../../src/record/json/parse.js'
import { compactPrint } from '../../src/record/json/print.js'
import type { KernelTestbed } from '../testbed/mount.js'
import { shell } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { writes } from '../testbed/service.js'
import { drawnFrom } from '../testbed/variants.js'
import { warmMount } from '../testbed/warm-mount.js'

const cases = Number(process.env['CALCFS_TEST_RUNS'] ?? 12)
const { seed, draw } = drawnFrom()
t.comment(`seed ${seed}`)
const drawn = <One>(all: readonly One[]): One => all[draw(all.length)] as One

/** Each takes a record from `$from`, changes it, and puts it into `$into`. */
interface Program {
  readonly name: string
  readonly line: (change: Change) => string
}
type Change = 'title' | 'drop' | 'turn' | 'nothing'

const jq = {
  title: '.title="x"',
  drop: 'del(.calculations[0])',
  turn: '.calculations|=reverse',
  nothing: '.',
}
const python = {
  title: 'd["title"]="x"',
  drop: 'del d["calculations"][0]',
  turn: 'd["calculations"].reverse()',
  nothing: 'pass',
}
const javaScript = {
  title: 'd.title="x"',
  drop: 'd.calculations.shift()',
  turn: 'd.calculations.reverse()',
  nothing: '0',
}
const perl = {
  title: '$d->{title}="x"',
  drop: 'shift @{$d->{calculations}}',
  turn: '@{$d->{calculations}}=reverse @{$d->{calculations}}',
  nothing: '1',
}
const programs: readonly Program[] = [
  { name: 'jq', line: change => `jq '${jq[change]}' "$from" > "$copy" && cp "$copy" "$into"` },
  { name: 'jq in place', line: change => `jq -c '${jq[change]}' "$from" > "$copy" && cat "$copy" > "$into"` },
  {
    name: 'python3',
    line: change =>
      `/usr/bin/python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); ${python[change]}; json.dump(d,open(sys.argv[2],"w"))' "$from" "$into"`,
  },
  {
    name: 'node',
    line: change =>
      `env -u NODE_OPTIONS node -e 'const f=require("fs"),[,a,b]=process.argv;const d=JSON.parse(f.readFileSync(a));${javaScript[change]};f.writeFileSync(b,JSON.stringify(d))' "$from" "$into"`,
  },
  {
    name: 'perl',
    line: change =>
      `perl -MJSON::PP -0777 -ne '$d=decode_json($_);${perl[change]};print encode_json($d)' "$from" > "$copy" && mv "$copy" "$into"`,
  },
]

const through = (testbed: KernelTestbed, { line }: Program, change: Change, [from, into]: [string, string]) =>
  shell(
    `from='${from}' into='${into}' copy='${join(testbed.local, 'copy')}'; ${line(change)}`,
    testbed.directory,
  )

/** Some so near that they print as one. */
const longIds = Array.from({ length: 7 }, (_, at) => (9007199254740990n + BigInt(at)).toString())

function drawnNumber(): string {
  const digits = (many: number) => Array.from({ length: many }, () => draw(10)).join('')
  return drawn([
    () => `1${digits(19)}`,
    () => `-9007199254740${digits(3)}`,
    () => `0.${digits(20)}1`,
    () => `${draw(1000)}.${digits(18)}0`,
    () => '0.10',
    () => '1e2',
    () => `1.${digits(17)}e-${draw(300)}`,
    () => `2${digits(24)}`,
  ])()
}

const numbers = (): string =>
  `{"sum":${drawnNumber()},"nested":{"list":[${[1, 2, 3].map(drawnNumber).join()}]},"mass":${drawnNumber()}}`

interface Row {
  readonly id: string
  readonly title: string
}
const reports = Array.from({ length: cases }, (_, at) => ({
  id: String(700 + at),
  rows: longIds.filter(() => draw(2) === 0).map((id, turn): Row => ({ id, title: `Row ${turn}` })),
  fields: numbers(),
}))

const stored = (testbed: KernelTestbed, query: string): Promise<string> =>
  testbed.service.elsewhere('GET', query)
const calculationsIn = (text: string): readonly string[] =>
  [...text.matchAll(/"calcId":\s*(\d+)/g)].map(([, id]) => id ?? '')

t.test('SAVE-2 numbers that programs have rounded', async t => {
  const testbed = await warmMount(t, {
    adds(seed) {
      for (const id of longIds)
        seed.addCalculation({ id, name: `long ${id}`, project: ids.empty, files: { 'a.in': 'x' } })
      for (const { id, rows, fields } of reports)
        seed.addReport({ id, name: `R ${id}`, title: `T ${id}`, owner: 'demo', calculations: rows, fields })
      seed.addProject({ id: '9007199254740997', name: 'Long', owner: 'demo', fields: numbers() })
    },
  })

  for (const [at, { id, rows }] of reports.entries()) {
    const program = programs[at % programs.length] as Program
    const change = drawn<Change>(['title', 'drop', 'turn', 'nothing'])
    await t.test(`${program.name}, ${change}, ${rows.length} rows (seed ${seed}, ${at})`, async t => {
      const before = await stored(testbed, `/report?id=${id}`)
      const heard = testbed.service.heard.length
      const ran = await through(testbed, program, change, [`reports/${id}.json`, `reports/${id}.json`])
      const after = await stored(testbed, `/report?id=${id}`)
      const sent = writes(testbed.service.heard.slice(heard))
      const old = calculationsIn(before)
      const wanted = change === 'drop' ? old.slice(1) : change === 'turn' ? old.toReversed() : old
      if (ran.code !== 0) {
        t.match(ran.stderr, /Invalid argument|EINVAL/)
        t.same(sent, [], 'nothing was sent')
        t.equal(after, before)
        return
      }
      t.same(calculationsIn(after), wanted, 'the rows that are meant')
      t.equal(
        sent.length,
        change === 'nothing' || (wanted.join() === old.join() && change !== 'title') ? 0 : 1,
      )
      for (const name of ['sum', 'nested', 'mass']) {
        const field = new RegExp(`"${name}":(\\{.*?\\}|[^,}]*)`)
        t.equal(field.exec(after)?.[1], field.exec(before)?.[1], `${name} as it was`)
      }
    })
  }

  await t.test(
    'a copy of a report through jq, without its id too, is a report of the same calculations',
    async t => {
      const [{ id } = { id: '' }] = reports.filter(({ rows }) => rows.length > 1)
      const withoutId: Program = {
        name: 'jq',
        line: () => `jq 'del(.id)' "$from" > "$copy" && cp "$copy" "$into"`,
      }
      for (const [at, program] of [...programs.slice(0, 1), withoutId].entries()) {
        const path = `reports/new-${at}.json`
        const calculations = async () => calculationsIn(await readFile(join(testbed.directory, path), 'utf8'))
        const ran = await through(testbed, program, 'title', [`reports/${id}.json`, path])
        if (ran.code !== 0) t.match(ran.stderr, /Invalid argument/)
        else {
          const copied = await calculations()
          t.same(copied, calculationsIn(await stored(testbed, `/report?id=${id}`)))
          t.match(await through(testbed, program, 'nothing', [path, path]), { code: 0 })
          t.same(await calculations(), copied)
        }
      }
    },
  )

  for (const program of programs)
    await t.test(`${program.name}: a project with a long id and long numbers`, async t => {
      const file = 'projects/Long/.project.json'
      const before = parseObject(await stored(testbed, '/project?id=9007199254740997'))
      const ran = await through(testbed, program, 'title', [file, file])
      t.same(ran, { code: 0, stdout: '', stderr: '' })
      const after = parseObject(await stored(testbed, '/project?id=9007199254740997'))
      for (const name of ['id', 'sum', 'nested', 'mass']) t.equal(said(after, name), said(before, name), name)
    })

  await t.test('an edit of one digit by a program that keeps them is an edit', async t => {
    const path = join(testbed.directory, 'projects/Long/.project.json')
    const text = await readFile(path, 'utf8')
    const edited = withField(parseObject(text), 'sum', numberJson('9007199254740993'))
    await writeFile(path, compactPrint(edited))
    t.equal(
      said(parseObject(await stored(testbed, '/project?id=9007199254740997')), 'sum'),
      '9007199254740993',
    )
  })
})

const said = (record: JsonObject, name: string): string | undefined => {
  const value = record.fields.find(field => field.name === name)?.value
  return value && compactPrint(value)
}
