// Promises of `calcfs report`: made known, set unseen by an explicit wish, and renumbered with its formulas.
import t from 'tap'
import { brief, molecules, numbered } from '../../semantics/reading/recreated-service.js'
import type { KernelTestbed } from '../../testbed/mount.js'
import { writes } from '../../testbed/service.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.jobs = 3

const report = ({ here }: KernelTestbed, ...args: string[]) => here('report', ...args)

/** The ids in the service's list. */
async function orderOf({ service }: KernelTestbed, id: string): Promise<readonly string[]> {
  const record = JSON.parse(await service.elsewhere('GET', `/report?id=${id}`))
  return record.calculations.map((row: { calcId: number }) => String(row.calcId))
}

const configurationOf = async ({ service }: KernelTestbed, id: string): Promise<unknown> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${id}`)).configuration

t.test('add lists a report that exists, and no other (CLI-13)', async t => {
  const testbed = await warmMount(t)
  t.notOk((await namesOf(testbed, 'reports')).includes('43.json'))
  t.match(await report(testbed, 'add', '43', '42'), {
    code: 0,
    stdout: /^report 43 is listed: .*\nreport 42 is listed: /,
  })
  t.ok((await namesOf(testbed, 'reports')).includes('43.json'))
  t.match(await report(testbed, 'add', '99', 'x', '43'), {
    code: 1,
    stdout: /^report 43 is listed: Profile\n$/,
    stderr: /^calcfs: the service has no report 99.*\ncalcfs: x is no number.*\n$/,
  })
  testbed.service.refuse(/^GET \/report\?id=98/, 403, 'not yours')
  t.match(await report(testbed, 'add', '98'), {
    code: 1,
    stderr: /^calcfs: you may not see report 98: ask its owner \(the service said: not yours\)/,
  })
  t.match(await report(testbed, 'add', 'x'), { code: 2, stderr: /x is no number of a report/ })
  t.notOk((await namesOf(testbed, 'reports')).includes('99.json'))
})

t.test("CMD-15 what a colleague's title would do to a terminal or a table is escaped", async t => {
  const testbed = await warmMount(t)
  const { calcfs, here, directory, service } = testbed
  const title = 'Pro\u001b]0;owned\u0007file\u009b31m\tof\u0085all\u007f'
  await service.edit('report', '43', { title })
  const path = 'reports/43.json'
  const said: string[] = []
  for (const line of [
    ['report', 'add', '43'],
    ['info', path],
    ['info', path, '--json'],
    ['why', path],
    ['history', path],
    ['ls', '-l', 'reports/by-name'],
    ['find', 'reports', '--name', '*'],
    ['pin', path],
    ['pins'],
    ['status', directory],
  ]) {
    const { stdout, stderr } = await (line[0] === 'status' ? calcfs : here)(...line)
    t.notMatch(stdout + stderr, /[^\P{Cc}\n\t]/u, `${line.join(' ')}: nothing that a terminal obeys`)
    said.push(stdout)
  }
  t.match(said[0], /is listed: Pro\\u001b\]0;owned\\u0007file\\u009b31m/)
  t.equal(JSON.parse(said[2] ?? '').title, title, 'JSON means the title itself')
  for (const table of ['reports/INDEX.tsv', 'reports/43/order.txt'])
    t.notMatch(await textOf(testbed, table), /[^\P{Cc}\n\t]/u, table)
  t.match(await textOf(testbed, 'reports/INDEX.tsv'), /\tPro%1B\]0;owned%07file%C2%9B31m%09of%C2%85all%7F\t/)
})

t.test('set replaces the list by ids and paths, titles of rows that stay are kept (CLI-13)', async t => {
  const testbed = await warmMount(t)
  const { service, directory } = testbed
  const sent = await service.during(async () => {
    const args = [
      '1236',
      'projects/Water splitting/TS1_opt',
      '/db/guest/Dyes/Indigo',
      `${directory}/by-id/calculation/1235`,
    ]
    t.match(await report(testbed, 'set', '42', ...args), {
      code: 0,
      stdout: 'report 42 has 1236, 1234, 1300, 1235.\n',
    })
  })
  t.same(await orderOf(testbed, '42'), ['1236', '1234', '1300', '1235'])
  t.match(writes(sent)[0], 'PUT /report/calculations')
  t.match(await service.elsewhere('GET', '/report?id=42'), 'Transition state')
  await service.sends(t, [], async () => {
    t.match(await report(testbed, 'set', '42', '777'), { code: 2, stderr: /there is no calculation 777/ })
    t.match(
      await report(testbed, 'set', '42'),
      { code: 2, stderr: /--clear/ },
      'nothing is cleared by accident',
    )
    t.match(await report(testbed, 'set', '42', '1234', '--clear'), { code: 2, stderr: /--clear alone/ })
    t.match(await report(testbed, 'set', '43', '1235', '1234'), {
      code: 2,
      stderr: /what the formulas .* mean/,
    })
  })
  t.match(await report(testbed, 'set', '42', '--clear'), {
    code: 0,
    stdout: 'report 42 has no calculations.\n',
  })
  t.same(await orderOf(testbed, '42'), [])
  t.notOk((await testbed.files.readdir('.calcfs/drafts')).size, 'no draft is left behind')
})

t.test('renumber takes the order of the unsent draft and rewrites the formulas with it (CLI-12)', async t => {
  const testbed = await warmMount(t)
  const path = 'reports/43.json'
  const swapped = swapRows(await textOf(testbed, path))
  t.equal(
    await outcome(overwrite(testbed, path, swapped)),
    'EINVAL',
    'the order alone would change the formulas',
  )
  await testbed.service.sends(t, ['PUT /report/calculations', 'PUT /report'], async () => {
    const { code, stdout } = await report(testbed, 'renumber', '43')
    t.equal(code, 0)
    t.equal(stdout, 'report 43 has 1235, 1234.\n  c1 c1+c2  →  c2 c2+c1\n')
  })
  t.same(await orderOf(testbed, '43'), ['1235', '1234'])
  t.equal(await configurationOf(testbed, '43'), 'c2\nc2+c1')
  t.notOk((await testbed.files.readdir('.calcfs/drafts')).has('43.json'), 'the draft is gone')
  t.match(await textOf(testbed, path), /"c2\\nc2\+c1"/)
})

t.test('THING-3 renumber takes no unsent text of an earlier report of that number', async t => {
  const testbed = await warmMount(t, { fill: numbered(molecules), settings: brief })
  const path = 'reports/42.json'
  const text = await textOf(testbed, path)
  await testbed.service.remake(numbered(molecules.toReversed()))
  t.equal(await outcome(overwrite(testbed, path, swapRows(text.replace('Of water', 'Mine')))), 'ESTALE')
  await testbed.service.sends(t, [], async () => {
    t.match(await report(testbed, 'renumber', '42'), { code: 2, stderr: /has no unsent order/ })
  })
})

t.test('renumber takes an order by ids; what a formula needs must stay in it (CLI-12)', async t => {
  const testbed = await warmMount(t)
  t.match(await report(testbed, 'renumber', '43', '1236', '1235', '1234'), { code: 0 })
  t.same(await orderOf(testbed, '43'), ['1236', '1235', '1234'])
  t.equal(await configurationOf(testbed, '43'), 'c3\nc3+c2')
  await testbed.service.sends(t, [], async () => {
    const less = await report(testbed, 'renumber', '43', '1236', '1234')
    t.match(less, { code: 2, stderr: /leaves out 1235.*one save of reports\/43\.json/ })
    const set = await report(testbed, 'set', '43', '1236')
    t.match(set, { code: 2, stderr: /changed together in reports\/43\.json: in one save of / })
    t.notMatch(set.stderr, 'renumber', 'which takes no row away')
    t.equal(await outcome(overwrite(testbed, 'reports/43/order.txt', '1236\n1234\n')), 'EINVAL')
    const lost = await report(testbed, 'renumber', '43')
    t.match(lost, { code: 2, stderr: /c2 is calculation 1235; keep them in the list/ })
    t.match(await report(testbed, 'renumber', '42'), { code: 2, stderr: /report 42 has no unsent order/ })
  })
  t.match(await report(testbed, 'renumber', '43', '1234', '1235', '1236'), { code: 0 })
  const { stdout } = await testbed.calcfs('history', `${testbed.directory}/reports/43/order.txt`)
  t.match(stdout, /^@\d+ .*not saved, and given up/, 'a copy of the unsent order is kept')
})

function swapRows(text: string): string {
  const record = JSON.parse(text)
  record.calculations.reverse()
  return `${JSON.stringify(record, null, 2)}\n`
}
