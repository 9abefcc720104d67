// Promises of the packed file: what is in it, and that it installs, mounts a drive and goes again, for a whole machine and for one user.
import { mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { openDirectory } from '../testbed/machine/open-directory.js'
import { inOwnMounts } from '../testbed/machine/own-mounts.js'
import { printed, run } from '../testbed/programs.js'
import { testService } from '../testbed/service.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const nobody = 65534
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] as const
/** Milliseconds: an installation takes ten seconds on an idle machine that has the packages in npm's cache. */
const limit = 300_000

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string; readonly mode: number }[]
}

const directory = (t: Test): Promise<string> => openDirectory(t, 'packed')

/** Of the program as it is built: what `npm pack` does without its script builds nothing. */
async function pack(into: string): Promise<Packed> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', into]
  const told: unknown = JSON.parse(await printed('npm', args, { cwd: root, limit }))
  const [packed] = Array.isArray(told) ? told : Object.values(told ?? {})
  return packed
}

t.test('PACK-2 the packed file has what runs and what is read, and nothing of the tests', async t => {
  const { files } = await pack(await directory(t))
  const paths = files.map(({ path }) => path)
  const wanted = [
    'bin/calcfs',
    'bin/mount.calcfs',
    'bin/package.json',
    'dist/man/calcfs.1',
    'dist/man/calcfs.conf.5',
    'dist/man/mount.calcfs.8',
    'dist/program/main.js',
    'systemd/calcfs@.service',
    'systemd/calcfs-system@.service',
    'systemd/hand-over/fusermount',
    'docs/settings.md',
    'src/service/sample/README.md',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'package.json',
  ]
  t.same(
    wanted.filter(path => !paths.includes(path)),
    [],
    'nothing is missing',
  )
  const known =
    /^(bin\/(calcfs|mount\.calcfs|package\.json)|dist\/(program|man)\/[^/]+|docs\/.+|src\/service\/sample\/.+|systemd\/.+|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/
  t.same(
    paths.filter(path => !known.test(path)),
    [],
    'nothing else is in it',
  )
  const started = /^(bin\/(mount\.)?calcfs|systemd\/hand-over\/.+)$/
  t.same(
    files.filter(({ path, mode }) => started.test(path) && (mode & 0o111) !== 0o111),
    [],
    'what is started may be',
  )
})

/** No package that an installation brings refuses Node 20, 22 or 24. */
async function takesEachNode(t: Test, modules: string): Promise<void> {
  const cli = await realpath((await printed('sh', ['-c', 'command -v npm'])).trim())
  // npm's own reading of a range.
  const { satisfies } = createRequire(cli)('semver') as { satisfies(version: string, range: string): boolean }
  const abouts = (await readdir(modules, { recursive: true })).filter(path =>
    /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(`node_modules/${path}`),
  )
  t.ok(abouts.length > 20, `${abouts.length} packages`)
  for (const path of abouts) {
    const { name, version, engines = {} } = JSON.parse(await readFile(join(modules, path), 'utf8'))
    const refused = ['20.19.0', '22.0.0', '24.0.0'].filter(node => !satisfies(node, engines.node || '*'))
    t.same(refused, [], `${name} ${version}: ${engines.node}`)
  }
}

t.test('PACK-2 npm i -g of it makes a calcfs that mounts, as root and as a user', async t => {
  if (process.getuid?.() !== 0)
    return t.fail('this test changes to another user, which only root may: run it as root')
  const place = await directory(t)
  const { filename } = await pack(place)
  const { url } = await testService(t)
  const service = url.replace('/create/rest', '')
  const home = join(place, 'home')
  await mkdir(join(home, 'lab'), { recursive: true })
  const cache = (await printed('npm', ['config', 'get', 'cache'], { cwd: place })).trim()
  // A machine whose cache is empty asks the registry for the packages.
  await mkdir(join(home, '.npm'))
  await run('cp', ['-r', join(cache, '_cacache'), join(home, '.npm')], { limit })
  await printed('chown', ['-R', `${nobody}:${nobody}`, home])

  const installed = {
    machine: { prefix: join(place, 'usr'), as: [] },
    user: { prefix: join(home, '.local'), as: asNobody },
  }
  const npm = (prefix: string, as: readonly string[], ...words: string[]) =>
    printed(
      'env',
      [
        ...(as.length > 0 ? [`HOME=${home}`, `npm_config_cache=${home}/.npm`, ...as] : []),
        ...['npm', ...words, '-g', '--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund'],
        '--loglevel=error',
      ],
      { cwd: place, limit },
    )
  const all = Object.entries(installed)
  await Promise.all(all.map(([, { prefix, as }]) => npm(prefix, as, 'install', join(place, filename))))
  await takesEachNode(t, join(installed.machine.prefix, 'lib/node_modules'))

  for (const [what, { prefix, as }] of all) {
    const calcfs = join(prefix, 'bin/calcfs')
    const versions: unknown = JSON.parse(
      await printed(asNobody[0], [...asNobody.slice(1), calcfs, '--version', '--json']),
    )
    t.match(versions, { calcfs: '0.1.0', koffi: String, fuseNative: String }, `${what}: both ways load`)
    const man = await Promise.all(
      ['man1/calcfs.1', 'man5/calcfs.conf.5', 'man8/mount.calcfs.8'].map(page =>
        stat(join(prefix, 'share/man', page)),
      ),
    )
    t.ok(
      man.every(page => page.size > 1_000),
      `${what}: the manual is where man(1) looks`,
    )
    const at = join(home, 'lab')
    const own = join(place, what)
    await mkdir(own)
    const ran = await inOwnMounts(
      `
      as="${asNobody.join(' ')} env HOME=${home} CALCFS_PASSWORD=demo"
      $as ${calcfs} mount ${service} ${at} --user demo --daemon >/dev/null; echo "mount $?"
      $as ls ${at}; $as head -c 5 ${at}/reports/42.json | wc -c
      $as ${calcfs} unmount ${at} >/dev/null; echo "unmount $?"
      runs() { pgrep -f '^[^ ]*node .* mount .*${at}' >/dev/null; }
      for i in $(seq 300); do runs || break; sleep 0.1; done; runs && echo 'a daemon still runs'`,
      { directory: own, limit },
    )
    t.same(ran.stderr, '', `${what}: no complaint`)
    t.same(
      ran.stdout.trim().split('\n'),
      ['mount 0', 'by-id', 'db', 'projects', 'reports', '5', 'unmount 0'],
      what,
    )
    const owner = as.length > 0 ? nobody : 0
    t.equal((await stat(join(prefix, 'lib/node_modules/calcfs/bin/calcfs'))).uid, owner, `${what}: its owner`)
    await npm(prefix, as, 'rm', 'calcfs')
    t.same(await readdir(join(prefix, 'bin')), [], `${what}: removed again`)
    t.same(
      (await readdir(join(home, '.local/state/calcfs'))).length > 0,
      true,
      `${what}: what the drive kept is still there`,
    )
  }
})
