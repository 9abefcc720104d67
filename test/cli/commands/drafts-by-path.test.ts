// Promises of `calcfs drafts` by path, of all drives at once, and of the words that status, drafts and why share.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { calcfs as program } from '../../testbed/daemon.js'
import { whereOnly } from '../../testbed/machine/own-mounts.js'
import type { KernelTestbed } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { type WarmTestbed, warmMount } from '../../testbed/warm-mount.js'

t.jobs = 3

const water = 'projects/Water splitting'
const record = `${water}/.project.json`
const order = `reports/${ids.report}/order.txt`
const drafts = ({ calcfs }: KernelTestbed, ...args: string[]) => calcfs('drafts', ...args)

/** A project's record, an order, a report and a new report, each with a text that cannot be saved. */
async function withFour(t: Test): Promise<WarmTestbed> {
  const testbed = await warmMount(t)
  for (const [path, text] of [
    [record, '{ no project'],
    [order, 'nonsense\n'],
    ['reports/43.json', '{ no report'],
    ['reports/new-x.json', '{"name":"X"}'],
  ] as const)
    t.equal(await outcome(overwrite(testbed, path, text)), 'EINVAL', path)
  return testbed
}

t.test('CLI-26 a draft is named by its path as well: show, diff, send and drop', async t => {
  const testbed = await withFour(t)
  const { calcfs, directory, here } = testbed
  const paths: readonly (readonly [string, string, string])[] = [
    [record, `project-${ids.water}.json`, '{ no project'],
    [order, `${ids.report}-order.txt`, 'nonsense\n'],
    ['reports/43.json', '43.json', '{ no report'],
    ['reports/new-x.json', 'new-x.json', '{"name":"X"}'],
  ]
  for (const [path, name, text] of paths) {
    for (const given of [join(directory, path), path, `/${path}`, name, `.calcfs/drafts/${name}`])
      t.match(
        await (given.startsWith(directory) ? calcfs : here)('drafts', 'show', given),
        { code: 0, stdout: text, stderr: '' },
        given,
      )
  }
  t.match(await drafts(testbed, 'show', join(directory, 'by-id/project', ids.water, '.project.json')), {
    code: 0,
    stdout: '{ no project',
  })
  // A link on the way, and a directory, which stands for its record: as for `why`, `info` and `history`.
  const title = record.split('/')[1] ?? ''
  for (const given of [
    `/db/demo/${title}/.project.json`,
    `db/demo/${title}/.project.json`,
    `projects/${title}`,
    `/db/demo/${title}`,
  ])
    for (const one of [join(directory, given), given])
      t.match(
        await (one === given ? here : calcfs)('drafts', 'show', one),
        { code: 0, stdout: '{ no project', stderr: '' },
        one,
      )
  const saved = await drafts(testbed, 'show', join(directory, 'reports/42.json'))
  t.match(saved, { code: 1, stderr: /there is no draft \S+reports\/42\.json; there are / })

  t.match(await drafts(testbed, 'diff', join(directory, 'reports/43.json')), { code: 0, stdout: /no report/ })
  const sent = await testbed.service.during(async () => {
    t.match(await drafts(testbed, 'send', join(directory, record)), { code: 1, stderr: /not JSON/ })
    t.match(await drafts(testbed, 'drop', join(directory, record)), {
      code: 0,
      stdout: new RegExp(
        `^project-${ids.water}\\.json is given up, project 100 is as the service has it; its`,
      ),
    })
    t.match(await drafts(testbed, 'drop', join(directory, order)), { code: 0, stdout: /order of report 42/ })
  })
  t.same(writes(sent), [])
  await overwrite(testbed, 'reports/new-x.json', '{"name":"X","reportType":"9"}').catch(() => {})
  t.match(await drafts(testbed, 'drop', join(directory, 'reports/new-x.json')), {
    code: 0,
    stdout: /was not sent/,
  })
})

t.test(
  'CLI-26 a path means what stands there, whatever other draft is called like its last name',
  async t => {
    const testbed = await warmMount(t)
    const { directory, service } = testbed
    service.seed.addShare({ id: ids.report, project: ids.water, user: 'guest', permission: 'READ' })
    t.equal(await outcome(overwrite(testbed, 'reports/42.json', '{ no report')), 'EINVAL')
    t.equal(await outcome(overwrite(testbed, `${water}/.shares/42.json`, '{ no share')), 'EINVAL')
    const share = join(directory, water, '.shares', '42.json')
    t.match(await drafts(testbed, 'show', share), { code: 0, stdout: '{ no share' })
    t.match(await testbed.here('drafts', 'show', '42.json'), { stdout: '{ no report' })
    t.match(await drafts(testbed, 'drop', share), { code: 0, stdout: /^share-42\.json is given up/ })
    t.match(await drafts(testbed, 'drop', share), { code: 1, stderr: /there is no draft/ })
    t.match(await testbed.here('drafts', 'show', '42.json'), { stdout: '{ no report' })
  },
)

