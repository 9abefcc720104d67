// The tables of a drive in Python's csv, which reads and writes them.
import { join } from 'node:path'
import t from 'tap'
import { printed, python } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { warmMount } from '../testbed/warm-mount.js'

const names = ['"half quoted', '"whole"', 'in "the" middle', '"a" b', "'single'", 'plain']

/** Reads a table, prints it as JSON, and writes it where a second file is named. */
const script = `import csv, json, sys
rows = list(csv.reader(open(sys.argv[1], newline=""), delimiter="\\t"))
print(json.dumps(rows))
if len(sys.argv) > 2:
    with open(sys.argv[2], "w", newline="") as out:
        csv.writer(out, delimiter="\\t").writerows(rows)`

t.test('LIST-4 ORDER-1 tables in Python’s csv', async t => {
  const testbed = await warmMount(t, {
    adds(seed) {
      for (const [at, name] of names.entries())
        seed.addCalculation({ id: String(800 + at), name, project: ids.empty, files: { 'a.in': 'x' } })
      const calculations = names.map((title, at) => ({ id: String(800 + at), title }))
      seed.addReport({ id: '88', name: '"A report"', title: '"A report"', owner: 'demo', calculations })
    },
  })
  const rowsOf = async (path: string, ...more: string[]): Promise<string[][]> =>
    JSON.parse(await printed(python, ['-c', script, join(testbed.directory, path), ...more]))

  const [head = [], ...rows] = await rowsOf('projects/Water splitting/Sub project/.index.tsv')
  t.same(head.slice(0, 3), ['id', 'kind', 'name'])
  t.ok(head.length > 3, 'a column for each field of the listing')
  t.same(rows.map(row => row[2]).toSorted(), names.toSorted())
  for (const row of rows) {
    t.equal(row.length, head.length)
    t.notOk(
      row.some(cell => cell.startsWith('{')),
      'plain columns',
    )
  }

  const order = join(testbed.directory, 'reports/88/order.txt')
  await testbed.service.sends(t, [], 'written again by csv it says the same', async () => {
    const lines = await rowsOf('reports/88/order.txt', order)
    t.same(
      lines.map(([, title]) => title),
      names,
    )
  })
  await printed('cat', [join(testbed.directory, 'reports/88.json')])
  const reports = await rowsOf('reports/INDEX.tsv')
  t.ok(reports.some(([id, title]) => id === '88' && title === '"A report"'))
})
