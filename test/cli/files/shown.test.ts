// Promises of `ls`, `find` and `cat`: what a mount shows, with a daemon and without one.
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { chance } from '../../long/chance.js'
import type { KernelTestbed } from '../../testbed/mount.js'
import { printed, run } from '../../testbed/programs.js'
import { ids } from '../../testbed/sample-data.js'
import { lines } from '../../testbed/service.js'
import { drawnFrom } from '../../testbed/variants.js'
import { type WarmTestbed, warmMount } from '../../testbed/warm-mount.js'
import { until } from '../../testbed/within.js'
import { drawnTree } from './drawn-tree.js'

t.jobs = 2

const { seed } = drawnFrom()
t.comment(`seed ${seed}`)

/** The command with a mounted drive, and with none. */
type Way = (...args: string[]) => ReturnType<KernelTestbed['calcfs']>
const ways = ({ calcfs, here, service }: KernelTestbed): readonly (readonly [string, Way])[] => [
  ['mounted', here],
  ['not mounted', (name, ...args) => calcfs(name ?? '', '--url', service.url, '--user', 'demo', ...args)],
]

/** Does the work with a mount, and then once more without one. */
async function bothWays(
  testbed: WarmTestbed,
  work: (how: string, calcfs: Way) => Promise<void>,
): Promise<void> {
  for (const [how, calcfs] of ways(testbed)) {
    if (how === 'not mounted') await testbed.end()
    await work(how, calcfs)
  }
}

const sorted = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter(line => line !== '')
    .sort()

t.test('NOFUSE-1 find, ls and cat show what a mount shows, mounted and not', async t => {
  const testbed = await warmMount(t, { adds: drawnTree(chance(seed)) })
  const { directory } = testbed
  const paths = sorted(await printed('find', ['projects'], { cwd: directory }))
  const facts = await printed('find', ['projects', '-type', 'f', '-printf', '%p\\t%s\\t%m\\t%T@\\n'], {
    cwd: directory,
  })
  const hashes = await printed(
    'bash',
    ['-c', 'find projects -type f -print0 | sort -z | xargs -0 cat -- | md5sum'],
    {
      cwd: directory,
    },
  )
  const files = sorted(
    await printed('find', ['projects', '-type', 'f'], { cwd: directory, environment: { LC_ALL: 'C' } }),
  )
  await bothWays(testbed, async (how, calcfs) => {
    const found = await calcfs('find', 'projects')
    t.match(found, { code: 0, stderr: '' }, how)
    t.same(sorted(found.stdout), paths, `${how}: names`)
    const entries: readonly { path: string; size?: number; mode: string; mtime: string; type: string }[] =
      JSON.parse((await calcfs('find', 'projects', '--type', 'f', '--json')).stdout)
    const lines = entries.map(
      ({ path, size, mode, mtime }) => `${path}\t${size}\t${mode.replace(/^0/, '')}\t${Date.parse(mtime)}`,
    )
    const expected = sorted(facts).map(line =>
      line.replace(
        /\t(\d+)\.(\d{3})\d*$/,
        (_, seconds, parts) => `\t${Number(seconds) * 1000 + Number(parts)}`,
      ),
    )
    t.same(lines.sort(), expected, `${how}: sizes, modes and times`)
    const all = await calcfs('cat', ...files)
    t.match(all, { code: 0, stderr: '' }, how)
    t.equal(
      (await printed('md5sum', [], { input: all.stdout })).split(' ')[0],
      hashes.split(' ')[0],
      `${how}: bytes`,
    )
    const listed = await calcfs('ls', '-a', 'projects', '--depth', '9')
    t.same(
      sorted(listed.stdout),
      paths
        .filter(path => path !== 'projects')
        .map(path => path.slice('projects/'.length))
        .sort(),
      `${how}: ls`,
    )
  })
})

t.test('NOFUSE-1 a path is one of the drive, or one below a mount, and links lead on', async t => {
  const testbed = await warmMount(t)
  const { directory, local } = testbed
  const index = await printed('cat', ['projects/Water splitting/.index.tsv'], { cwd: directory })
  await symlink(join(directory, 'projects'), join(local, 'mine'))
  const below = [
    `${directory}/projects/Water splitting/.index.tsv`,
    join(local, 'mine', 'Water splitting', '.index.tsv'),
  ]
  const ofDrive = [
    'projects/Water splitting/.index.tsv',
    '/projects/./Dyes/../Water splitting/.index.tsv',
    `by-id/project/${ids.water}/.index.tsv`,
    '/db/demo/Water splitting/.index.tsv',
    `reports/${ids.report}/../../by-id/project/${ids.water}/.index.tsv`,
  ]
  t.match(await testbed.calcfs('cat', ...below), { code: 0, stdout: index.repeat(below.length) })
  const own = await run('bash', ['-c', 'cd "$1/projects" && pwd', '-', directory])
  t.equal(own.code, 0)
  await bothWays(testbed, async (how, calcfs) => {
    t.match(await calcfs('cat', ...ofDrive), { code: 0, stdout: index.repeat(ofDrive.length) }, how)
    const links = await calcfs('ls', '-l', `reports/${ids.report}`)
    t.match(links.stdout, /^lrwxrwxrwx +\d+ \S+ \S+ 01-.* -> .*1234$/m, how)
    const followed = await calcfs('ls', `db/demo/Water splitting`)
    t.match(followed.stdout, /^TS1_opt$/m, `${how}: a link that is named is followed`)
    const [first = ''] = links.stdout.split('\n').flatMap(line => / (01-.*) -> /.exec(line)?.[1] ?? [])
    const log = await calcfs('cat', `reports/${ids.report}/${first}/input.inp`)
    t.match(log, { code: 0, stdout: '! B3LYP opt\n' }, `${how}: through a link`)
  })
})