t.test(
  'CLI-26 status, drafts and why call a draft by one name, and refused is what the service refused',
  async t => {
    const testbed = await withFour(t)
    const { directory, calcfs, service } = testbed
    const names = [`project-${ids.water}.json`, `${ids.report}-order.txt`, '43.json', 'new-x.json']
    const list = JSON.parse((await testbed.here('drafts', 'list', '--json')).stdout)
    t.same(list.map(({ name }: { name: string }) => name).sort(), [...names].sort())
    t.same(new Set(list.map(({ state }: { state: string }) => state)), new Set(['not-saved']))
    const [status] = JSON.parse((await calcfs('status', '--json', directory)).stdout)
    for (const { name, record, path, state, why } of list)
      t.match(
        status.unsent.find((one: { name: string }) => one.name === name),
        { record, path, state, why },
        name,
      )
    const text = (await calcfs('status', directory)).stdout
    for (const { name, record, path } of list)
      t.match(text, `    ${name}: ${record} (${path.slice(1)}), not saved since `)
    t.notMatch(text, /refused/, 'the service was asked nothing')
    for (const { name, path } of list)
      t.match((await calcfs('why', join(directory, path))).stdout, `\nThe draft: ${name}\n`, name)

    const refuse = service.refuse(/^PUT \/project/, 403, 'no')
    const whole = await textOf(testbed, `projects/Water splitting/H2O/.calculation.json`)
    t.ok(whole)
    await calcfs('drafts', 'drop', join(directory, record))
    await testbed.pass(2_500)
    const present = await textOf(testbed, record)
    t.equal(
      await outcome(overwrite(testbed, record, present.replace(/("description": )"[^"]*"/, '$1"X"'))),
      'EACCES',
    )
    refuse()
    t.match(
      (await calcfs('status', directory)).stdout,
      /^ {4}project-100\.json: project 100 .*, refused since /m,
    )
  },
)

t.test('CLI-10 drop --all asks once on a terminal, and without one wants --yes', async t => {
  const testbed = await withFour(t)
  const { here } = testbed
  const unasked = /43\.json: report 43(.|\n)*no terminal to ask at; say --yes/
  t.match(await here('drafts', 'drop', '--all'), { code: 2, stderr: unasked })
  t.match(await here('drafts', 'drop'), { code: 2, stderr: /name one draft, or say --all/ })
  t.equal(JSON.parse((await here('drafts', 'list', '--json')).stdout).length, 4, 'nothing is given up')
  await testbed.service.sends(t, [], async () => {
    const all = await here('drafts', 'drop', '--all', '--yes')
    t.match(all, { code: 0, stderr: '' })
    t.equal(all.stdout.match(/ is given up.*its text lies in /g)?.length, 4)
  })
  t.match(await here('drafts', 'list'), { code: 0 })
  t.match(await here('drafts', 'drop', '--all'), { code: 0, stdout: 'everything is saved.\n' })
})

t.test('CLI-11 without a drive named any command lists the drives that may be meant', async t => {
  const [one, two] = await Promise.all([warmMount(t), warmMount(t)])
  const wish = { settings: { user: 'guest' }, password: 'guest' }
  const three = await warmMount(t, wish, { service: one.service, home: one.home })
  t.equal(await outcome(overwrite(one, 'reports/43.json', '{ no report')), 'EINVAL')
  t.equal(await outcome(overwrite(two, order, 'nonsense\n')), 'EINVAL')
  const named = join(one.home, 'named.toml')
  await writeFile(named, `url = "${one.service.url}"\nuser = "demo"\n`)
  await writeFile(`${named}2`, `url = "${one.service.url}"\n`)
  const lines = `
    drafts() { echo "> $*"; ${process.execPath} ${program} drafts "$@"; echo "ended with $?"; }
    { drafts list; drafts show 43.json; drafts show '${one.directory}/reports/43.json'; echo
      drafts send --all; drafts drop --all --yes; drafts list --mount '${one.directory}'; drafts show 43.json --config '${named}'
      drafts show 43.json --config '${named}2'; } 2>&1
  `
  const { stdout } = await whereOnly([one.directory, two.directory, three.directory], lines, {
    HOME: one.home,
    XDG_RUNTIME_DIR: join(one.home, 'run'),
  })
  const [, list, show, path, send, drop, left, configured, vague] = stdout.split(/^> .*\n/m)
  t.match(path, '{ no reportended with 0\n')
  t.match(configured, '{ no reportended with 0\n', 'a file that names a service chooses')
  const both = `${one.directory}, ${three.directory}; name one with --mount or --user.`
  t.match(vague, `several drives are mounted: ${both}\nended with 2\n`, 'both are drives of the service')
  for (const name of ['43.json', '42-order.txt']) t.match(list, `  ${name}: `, 'all are listed')
  for (const refused of [show, send, drop]) {
    t.match(refused, /several drives are mounted: .*; name one with --mount.*\nended with 2\n$/)
    for (const { directory } of [one, two]) t.match(refused, directory)
  }
  t.match(left, /^43\.json: report 43 .*\n(.*\n)*ended with 7\n$/, 'nothing is sent or given up')
})
