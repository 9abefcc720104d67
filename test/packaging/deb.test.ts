// Promises of the Debian package: what is in it, that it runs, is built again to the same bytes, and what removing it leaves.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { addNode, bareDebian, inBareDebian } from '../testbed/machine/bare-debian.js'
import { openDirectory } from '../testbed/machine/open-directory.js'
import { inOwnMounts } from '../testbed/machine/own-mounts.js'
import { printed, run } from '../testbed/programs.js'
import { testService } from '../testbed/service.js'
import { within } from '../testbed/within.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
/** Milliseconds: a build takes ten seconds on an idle machine, a bare Debian a minute. */
const limit = 900_000
const isFull = process.env['CALCFS_TEST_FULL'] !== undefined

t.setTimeout(2 * limit)

const directory = (t: Test): Promise<string> => openDirectory(t, 'deb-test')

/** The day of the build is the test's own, so that each build says the same. */
const build = async (into: string): Promise<string> =>
  (
    await printed(process.execPath, [join(root, 'bin/deb.mjs'), into], {
      limit,
      // What the days try is not packed small.
      environment: {
        SOURCE_DATE_EPOCH: '1800000000',
        ...(isFull ? {} : { DPKG_DEB_COMPRESSOR_TYPE: 'none' }),
      },
    })
  ).trim()

const fieldOf = (control: string, name: string): string =>
  new RegExp(`^ ?${name}: (.*)$`, 'm').exec(control)?.[1] ?? ''

