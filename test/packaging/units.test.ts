// Promises of the units that the Debian package brings: a bare Debian is given it, started by systemd, and started again.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { addNode, bareDebian, inBareDebian } from '../testbed/machine/bare-debian.js'
import { boot } from '../testbed/machine/booted.js'
import { openDirectory } from '../testbed/machine/open-directory.js'
import { printed } from '../testbed/programs.js'
import { testService } from '../testbed/service.js'

/** Milliseconds: a bare Debian takes minutes. */
const limit = 900_000
const root = fileURLToPath(new URL('../../..', import.meta.url))
const packages = join(root, 'bin/deb.mjs')

t.setTimeout(2 * limit)

async function install(t: Test, bare: string, url: string): Promise<void> {
  const deb = await printed(process.execPath, [packages, bare], { limit })
  await addNode(bare)
  const write = async (path: string, text: string) => {
    await mkdir(join(bare, path, '..'), { recursive: true })
    await writeFile(join(bare, path), text, { mode: 0o600 })
  }
  await cp(deb.trim(), join(bare, 'calcfs.deb'))
  const { stdout } = await inBareDebian(
    bare,
    `apt install --no-install-recommends systemd-sysv dbus libpam-systemd dbus-user-session /nodejs.deb /calcfs.deb; ends installed
    grep -E '^(E|dpkg: error)' /log
    useradd --create-home anna; ends anna`,
  )
  t.equal(stdout, 'installed 0\nanna 0\n')
  const config = `url = "${url}"\nuser = "demo"\n`
  await write('etc/calcfs/config.toml', `${config}\n[profiles.group]\nallow-other = true\n`)
  await write('etc/credstore/calcfs-password', 'demo\n')
  await write('home/anna/.config/calcfs/config.toml', `${config}password = "demo"\n\n[profiles.mine]\n`)
  await write('etc/machine-id', '')
  await printed('chroot', [bare, 'chown', '-R', 'anna:anna', '/home/anna'])
}

t.test('SYSTEMD-2 each unit that the documents enable is there, and can be enabled', async t => {
  const page = await readFile(join(root, 'docs/operations.md'), 'utf8')
  const enabled = [...page.matchAll(/systemctl (?:--user )?enable --now (\S+@)/g)].map(
    ([, name = '']) => name,
  )
  t.same(enabled.sort(), ['calcfs-system@', 'calcfs@'])
  for (const name of enabled)
    t.match(
      await readFile(join(root, 'systemd', `${name}.service`), 'utf8'),
      /^\[Install\]\nWantedBy=\S/m,
      name,
    )
})

if (process.env['CALCFS_TEST_FULL'] !== undefined) {
  t.test(
    'SYSTEMD-2 its units are enabled, mount again at the next start of the machine, and end with the package',
    async t => {
      const place = await openDirectory(t, 'units-test')
      const bare = await bareDebian(place, 'bookworm')
      const { url } = await testService(t)
      await install(t, bare, url)
      const fuse = join(place, 'fuse')
      await printed('mknod', ['-m', '666', fuse, 'c', '10', '229'])
      const start = () => boot(t, bare, { target: 'multi-user.target', nspawn: [`--bind=${fuse}:/dev/fuse`] })

      const first = await start()
      const ready = await first.shown(
        `
        systemctl enable --now calcfs-system@group 2>&1 | grep -o 'multi-user.target.wants/.* →'
        systemctl show -P Type,ActiveState calcfs-system@group
        setpriv --reuid=65534 --regid=65534 --clear-groups ls /srv/calcfs/group/projects`,
      )
      t.match(
        ready.join('\n'),
        /^multi-user.target.wants\/calcfs-system@group.service →\n(active\n\n?notify|notify\n\n?active)\n/,
      )
      t.equal(ready.at(-1), 'Water splitting')
      await first.end()

      const second = await start()
      t.same(
        await second.shown(
          'systemctl is-active calcfs-system@group; ls /srv/calcfs/group/reports | head -n 1',
        ),
        ['active', 'INDEX.tsv'],
        'the start of the machine mounts it',
      )

      const as =
        'setpriv --reuid=anna --regid=anna --init-groups env HOME=/home/anna XDG_RUNTIME_DIR=/run/user/$(id -u anna)'
      t.same(
        await second.shown(
          `systemctl start user@$(id -u anna).service
          ${as} systemctl --user enable --now calcfs@mine 2>/dev/null
          ${as} systemctl --user is-active calcfs@mine
          ${as} ls /home/anna/calcfs/mine/projects
          ${as} systemctl --user stop calcfs@mine
          grep -c /home/anna/calcfs /proc/self/mountinfo || true`,
        ),
        ['active', 'Water splitting', '0'],
        'the unit of a user, too',
      )

      t.same(
        await second.shown(
          `dpkg --purge calcfs 2>&1 | grep ^calcfs:
          grep -c fuse.calcfs /proc/self/mountinfo || true
          readlink /proc/*/exe | grep -c /node || true
          ls -d /etc/calcfs /var/cache/private/calcfs /usr/lib/calcfs 2>/dev/null || true
          [ -n "$(ls -A /var/lib/private/calcfs)" ] && echo edits stay`,
        ),
        [
          'calcfs: /var/lib/private/calcfs stays: it may hold edits that are not saved.',
          '0',
          '0',
          'edits stay',
        ],
        'a purge unmounts first, and keeps the edits',
      )
    },
  )
}
