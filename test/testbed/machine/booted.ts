// A machine of the test's own: systemd starts in a container whose files are this machine's, and what it writes is in memory.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { printed, type Ran, run } from '../programs.js'
import type { TestLifetime } from '../testbed.js'
import { until, within } from '../within.js'

const installation = fileURLToPath(new URL('../../../..', import.meta.url))

export type BootedMachine = Awaited<ReturnType<typeof boot>>

export interface MachineParts {
  /** Files by their paths, written before the start; all are readable by root alone. */
  readonly files: Readonly<Record<string, string>>
  readonly users: readonly { readonly name: string; readonly id: number }[]
}

/** Milliseconds; a machine that does other things takes its time. */
const limits = { boot: 60_000, command: 60_000, end: 30_000 }

/**
 * Starts it with calcfs installed as the Debian package does: below /usr/lib/calcfs, its units, and mount.calcfs in /sbin. It shares
 * the network of this machine.
 */
export async function bootedMachine(t: TestLifetime, parts: MachineParts): Promise<BootedMachine> {
  if (process.getuid?.() !== 0)
    throw new Error('systemd-nspawn starts a machine for root only: run this test as root')
  // Outside of the installation, which the machine sees too.
  const memory = await mkdtemp(join(tmpdir(), 'calcfs-machine-'))
  const root = join(memory, 'root')
  await printed('mount', ['-t', 'tmpfs', 'tmpfs', memory])
  t.teardown(async () => {
    await run('umount', ['-l', root])
    await run('umount', ['-l', memory])
    await rmdir(memory)
  })
  for (const made of ['upper', 'work', 'root']) await mkdir(join(memory, made))
  const layers = `lowerdir=/,upperdir=${memory}/upper,workdir=${memory}/work`
  await printed('mount', ['-t', 'overlay', 'overlay', '-o', layers, root])
  await prepare(root, parts)
  await printed('mknod', ['-m', '666', join(memory, 'fuse'), 'c', '10', '229'])
  return boot(t, root, {
    target: 'basic.target',
    nspawn: [
      `--bind=${memory}/fuse:/dev/fuse`,
      `--bind-ro=${installation}:/usr/lib/calcfs`,
      `--bind-ro=${process.execPath}:/usr/local/bin/node`,
    ],
  })
}

/** Starts systemd in a file system, and waits for the target; the machine ends with the test, or before. */
export async function boot(
  t: TestLifetime,
  root: string,
  { target, nspawn }: { readonly target: string; readonly nspawn: readonly string[] },
) {
  const machine = spawn(
    'systemd-nspawn',
    [
      ...['--quiet', '--boot', `--directory=${root}`, '--register=no', '--keep-unit', '--console=pipe'],
      `--bind=/dev/autofs`,
      ...nspawn,
      // pidfd_getfd(2), which a machine of its own has.
      '--system-call-filter=@debug',
      `systemd.unit=${target}`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const said: Buffer[] = []
  for (const stream of [machine.stdout, machine.stderr]) stream.on('data', piece => said.push(piece))
  const failure = (): string => `systemd does not start in a container: ${Buffer.concat(said).toString()}`
  machine.once('error', cause =>
    said.push(Buffer.from(`${cause.message}; apt-get install systemd-container`)),
  )
  let leader: string | undefined
  t.teardown(() => ended(machine, leader))
  await until(
    limits.boot,
    'the start of the machine',
    async () => {
      if (machine.exitCode !== null || machine.pid === undefined) throw new Error(failure())
      leader = await childOf(machine.pid)
      if (leader === undefined) return false
      const state = await run('nsenter', ['-t', leader, '-a', 'systemctl', 'is-active', target])
      return state.stdout === 'active\n'
    },
    200,
  ).catch(cause => {
    throw new Error(failure(), { cause })
  })
  const enter = ['-t', leader ?? '', '-a', '/usr/bin/env', '-i', `PATH=${searchPath}`, 'bash', '-c']
  const limit = limits.command
  return {
    /** Runs lines of bash as root of that machine. */
    inside: (lines: string): Promise<Ran> => run('nsenter', [...enter, lines], { limit }),
    /** What such lines print; they end well. */
    shown: async (lines: string): Promise<readonly string[]> =>
      (await printed('nsenter', [...enter, lines], { limit })).trimEnd().split('\n'),
    /** As the end of power: nothing is stopped in order. */
    end: (): Promise<void> => ended(machine, leader),
  }
}

const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin'

async function prepare(root: string, { files, users }: MachineParts): Promise<void> {
  const accounts = users.map(({ name, id }) => `${name}:x:${id}:${id}::/home/${name}:/bin/bash\n`).join('')
  const groups = users.map(({ name, id }) => `${name}:x:${id}:\n`).join('')
  const all = {
    '/etc/machine-id': '',
    '/etc/fstab': '',
    '/etc/passwd': (await readFile('/etc/passwd', 'utf8')) + accounts,
    // PAM asks whether the account has expired.
    '/etc/shadow': users.map(({ name }) => `${name}:*:19000:0:99999:7:::\n`).join(''),
    '/etc/group': (await readFile('/etc/group', 'utf8')) + groups,
    ...files,
  }
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text, { mode: 0o600 })
  }
  const lines = [
    `chmod 644 etc/passwd etc/group etc/fstab`,
    ...users.map(({ name, id }) => `mkdir -p home/${name} && chown -R ${id}:${id} home/${name}`),
    `mkdir -p usr/lib/calcfs usr/local/bin etc/systemd/user && touch usr/local/bin/node`,
    `cp ${installation}/systemd/calcfs-system@.service etc/systemd/system/`,
    `cp ${installation}/systemd/calcfs@.service etc/systemd/user/`,
    'ln -sf /usr/lib/calcfs/bin/calcfs usr/local/bin/calcfs',
    'ln -sf /usr/lib/calcfs/bin/mount.calcfs usr/sbin/mount.calcfs',
  ]
  await printed('bash', ['-ec', lines.join('\n')], { cwd: root })
}

async function childOf(pid: number): Promise<string | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return /^\d+/.exec(children)?.[0]
}

/** Its processes end with the first of them. */
async function ended(machine: ChildProcess, leader: string | undefined): Promise<void> {
  if (machine.exitCode !== null || machine.signalCode !== null) return
  const closed = once(machine, 'exit')
  if (leader === undefined) machine.kill('SIGKILL')
  else await run('nsenter', ['-t', leader, '-a', 'systemctl', 'poweroff', '--force', '--force'])
  await within(limits.end, 'the end of the machine', closed)
}