t.test('the Debian package', async t => {
  const place = await directory(t)
  const deb = await build(place)

  t.test(
    'PACK-3 it has the program, manual, completions, units and mount helper, and says what it needs',
    async t => {
      const control = await printed('dpkg-deb', ['--info', deb])
      t.equal(fieldOf(control, 'Architecture'), (await printed('dpkg', ['--print-architecture'])).trim())
      const needed = fieldOf(control, 'Depends').split(', ')
      for (const one of ['nodejs (>= 20.19)', 'fuse3 | fuse']) t.ok(needed.includes(one), one)
      t.notMatch(needed, /libfuse/, 'the session needs none')
      const lines = (await printed('dpkg-deb', ['--contents', deb])).trim().split('\n')
      const found = new Map(lines.map(line => [/ \.\/(\S*)/.exec(line)?.[1] ?? '', line]))
      const wanted = [
        'usr/bin/calcfs',
        'usr/sbin/mount.calcfs',
        'usr/sbin/mount.fuse.calcfs',
        'usr/lib/calcfs/systemd/hand-over/fusermount',
        'usr/lib/systemd/system/calcfs-system@.service',
        'usr/lib/systemd/user/calcfs@.service',
        'usr/share/man/man1/calcfs.1.gz',
        'usr/share/man/man5/calcfs.conf.5.gz',
        'usr/share/man/man8/mount.calcfs.8.gz',
        'usr/share/bash-completion/completions/calcfs',
        'usr/share/zsh/vendor-completions/_calcfs',
        'usr/share/fish/vendor_completions.d/calcfs.fish',
        'usr/share/doc/calcfs/copyright',
      ]
      t.same(
        wanted.filter(path => !found.has(path)),
        [],
      )
      const foreign = /darwin|musl|electron|\.d\.ts$|\.test\.|\/(test|example)s?\//
      t.same(
        [...found.keys()].filter(path => foreign.test(path)),
        [],
        'nothing of other systems, and no tests',
      )
      t.same(
        lines.filter(line => !/^.{10} root\/root .* 2027-01-15 /.test(line)),
        [],
        'all of it is of root, and of the day of the build',
      )
    },
  )

  t.test('PACK-3 what is in it runs with nothing beside it', async t => {
    const own = await directory(t)
    await printed('dpkg-deb', ['--extract', deb, own], { limit })
    await chmod(own, 0o755)
    const calcfs = join(own, 'usr/bin/calcfs')
    const environment = { HOME: own, CALCFS_PASSWORD: 'demo' }
    t.match(JSON.parse(await printed(calcfs, ['--version', '--json'], { environment })), {
      koffi: String,
      fuseNative: String,
    })
    const serving = spawn(calcfs, ['serve', '--sample', '--port', '0', '--data', join(own, 'data')], {
      env: { ...process.env, ...environment, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.teardown(() => serving.kill())
    let said = ''
    const url = await within(
      60_000,
      'the service',
      new Promise<string>(listening => {
        serving.stdout.on('data', piece => {
          said += piece
          const at = /listening on (http:\S+?)(\/create\/rest)?\s/.exec(said)?.[1]
          if (at !== undefined) listening(at)
        })
      }),
    )
    const at = join(own, 'at')
    await mkdir(at)
    const ran = await inOwnMounts(
      `
      ${calcfs} mount ${url} ${at} --user demo --daemon >/dev/null; echo $?
      ls ${at}
      ${calcfs} status --json ${at} | grep -o '"kernel": "session"'
      ${calcfs} unmount ${at} >/dev/null; echo $?
      runs() { pgrep -f '^[^ ]*node .* mount .*${at}' >/dev/null; }
      for i in $(seq 300); do runs || break; sleep 0.1; done; runs && echo 'a daemon still runs'`,
      { directory: own, environment, limit },
    )
    t.match(ran, { stderr: '', stdout: '0\nby-id\ndb\nprojects\nreports\n"kernel": "session"\n0\n' })
    const ended = once(serving, 'exit')
    serving.kill()
    await within(30_000, 'the end of the service', ended)
  })

  if (isFull) {
    t.test('PACK-3 two builds are the same to the last byte', async t => {
      const other = await build(await directory(t))
      t.ok((await readFile(deb)).equals(await readFile(other)))
    })

    t.test('PACK-3 lintian finds nothing', async t => {
      const ran = await run('lintian', ['--no-cfg', '--allow-root', '--fail-on=error,warning', deb], {
        limit,
      })
      t.same(ran, { code: 0, stdout: '', stderr: '' })
    })

    t.test(
      'PACK-3 it is installed, removed and purged in a bare Debian, and leaves what is not its own',
      async t => {
        t.match(await lifeInBareDebian(t, deb), expected)
      },
    )
  }
})

/** What each step of the bare Debian says. */
const expected = [
  'installed 0',
  'version 0',
  'manual 0',
  'mount 0',
  'by-id db projects reports ',
  'umount 0',
  'removed 0',
  'program gone',
  'settings stay',
  'purged 0',
  'calcfs: /var/lib/calcfs stays: it may hold edits that are not saved.',
  'settings gone',
  'cache gone',
  'edits stay',
]

async function lifeInBareDebian(t: Test, deb: string): Promise<readonly string[]> {
  const bare = await bareDebian(await directory(t), 'bookworm')
  const { url } = await testService(t)
  await addNode(bare)
  await cp(deb, join(bare, 'calcfs.deb'))
  const ran = await inBareDebian(
    bare,
    `
    apt install --no-install-recommends /nodejs.deb /calcfs.deb; ends installed; grep -E '^(E|dpkg: error)' /log
    calcfs --version --json | grep -q '"koffi"'; ends version
    dpkg -L calcfs | grep -q /usr/share/man/man1/calcfs.1.gz; ends manual
    printf 'demo\\n' >/password; chmod 600 /password
    mkdir /lab
    mount -t calcfs ${url.replace('/create/rest', '')} /lab -o username=demo,password_file=/password; ends mount
    ls /lab | tr '\\n' ' '; echo
    umount /lab; ends umount
    mkdir -p /etc/calcfs /var/cache/calcfs /var/lib/calcfs
    touch /etc/calcfs/config.toml /var/cache/calcfs/content /var/lib/calcfs/draft
    apt remove calcfs; ends removed
    [ -e /usr/lib/calcfs ] || [ -e /usr/bin/calcfs ] || echo 'program gone'
    [ -e /etc/calcfs/config.toml ] && echo 'settings stay'
    apt purge calcfs; ends purged
    grep ^calcfs: /log
    [ -e /etc/calcfs ] || echo 'settings gone'
    [ -e /var/cache/calcfs ] || echo 'cache gone'
    [ -e /var/lib/calcfs/draft ] && [ -d /root/.local/state/calcfs ] && echo 'edits stay'
    `,
  )
  t.equal(ran.stderr, '')
  return ran.stdout.trimEnd().split('\n')
}
