// Common programs for browsing, searching and copying, run on a real mount.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { printed, python, run } from '../testbed/programs.js'
import { fillSampleData, ids, log } from '../testbed/sample-data.js'
import { warmMount } from '../testbed/warm-mount.js'

t.setTimeout(240_000)

const calculation = 'projects/Water splitting/TS1_opt'

t.test('programs that read', async t => {
  const testbed = await warmMount(t)
  const { directory, local } = testbed
  const here = (program: string, ...args: string[]): Promise<string> =>
    printed(program, args, { cwd: directory })
  const sum = (await printed('md5sum', [], { input: log })).split(' ')[0]

  t.test('find finds by kind, name and size', async t => {
    t.equal(await here('find', 'projects', '-type', 'f', '-size', '+100k'), `${calculation}/run.log\n`)
    t.equal((await here('find', 'projects', '-name', '*.xyz')).trim().split('\n').length, 2)
  })

  t.test('md5sum, head, tail, wc, du and grep see the bytes of the service', async t => {
    t.ok((await here('md5sum', `${calculation}/run.log`)).startsWith(sum ?? 'no sum'))
    t.equal(await here('head', '-n', '1', `${calculation}/run.log`), '000000000\n')
    t.equal(await here('tail', '-n', '1', `${calculation}/run.log`), '000029999\n')
    t.match(await here('wc', '-c', `${calculation}/run.log`), /^300000 /)
    t.match(await here('du', '--apparent-size', '-b', `${calculation}/run.log`), /^300000\t/)
    t.match(await here('grep', '-rl', 'elementType="O"', 'projects'), /TS1_opt\/output\.cml/)
    t.match(await here('sed', '-n', '2p', `${calculation}/run.log`), /^000000001$/m)
  })

  t.test('cp -a, rsync and tar copy bytes and times', async t => {
    await here('cp', '-a', calculation, join(local, 'copied'))
    await here('rsync', '-a', `${calculation}/`, join(local, 'synced'))
    await printed('bash', ['-c', `tar -cf - '${calculation}' | tar -xf - -C '${local}'`], { cwd: directory })
    for (const copy of ['copied', 'synced', calculation]) {
      t.equal(await readFile(join(local, copy, 'run.log'), 'utf8'), log, copy)
      t.equal((await run('diff', ['-r', calculation, join(local, copy)], { cwd: directory })).code, 0, copy)
    }
  })

  t.test('a second rsync finds nothing to do', async t => {
    t.equal(await here('rsync', '-a', '--itemize-changes', `${calculation}/`, join(local, 'synced')), '')
  })
})

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
    fill(seed) {
      fillSampleData(seed)
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
