// Promises of docs/container and docs/operations.md: their words are those of the package, and what it builds mounts with a capability, and reads without any.
import { chown, cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { bareDebian } from '../testbed/machine/bare-debian.js'
import { openDirectory } from '../testbed/machine/open-directory.js'
import { printed, run } from '../testbed/programs.js'
import { log } from '../testbed/sample-data.js'
import { testService } from '../testbed/service.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const text = (path: string): Promise<string> => readFile(join(root, path), 'utf8')
const containerfile = await text('docs/container/Containerfile')
/** Milliseconds: a bare Debian takes minutes. */
const limit = 900_000

/** All but what Buildah itself needs where nothing but chroot(2) isolates a container. */
const withoutRights = ['--cap-drop', 'all', '--cap-add', 'SYS_CHROOT']

t.setTimeout(2 * limit)

t.test('PACK-3 the container file says what the Debian package says', async t => {
  const packaging = await text('bin/deb.mjs')
  const depends = /^Depends: (.*)$/m.exec(packaging)?.[1] ?? ''
  const needed = depends.split(', ').map(one => /^[^ ]+/.exec(one)?.[0] ?? '')
  t.match(needed, ['nodejs', 'fuse3'])
  const named = /What calcfs needs \((.*)\)/.exec(containerfile)?.[1]?.split(', ')
  t.same(
    named,
    needed.filter(name => !/^lib(c6|gcc-s1|stdc\+\+6)$/.test(name)),
    'its packages',
  )
  t.match(packaging, /20\.19 or newer is in Debian 13/)
  t.match(containerfile, /^ARG BASE=docker\.io\/library\/debian:trixie-slim$/m, 'Debian 13')
  t.match(containerfile, /^COPY calcfs_\*\.deb /m)
  t.match(packaging, /`calcfs_\$\{about\.version\}_\$\{architecture\}\.deb`/)
})

if (process.env['CALCFS_TEST_FULL'] !== undefined)
  t.test(
    'PACK-3 the image mounts a drive with CAP_SYS_ADMIN, and copies from it without any capability',
    async t => {
      const place = await openDirectory(t, 'container-test')
      const { url } = await testService(t)
      const { container } = await built(t, place)
      const address = url.replace('/create/rest', '')
      const secret = join(place, 'password')
      // As Podman and Docker write it.
      await writeFile(secret, 'demo\n', { mode: 0o444 })

      await t.test('a mount', async t => {
        const ran = await container(
          ['--cap-add', 'SYS_ADMIN'],
          [`${secret}:/run/secrets/calcfs-password:ro`],
          `
        id -un
        calcfs mount ${address} /lab --user demo --daemon >/dev/null; echo mounted $?
        ls /lab
        tail -n 1 '/lab/projects/Water splitting/H2O/H2O.xyz' | tr -s ' '
        calcfs status /lab | grep -o 'everything is saved'
        calcfs doctor | grep ^BAD
        calcfs unmount /lab >/dev/null; echo unmounted $?
        ls -A /lab
        ls /var/lib/calcfs`,
        )
        t.equal(ran.stderr, '')
        t.match(
          ran.stdout,
          /^calcfs\nmounted 0\nby-id\ndb\nprojects\nreports\nH 0\.0+ -0\.757200 -0\.469200\neverything is saved\nunmounted 0\n\S/,
        )
      })

      await t.test('the same paths without FUSE', async t => {
        const ran = await container(
          withoutRights,
          [`${secret}:/run/secrets/calcfs-password:ro`],
          `
        grep -h ^CapEff /proc/self/status | tr '\\t' ' '
        export CALCFS_URL=${address} CALCFS_USER=demo
        calcfs ls projects | grep Water
        calcfs cat by-id/calculation/1234/output.cml | head -n 1
        calcfs mount $CALCFS_URL /lab 2>/dev/null; echo mount $?`,
        )
        t.match(ran.stdout, /^CapEff: 0{16}\nWater splitting\n<\?xml version="1\.0"\?>\nmount 5\n$/)
      })

      for (const user of [0, 4242])
        await t.test(`a copy that belongs to user ${user}`, async t => {
          const out = join(place, `out-${user}`)
          await mkdir(out)
          await chown(out, user, user)
          const ran = await container(
            withoutRights,
            [`${secret}:/run/secrets/calcfs-password:ro`, `${out}:/data`],
            `
          export CALCFS_STATE_DIR=/tmp/state CALCFS_CACHE_DIR=/tmp/cache
          calcfs get --url ${address} --user demo 'projects/Water splitting/TS1_opt' --to /data; echo got $?`,
            `${user}:${user}`,
          )
          t.match(ran.stdout, /^\d files copied .*\ngot 0\n$/, ran.stderr)
          t.equal(await readFile(join(out, 'TS1_opt/run.log'), 'utf8'), log)
          t.equal((await stat(join(out, 'TS1_opt/run.log'))).uid, user)
        })
    },
  )

/** There is no registry in a test: the base image is a bare Debian, by the name that the file has for it. */
async function built(t: Test, place: string) {
  const store = ['--root', join(place, 'store'), '--runroot', join(place, 'run'), '--storage-driver', 'vfs']
  const buildah = (...args: string[]) => printed('buildah', [...store, ...args], { limit })
  const bare = await bareDebian(place, 'trixie')
  const base = (await buildah('from', 'scratch')).trim()
  await buildah('add', '--quiet', base, bare, '/')
  await buildah('commit', '--quiet', base, 'docker.io/library/debian:trixie-slim')
  const context = join(place, 'context')
  await printed(process.execPath, [join(root, 'bin/deb.mjs'), context], { limit })
  await cp(join(root, 'docs/container/Containerfile'), join(place, 'Containerfile'))
  const isolated = ['--isolation', 'chroot', '--network', 'host']
  await buildah(
    'bud',
    ...isolated,
    '--pull-never',
    '-t',
    'calcfs',
    '-f',
    join(place, 'Containerfile'),
    context,
  )
  return {
    /** Runs lines of sh in a new container, as the image's own user or another one. */
    async container(flags: readonly string[], volumes: readonly string[], lines: string, user = 'calcfs') {
      const made = (await buildah('from', '--pull-never', ...flags, 'localhost/calcfs')).trim()
      t.teardown(() => buildah('rm', made))
      const mounted = volumes.flatMap(volume => ['--volume', volume])
      return run(
        'buildah',
        [...store, 'run', ...isolated, '--user', user, ...mounted, made, '--', 'sh', '-c', lines],
        {
          limit,
        },
      )
    },
  }
}