t.test('NOFUSE-2 what cannot be had is named, the rest goes on, and the exit code says why', async t => {
  const testbed = await warmMount(t)
  const well = testbed.service.refuse(/^(GET|HEAD) \/calculation\/files\b.*1235/, 500)
  const forbidden = testbed.service.refuse(/\/calculation\/files\b.*1236/, 403)
  await bothWays(testbed, async (how, calcfs) => {
    const found = await calcfs('find', 'projects/Water splitting', '--name', '*.inp')
    t.match(found, { code: 1, stdout: 'projects/Water splitting/TS1_opt/input.inp\n' }, how)
    for (const name of ['H2O', 'No geometry'])
      t.match(found.stderr, new RegExp(`calcfs: .*projects/Water splitting/${name}\\b`), how)
    const none = await calcfs(
      'cat',
      'projects/Nope',
      'projects/Water splitting/TS1_opt/input.inp',
      'projects',
    )
    t.match(none, { code: 1, stdout: '! B3LYP opt\n', stderr: /Nope.*\n.*is a directory/ }, how)
    t.match(
      await calcfs('ls', 'nope', 'projects'),
      { code: 1, stdout: /Water splitting/, stderr: /nope/ },
      how,
    )
  })
  well()
  forbidden()
  await testbed.service.leave()
  const [, [, unmounted]] = ways(testbed) as [unknown, [string, Way]]
  const known = await unmounted('find', 'projects/Water splitting', '--name', 'input.inp')
  t.match(
    known,
    { stdout: 'projects/Water splitting/TS1_opt/input.inp\n', stderr: /shows what is known/ },
    'away',
  )
  const unknown = await unmounted('cat', `by-id/calculation/${ids.indigo}/output.cml`)
  t.match(unknown, { code: 4, stdout: '' }, 'what was never seen')
})

t.test('NOFUSE-4 find means what find(1) means', async t => {
  const testbed = await warmMount(t, { adds: drawnTree(chance(seed + 1)) })
  const { directory } = testbed
  const cases: readonly (readonly string[])[] = [
    ['--name', '*.xyz'],
    ['--name', '.*'],
    ['--name', '*'],
    ['--name', '?*.*'],
    ['--name', '[a-m]*', '--name', '*[!.]*'],
    ['--name', '{a,b}*'],
    ['--iname', '*.CML'],
    ['--path', 'projects/*/*.cml'],
    ['--type', 'd', '--maxdepth', '2'],
    ['--type', 'f,d', '--mindepth', '2', '--maxdepth', '3'],
    ['--type', 'l'],
    ['--maxdepth', '0'],
    ['--mindepth', '9'],
  ]
  const expected = await Promise.all(
    cases.map(words => printed('find', ['projects', ...findWords(words)], { cwd: directory })),
  )
  await bothWays(testbed, async (how, calcfs) => {
    // Each way of starting is tried with all of them; a process without a daemon takes a while.
    for (const [at, words] of cases.entries()) {
      if (how === 'not mounted' && at % 3 !== seed % 3) continue
      const found = await calcfs('find', 'projects', ...words)
      t.same(sorted(found.stdout), sorted(expected[at] ?? ''), `${how}: ${words.join(' ')}`)
    }
    const calculations = await calcfs('find', 'projects/Water splitting', '--type', 'calculation')
    t.same(
      sorted(calculations.stdout),
      ['H2O', 'No geometry', 'TS1_opt'].map(name => `projects/Water splitting/${name}`),
      how,
    )
  })
})

/** find(1) wants its depths first. */
const findWords = (words: readonly string[]): readonly string[] => {
  const single = words.map(word => word.replace(/^--/, '-'))
  const depths = single.flatMap((word, at) => (/depth$/.test(word) ? [word, single[at + 1] ?? ''] : []))
  const others = single.filter((word, at) => !/depth$/.test(word) && !/depth$/.test(single[at - 1] ?? ''))
  return [...depths, ...others]
}

t.test('NOFUSE-4 a tree is asked for side by side, however slow the service is', async t => {
  const fill = (seed: Seed): void => {
    for (let project = 201; project <= 220; project += 1) {
      seed.addProject({ id: String(project), name: `project ${project}`, owner: 'demo' })
      seed.addCalculation({
        id: String(1000 + project),
        name: 'c',
        project: String(project),
        files: { a: 'x' },
      })
    }
  }
  for (const how of ['mounted', 'not mounted']) {
    const testbed = await warmMount(t, { fill })
    const [mounted, unmounted] = ways(testbed)
    const [, calcfs] = (how === 'mounted' ? mounted : unmounted) ?? []
    if (how === 'not mounted') await testbed.end()
    const question = /^GET \/(project|calculation)\S*\b(id|\w+Id)=2[012]\d\b/
    const held = testbed.service.hold(question, 'request')
    const before = testbed.service.heard.length
    const asked = () => lines(testbed.service.heard.slice(before)).filter(line => question.test(line)).length
    const finding = calcfs?.('find', 'projects', '--type', 'f')
    await until(30_000, `${how}: questions side by side`, () => asked() >= 16)
    held.open()
    t.match(await finding, { code: 0, stderr: '' }, how)
  }
})
