// A Debian with its essential packages only, in a directory of the test: what is installed there says by itself what it needs.
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { printed, type Ran, run } from '../programs.js'

/** Milliseconds: it takes a minute, where the mirror is near. */
const limit = 900_000
const mirror = 'http://deb.debian.org/debian'

/** Makes it below `place`, and answers where. */
export async function bareDebian(place: string, release: 'bookworm' | 'trixie'): Promise<string> {
  if (process.getuid?.() !== 0)
    throw new Error('debootstrap makes a file system for root only: run this test as root')
  const bare = join(place, release)
  await printed('debootstrap', ['--variant=minbase', release, bare, mirror], { limit })
  await cp('/etc/resolv.conf', join(bare, 'etc/resolv.conf'))
  return bare
}

/** This machine's Node, in a package of the test's own: Debian 12 has none that is new enough. */
export async function addNode(bare: string): Promise<string> {
  const node = join(bare, 'node-package')
  await mkdir(join(node, 'DEBIAN'), { recursive: true })
  await mkdir(join(node, 'usr/bin'), { recursive: true })
  await cp(process.execPath, join(node, 'usr/bin/node'))
  const architecture = (await printed('dpkg', ['--print-architecture'])).trim()
  const control = `Package: nodejs\nVersion: ${process.versions.node}\nArchitecture: ${architecture}\nMaintainer: a test <test@localhost>\nDepends: libstdc++6\nDescription: the Node of this test\n`
  await writeFile(join(node, 'DEBIAN/control'), control)
  const file = join(bare, 'nodejs.deb')
  await printed('dpkg-deb', ['--root-owner-group', '-Znone', '--build', node, file], { limit })
  await run('rm', ['-r', node])
  return file
}

/** Runs lines of bash as root there, with a /proc, a /dev/fuse and terminals; what it mounts and starts ends with it. */
export async function inBareDebian(bare: string, lines: string): Promise<Ran> {
  await writeFile(
    join(bare, 'steps'),
    `export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root
    unset NODE_EXTRA_CA_CERTS NODE_OPTIONS
    apt() { apt-get -q -y "$@" >/log 2>&1; }
    ends() { echo "$1 $?"; }
    ${lines}`,
  )
  const around = [
    `mount -t proc proc ${bare}/proc`,
    `mkdir -p ${bare}/dev/pts && mount -t devpts devpts ${bare}/dev/pts`,
    `[ -e ${bare}/dev/fuse ] || mknod -m 666 ${bare}/dev/fuse c 10 229`,
    `exec chroot ${bare} bash /steps`,
  ]
  const args = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private', 'bash', '-c']
  return run('unshare', [...args, around.join('\n')], { limit })
}
