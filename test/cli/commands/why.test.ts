// Promises of `calcfs why` and `calcfs refresh`: every failure a user can meet is explained, and another's change shows at once.
import t from 'tap'
import { calcfs as program } from '../../testbed/daemon.js'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { type Ran, run } from '../../testbed/programs.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'
import { until } from '../../testbed/within.js'

t.jobs = 3

/** As typed in a shell that stands in this directory. */
const calcfsIn = (cwd: string, ...args: string[]): Promise<Ran> =>
  run(process.execPath, [program, ...args], { cwd })

const why = ({ calcfs, directory }: KernelTestbed, path: string) => calcfs('why', `${directory}/${path}`)

t.test(
  'a file that a program could not make beside a link is told at the link, and at its directory (CLI-1)',
  async t => {
    const testbed = await warmMount(t)
    await textOf(testbed, 'reports/42.json')
    const link = 'reports/by-name/Supporting information.json'
    t.match(await why(testbed, link), { code: 0, stdout: /^\/reports\/42\.json: nothing is wrong/ })
    // As `sed -i` and `perl -i` do.
    t.equal(await outcome(testbed.files.open('reports/by-name/sedAbCdEf', 'w')), 'EPERM')
    for (const path of [link, 'reports/by-name'])
      t.match(
        (await why(testbed, path)).stdout,
        /^Could not make the file \/reports\/by-name\/sedAbCdEf .*: there are links here.* reports\/<id>\.json/,
      )
    t.match(await why(testbed, 'reports/42.json'), { stdout: /nothing is wrong/ })
  },
)

t.test('PROG-1 a program that writes where it reads hears EPERM, and why names the way', async t => {
  const testbed = await warmMount(t)
  const { service, files } = testbed
  const folder = 'projects/Water splitting/TS1_opt'
  await service.sends(t, [], async () => {
    // As xtb and a lock of ASE do; GROMACS moves what is in its way.
    for (const name of ['charges', '.all.db.lock'])
      t.equal(await outcome(files.open(`${folder}/${name}`, 'w')), 'EPERM', name)
    t.equal(await outcome(files.rename(`${folder}/run.log`, `${folder}/#run.log.1#`)), 'EPERM')
  })
  for (const path of [`${folder}/charges`, folder]) {
    const { stdout } = await why(testbed, path)
    t.match(stdout, new RegExp(`^Could not make the file /${folder}/`, 'm'))
    t.match(stdout, 'here; the server accepts no uploads.\nA program that writes where it reads, ')
  }
  // What was refused last is told, of a folder no words about files.
  t.equal(await outcome(files.chmod(folder, 0o700)), 'EPERM')
  t.match(await why(testbed, folder), { stdout: /^Could not change .*: modes and owners here follow from / })
  t.equal(await outcome(files.unlink(`${folder}/run.log`)), 'EPERM')
  t.match(await why(testbed, folder), { stdout: /^Could not delete .*run\.log / })
  t.match(await why(testbed, `${folder}/charges`), { stdout: /^Could not make the file / })
})

t.test('why is right after a success (CLI-1)', async t => {
  const testbed = await warmMount(t, { settings: { access: 'manage' } })
  const nothing = { code: 0, stdout: /nothing is wrong/ }

  t.test('of drafts send and of drafts drop', async t => {
    const path = 'reports/42.json'
    const text = await textOf(testbed, path)
    for (const [word, command] of [
      ['Sent', 'send'],
      ['Dropped', 'drop'],
    ] as const) {
      const well = testbed.service.refuse(/^PUT \/report/, 403)
      t.equal(await outcome(overwrite(testbed, path, text.replace('Supporting', word))), 'EACCES')
      well()
      const advice = /^Ask the owner to share it with you, .* To send .*\n(.*\n)*The text: \/.*\/text$/m
      t.match(await why(testbed, path), { code: 0, stdout: advice })
      t.equal((await testbed.here('drafts', command, '42.json')).code, 0)
      t.match(await why(testbed, path), nothing, command)
    }
  })

  t.test('of reading and listing', async t => {
    const testbed = await warmMount(t)
    const { readFile, readdir } = testbed.files
    const looks = [
      ['projects/Water splitting/H2O/output.cml', /^GET \/calculation\/files\/bitstream/, readFile],
      ['by-id/project/102', /^GET \/project\/descendant\?id=102/, readdir],
      ['reports/42.json', /^GET \/report\?id=42/, readFile],
    ] as const
    const mends = looks.map(([, asked]) => testbed.service.refuse(asked, 500))
    for (const [path, , look] of looks) {
      t.not(await outcome(look(path)), 'done')
      const { stdout } = await why(testbed, path)
      t.match(stdout, /^Could not (open|list|read) .* \(20.*\): /m, path)
      t.notMatch(stdout, `): /${path}: `, 'the path is said once')
    }
    for (const mend of mends) mend()
    for (const [path, , look] of looks) {
      await until(20_000, path, async () => (await outcome(look(path))) === 'done')
      t.match(await why(testbed, path), { stdout: /nothing is wrong/ }, path)
    }
    t.match(await why(testbed, looks[0][0]), { stdout: /cannot be changed: the files of a calculation/ })
    const cwd = `${testbed.directory}/projects/Water splitting`
    t.match(await run('mv', ['H2O', 'Water'], { cwd }), { code: 0 }, 'which asks for RENAME_NOREPLACE first')
    t.match(await calcfsIn(cwd, 'why', 'H2O'), { stdout: /nothing failed here lately/ })
  })
})

