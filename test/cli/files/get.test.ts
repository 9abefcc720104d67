// Promises of `calcfs get`: a copy is what `cp -r` from the mount makes, with a daemon and without one, and nothing is fetched twice.
import {
  appendFile,
  chmod,
  lstat,
  mkdir,
  readFile,
  readlink,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { chance } from '../../long/chance.js'
import { printed } from '../../testbed/programs.js'
import type { ReceivedRequest } from '../../testbed/proxy.js'
import { ids } from '../../testbed/sample-data.js'
import { outcome } from '../../testbed/testbed.js'
import { drawnFrom } from '../../testbed/variants.js'
import { type WarmTestbed, warmMount } from '../../testbed/warm-mount.js'
import { drawnTree } from './drawn-tree.js'

const { seed } = drawnFrom()
t.comment(`seed ${seed}`)

const water = 'projects/Water splitting'
const contents = (asked: readonly ReceivedRequest[]): readonly string[] =>
  asked.map(({ path }) => path).filter(path => /bitstream|\/calculation\/xyz/.test(path))

/** What a tree is, without the number of links and the bytes of directories. */
const facts = (directory: string, cwd: string): Promise<string> =>
  printed(
    'bash',
    [
      '-c',
      'cd "$1" && find . -printf "%y %P %m %l\\t%T@\\n" | sed "s/0*$//" | LC_ALL=C sort; find . -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum',
      '-',
      directory,
    ],
    { cwd },
  )

const get = ({ here }: WarmTestbed, ...args: string[]) => here('get', ...args)
const getUnmounted = ({ calcfs, service }: WarmTestbed, ...args: string[]) =>
  calcfs('get', '--url', service.url, '--user', 'demo', ...args)

t.test('NOFUSE-6 get makes the tree that a mount shows, and fetches nothing a second time', async t => {
  const testbed = await warmMount(t, { adds: drawnTree(chance(seed)) })
  const { local, directory, service } = testbed
  const expected = await facts(join(directory, 'projects'), local)
  t.match(await get(testbed, 'projects', '--to', join(local, 'a')), { code: 0, stderr: '' }, 'mounted')
  t.equal(await facts(join(local, 'a', 'projects'), local), expected, 'mounted')
  await testbed.end()
  const unmounted = await getUnmounted(testbed, 'projects', '--as', join(local, 'b'), '--jobs', '3', '--json')
  t.match(unmounted, { code: 0, stderr: '' }, 'not mounted')
  t.match(JSON.parse(unmounted.stdout), { same: 0, links: 0, problems: [] })
  t.equal(await facts(join(local, 'b'), local), expected, 'not mounted')
  const again = await service.during(async () => {
    const second = await getUnmounted(testbed, 'projects', '--as', join(local, 'b'), '--json')
    t.match(JSON.parse(second.stdout), { copied: 0, same: JSON.parse(unmounted.stdout).copied, problems: [] })
  })
  t.same(contents(again), [], 'neither bytes nor sizes')
  t.equal(await facts(join(local, 'b'), local), expected, 'nothing has changed')
  const first = await getUnmounted(
    testbed,
    `by-id/calculation/${ids.transition}/run.log`,
    '--as',
    join(local, 'log'),
  )
  t.match(first, { code: 0, stdout: '1 file copied (300 kB), 0 there already.\n' }, 'one file')
  t.equal((await stat(join(local, 'log'))).size, 300_000)
})

t.test('NOFUSE-7 what differs here stays and is named, unless --overwrite is said', async t => {
  const testbed = await warmMount(t)
  const { local } = testbed
  const [copy, input] = [join(local, 'TS1_opt'), join(local, 'TS1_opt', 'input.inp')]
  const run = (...flags: string[]) => get(testbed, `${water}/TS1_opt`, '--to', local, ...flags)
  t.match(await run(), { code: 0 })
  await chmod(input, 0o644)
  const { mtimeMs } = await stat(input)

  await appendFile(input, 'mine\n')
  t.match(
    await run(),
    { code: 1, stderr: /input\.inp: it differs from the drive's, and stays/ },
    'what is later stays',
  )
  t.equal(await readFile(input, 'utf8'), '! B3LYP opt\nmine\n')
  t.match(await run('--overwrite'), { code: 0 })
  t.equal(await readFile(input, 'utf8'), '! B3LYP opt\n')

  await chmod(input, 0o644)
  await writeFile(input, 'old\n')
  await utimes(input, 1_000, 1_000)
  t.match(await run(), { code: 1, stderr: /input\.inp: it differs/ }, 'what is older stays, too')
  t.equal(await readFile(input, 'utf8'), 'old\n')
  t.match(await run('--overwrite'), { code: 0, stdout: /^1 file copied/ })
  await chmod(input, 0o644)

  await utimes(input, 1_000, 1_000)
  t.match(
    await run(),
    { code: 0, stdout: /^0 files copied/ },
    'the same bytes with another time get the time',
  )
  t.equal((await stat(input)).mtimeMs, mtimeMs)
  await writeFile(input, '! B3LYP 0pt\n')
  await utimes(input, mtimeMs / 1000, mtimeMs / 1000)
  t.match(await run(), { code: 0, stdout: /^0 files copied/ }, 'size and time are believed')
  t.match(
    await run('--checksum'),
    { code: 1, stderr: /input\.inp: it differs/ },
    'bytes are compared with --checksum',
  )
  t.match(await run('--checksum', '--overwrite'), { code: 0, stdout: /^1 file copied/ })
  t.equal(await readFile(input, 'utf8'), '! B3LYP opt\n')
  t.match(await run('--checksum'), { code: 0, stdout: /^0 files copied/ })
  t.equal((await lstat(copy)).isDirectory(), true)
})

t.test(
  'NOFUSE-7 links are copied as links, followed with --follow, and never lead a copy elsewhere',
  async t => {
    const testbed = await warmMount(t)
    const { local } = testbed
    const plain = await get(testbed, `reports/${ids.report}`, '--to', local)
    t.match(plain, { code: 0, stdout: /3 of the links lead out of what was copied; --follow/ })
    const names = (await printed('ls', ['-A', join(local, ids.report)])).trim().split('\n')
    t.equal(names.length, 4)
    t.match(
      await readlink(join(local, ids.report, names[0] ?? '')),
      /^\.\.\/\.\.\/by-id\/calculation\/1234$|^\.\.\//,
    )
    const followed = await get(testbed, `reports/${ids.report}`, '--follow', '--as', join(local, 'paper'))
    t.match(followed, { code: 0, stderr: '' })
    t.equal(await readFile(join(local, 'paper', names[0] ?? '', 'input.inp'), 'utf8'), '! B3LYP opt\n')
    const all = await get(testbed, 'reports', 'db', 'by-id', '--follow', '--to', join(local, 'all'))
    t.match(all, { code: 0, stderr: '' }, 'every walk ends')

    const elsewhere = join(local, 'elsewhere')
    await mkdir(elsewhere)
    await mkdir(join(local, 'to', 'Water splitting'), { recursive: true })
    await symlink(elsewhere, join(local, 'to', 'Water splitting', 'TS1_opt'))
    await symlink(join(elsewhere, 'x'), join(local, 'to', 'Water splitting', '.index.tsv'))
    const refused = await get(testbed, water, '--to', join(local, 'to'))
    t.match(refused, { code: 1, stderr: /TS1_opt: something else stands here; move it away/ })
    t.match(refused.stderr, /\.index\.tsv: something else stands here/)
    t.equal(await printed('ls', ['-A', elsewhere]), '', 'nothing is written through a link')
    t.ok(
      (await stat(join(local, 'to', 'Water splitting', 'H2O', 'output.cml'))).isFile(),
      'the rest is there',
    )
  },
)

t.test('NOFUSE-9 include and exclude choose, and what is excluded is not asked for', async t => {
  const testbed = await warmMount(t)
  const { local, service } = testbed
  const found = async (directory: string) =>
    (await printed('bash', ['-c', 'cd "$1" && find . -type f | LC_ALL=C sort', '-', join(local, directory)]))
      .trim()
      .split('\n')
  const chosen = (to: string, flags: string) =>
    get(testbed, 'projects', ...flags.split(' | '), '--as', join(local, to))
  const asked = await service.during(() =>
    chosen('a', '--include | *.inp | --include | H2O/*.cml | --include | */H2O/*.cml | --exclude | TS*'),
  )
  t.same(await found('a'), ['./Water splitting/H2O/output.cml'])
  t.notMatch(contents(asked).join('\n'), /1234|run\.log/)
  t.match(await chosen('b', '--include | *.inp'), { code: 0 })
  t.same(await found('b'), ['./Water splitting/TS1_opt/input.inp'], 'only the directories on the way')
  t.same((await printed('ls', ['-A', join(local, 'b')])).trim(), 'Water splitting')
  const left =
    '--exclude | /Water splitting/*.xyz | --exclude | **/*.log | --exclude | .* | --exclude | output.cml'
  t.match(await chosen('c', left), { code: 0 })
  t.same(await found('c'), [
    './Water splitting/H2O/H2O.xyz',
    './Water splitting/No geometry/job.mop',
    './Water splitting/TS1_opt/TS1_opt.xyz',
    './Water splitting/TS1_opt/empty.txt',
    './Water splitting/TS1_opt/input.inp',
  ])
})

t.test('NOFUSE-6 where a copy goes is said before anything is fetched', async t => {
  const testbed = await warmMount(t)
  const { local, directory } = testbed
  for (const [line, stderr, code = 2] of [
    [['/', '--to', local], /which has no name; name the copy with --as/],
    [[water, 'projects', '--as', 'x'], /--as names the copy of one path/],
    [[`${water}/TS1_opt/output.cml`, `${water}/H2O/output.cml`, '--to', local], /would be copied to/],
    [[water, '--to', join(directory, 'reports')], /lies on the drive .* itself/],
    [[water, '--as', join(local, 'no', 'x')], /it cannot be made here \(ENOENT\)/, 1],
    [[water, '--jobs', '0', '--to', local], /write a whole number, 1 or more/],
    [['/reports', local], / is on no calcfs drive .*, and the place of the copies as --to DIRECTORY/, 6],
  ] as const)
    t.match(await get(testbed, ...line), { code, stderr })
  const nowhere = join(local, 'nowhere')
  t.match(await get(testbed, 'projects/Nope', '--to', nowhere), { code: 1, stderr: /projects\/Nope/ })
  t.match(await outcome(stat(nowhere)), 'ENOENT', 'nothing is made for nothing')
  const { code, stdout } = await get(testbed, 'projects/Nope', '/reports/42.json', '--to', local)
  t.match([code, stdout], [1, /^1 file copied .*, 1 could not be had\.\n$/], 'the end says what is not there')
  t.match(await get(testbed, '/', '--exclude', '.calcfs', '--as', join(local, 'whole')), { code: 0 })
  t.equal(await printed('ls', [join(local, 'whole')]), 'by-id\ndb\nprojects\nreports\n')
})