t.test('what the service took of a save, and what it ignored, is said (CLI-1)', async t => {
  const testbed = await warmMount(t)
  const path = 'projects/Water splitting/.project.json'
  const record = JSON.parse(await textOf(testbed, path))
  const text = JSON.stringify({ ...record, description: 'new words', owner: 'guest' })
  t.equal(await outcome(overwrite(testbed, path, text)), 'EIO')
  t.match(await why(testbed, path), {
    stdout: /the server took the change of "description" and ignored that of "owner"; if it is read-only, /,
  })
  const draft = await why(testbed, '.calcfs/drafts/project-100.json')
  t.equal(draft.stdout, (await why(testbed, path)).stdout, 'the draft tells the same')
})

t.test('an emptied file is said to be no save, until it is there again (CLI-1)', async t => {
  const testbed = await warmMount(t)
  await testbed.files.truncate('reports/42.json', 0)
  t.match(await why(testbed, 'reports/42.json'), {
    stdout: /it is empty, and an empty text is never saved/,
  })
  await testbed.pass(6_000)
  const json = await testbed.here('why', '--json', 'reports/42.json')
  t.match(JSON.parse(json.stdout), {
    path: '/reports/42.json',
    wrong: false,
    sentences: ['/reports/42.json: nothing is wrong, and nothing failed here lately.'],
  })
})

t.test('what is old says so, and why (CLI-4)', async t => {
  const testbed = await warmMount(t, { settings: { ttlListing: '1s' } })
  await textOf(testbed, 'reports/42.json')
  await testbed.service.leave()
  await testbed.pass(1500)
  await textOf(testbed, 'reports/42.json')
  const { stdout } = await why(testbed, 'reports/42.json')
  t.match(stdout, /^What is shown here is old: (?!.*did not answer.*did not answer)/)
  const refreshed = await testbed.calcfs('refresh', `${testbed.directory}/reports/42.json`)
  t.match(refreshed, { code: 4, stderr: /the cached data is still shown/ })
  await testbed.service.back()
})

t.test(
  'a path is one below a mount, one from where the shell stands, or one of the drive (CLI-11)',
  async t => {
    const testbed = await realMount(t)
    const other = await realMount(t)
    const said = '/reports/42.json: nothing is wrong, and nothing failed here lately.\n'
    const ways: readonly (readonly [string, readonly string[]])[] = [
      ['/', [`${testbed.directory}/reports/42.json`]],
      [testbed.directory, ['reports/42.json']],
      [`${testbed.directory}/projects`, ['../reports/42.json']],
      [`${testbed.directory}/projects`, ['/reports/42.json']],
      ['/', ['/reports/42.json', '--mount', other.directory]],
      ['/', ['reports/42.json', '--mount', `${other.directory}/projects`]],
    ]
    for (const [cwd, args] of ways) {
      const found = await calcfsIn(cwd, 'why', ...args)
      t.match(found, { code: 0, stdout: said, stderr: '' }, `${cwd}: ${args[0]}`)
    }
    const link = await calcfsIn('/', 'why', `${testbed.directory}/by-id/report/42`)
    t.match(link.stdout, said, 'a link is what it leads to')
    const several = { code: 2, stderr: /^calcfs: several drives are mounted: .*; name one with --mount/ }
    t.match(await calcfsIn('/', 'why', 'reports/42.json'), several)
    t.match(await calcfsIn('/', 'why', '--mount', '/tmp', 'x'), { code: 6, stderr: / is no drive: / })
    await other.kill9()
    t.match(await calcfsIn('/', 'why', 'reports/42.json'), several, 'the dead one may be meant')
    const dead = await calcfsIn('/', 'why', `${other.directory}/reports/42.json`)
    t.match(dead, { code: 6, stderr: /the daemon of .* has died; calcfs unmount/ })
  },
)

t.test('why of a directory tells of the rm -r in it, not of what failed there before (CLI-1)', async t => {
  const testbed = await warmMount(t)
  const directory = 'projects/Water splitting/TS1_opt'
  t.equal(await outcome(testbed.files.chmod(directory, 0o700)), 'EPERM')
  t.equal(await outcome(testbed.files.unlink(`${directory}/input.inp`)), 'EPERM')
  t.match(await why(testbed, directory), { stdout: /^Could not delete \/projects\/.*\/input\.inp / })
  await testbed.files.mkdir('projects/Copy')
  t.equal(await outcome(testbed.files.open('projects/Copy/a.out', 'w')), 'EPERM')
  t.match(await why(testbed, 'projects/Copy'), {
    stdout: / no uploads; .* project that .* cp -r made .* rmdir /,
  })
  t.match(await run('rm', ['-r', 'Copy'], { cwd: `${testbed.directory}/projects` }), { code: 1 })
  t.match(await why(testbed, 'projects/Copy'), { stdout: /goes with its project: rmdir takes an empty one / })
})

t.test('why of a record that cannot be changed says so (CLI-1)', async t => {
  const testbed = await warmMount(t, { settings: { access: 'read' } })
  t.match(await why(testbed, 'reports/42.json'), { stdout: /\nIt cannot be changed: .*--access read/ })
  t.match(await why(testbed, 'projects/new'), { stdout: /\nNothing can be made here: .*--access read/ })
})

t.test('a removal that is refused is reported, in status too (CLI-1, DEL-15)', async t => {
  const testbed = await warmMount(t)
  const path = 'reports/42.json'
  await textOf(testbed, path)
  await testbed.files.unlink(path)
  t.match(await why(testbed, path), {
    stdout: /was removed a moment ago: unless .* within 3 s, it is there again/,
  })
  await until(10_000, 'the report of it', async () =>
    /not deleted, and there again.*\n.*reports\/42\.json/.test(
      (await testbed.calcfs('status', testbed.directory)).stdout,
    ),
  )
  t.match(await why(testbed, path), { stdout: /deletes only with --access manage/ })
})
