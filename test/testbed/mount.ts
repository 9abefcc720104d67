// The ground with a real kernel: a daemon of its own mounts the drive, and files are used through the kernel.
import * as fs from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { readWhole, untimed } from '../long/timed.js'
import { command } from './commands/warm-commands.js'
import { Daemon, livingIn } from './daemon.js'
import { printed, type Ran, run } from './programs.js'
import { type TestService, testService } from './service.js'
import type {
  DriveFiles,
  FileKind,
  FileStat,
  OpenedFile,
  Testbed,
  TestbedOptions,
  TestLifetime,
} from './testbed.js'
import { within } from './within.js'

/** A drive on a real mount, with what only a real one has. */
export interface KernelTestbed extends Testbed {
  readonly name: 'mount'
  /** The mount point. */
  readonly directory: string
  /** A directory on the local disk that goes with the test. */
  readonly local: string
  /** The home directory of the daemon, with its cache and its state. */
  readonly home: string
  /** The variables with which the daemon and its commands run. */
  readonly environment: Readonly<Record<string, string>>
  /** What the daemon has logged so far. */
  log(): Promise<string>
  /** The command line, with the same directories as the daemon. */
  calcfs(...args: string[]): Promise<Ran>
  /** The same about this drive. */
  here(...args: string[]): Promise<Ran>
}

/** The same with a daemon of its own. */
export interface MountTestbed extends KernelTestbed {
  /** The daemon's process. */
  daemonPid(): number | undefined
  /** Whether the daemon that was started last is still there. */
  alive(): boolean
  /** The daemon dies without a word; the mount point stays dead. */
  kill9(): Promise<void>
  /** Starts a daemon on the mount point and waits until the drive is there. */
  mount(): Promise<void>
  /** SIGTERM to the daemon; its exit status. */
  terminate(): Promise<number | null>
}

/** What the kernel asked while this was done; the daemon logs at the level `debug`. */
export async function callsDuring(
  testbed: KernelTestbed,
  work: () => Promise<unknown>,
): Promise<readonly { readonly verb: string; readonly path: string }[]> {
  const before = (await testbed.log()).length
  await work()
  const lines = (await testbed.log()).slice(before).trim().split('\n')
  return lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'call')
}

/** What a mount shares with another one; two mounts with one home share its cache and its state, too. */
export interface SharedParts {
  readonly service?: TestService
  readonly home?: string
  /** The first words of the daemon's command, which start it in a network of its own. */
  readonly prefix?: readonly string[]
  /** The address at which the daemon reaches the service. */
  readonly url?: string
  /** `bin/calcfs` of another copy of the program, for the daemon alone. */
  readonly program?: string
}

export async function realMount(
  t: TestLifetime,
  wish: TestbedOptions = {},
  shared: SharedParts = {},
): Promise<MountTestbed> {
  const { environment, logFile, parts, removed } = await mountPlace(t, wish, shared)
  const { service, directory } = parts
  const daemon = new Daemon({
    url: shared.url ?? service.url,
    directory,
    environment,
    ...(shared.prefix === undefined ? {} : { prefix: shared.prefix }),
    ...(shared.program === undefined ? {} : { program: shared.program }),
    ...(wish.preload === undefined ? {} : { preload: wish.preload }),
  })
  const mount = () => daemon.start({ logLevel: 'info', logFile, user: 'demo', ...wish.settings })
  t.teardown(async () => {
    await daemon.endAnyhow()
    await removed()
  })
  await mount()
  return {
    ...parts,
    mount,
    daemonPid: () => daemon.pid,
    alive: () => daemon.alive,
    async kill9() {
      await daemon.end('SIGKILL')
    },
    terminate: () => daemon.end(),
    async remount() {
      await daemon.end()
      await mount()
    },
    pass: milliseconds => new Promise(wake => setTimeout(wake, milliseconds)),
  }
}

/** Where a drive is mounted, whatever process serves it. */
export async function mountPlace(t: TestLifetime, wish: TestbedOptions, shared: SharedParts = {}) {
  const service = shared.service ?? (await testService(t, wish))
  const base = await fs.mkdtemp(join(tmpdir(), 'calcfs-mount-'))
  const directory = join(base, 'drive')
  const local = join(base, 'local')
  const logFile = join(base, 'log')
  for (const made of [directory, local, join(base, 'run')]) await fs.mkdir(made)
  const home = shared.home ?? base
  const environment = environmentOf(home, wish)
  const parts: Omit<KernelTestbed, 'remount' | 'pass'> = {
    name: 'mount',
    service,
    directory,
    local,
    home,
    environment,
    files: filesBelow(directory),
    log: () => fs.readFile(logFile, 'utf8'),
    calcfs: (...args) => command(args, environment),
    here: (...args) => command([...args, '--mount', directory], environment),
  }
  return {
    environment,
    logFile,
    parts,
    /** For the end of the test, once nothing serves the drive any more: frees the mount point, and removes all of it. */
    async removed() {
      if (await isMounted(directory)) await run('fusermount', ['-u', '-z', directory])
      await fs.rm(base, { recursive: true, force: true })
    },
  }
}

/** Whether the kernel lists a mount here. */
export async function isMounted(directory: string): Promise<boolean> {
  return (await fs.readFile('/proc/self/mountinfo', 'utf8')).includes(` ${directory} `)
}

function environmentOf(
  base: string,
  { password = 'demo', xattrs, environment }: TestbedOptions,
): Record<string, string> {
  return {
    ...(xattrs === 'off' ? {} : { CALCFS_XATTRS: 'yes' }),
    ...livingIn(base),
    CALCFS_PASSWORD: password,
    ...environment,
  }
}

/** Of Node's threads for files the service in this process needs some: never more than these wait for the kernel. */
const waiting = pLimit(Number(process.env['UV_THREADPOOL_SIZE'] ?? 4) / 2)
const operationLimit = 40_000
const inTime = <Value>(what: string, work: () => Promise<Value>): Promise<Value> =>
  waiting(() => within(operationLimit, what, work()))

function filesBelow(directory: string): DriveFiles {
  const at = (path: string): string => `${directory}/${path}`
  return {
    async readdir(path) {
      const entries = await inTime(`readdir ${path}`, () => fs.readdir(at(path), { withFileTypes: true }))
      return new Map(entries.map(entry => [entry.name, kindOf(entry)]))
    },
    lstat: async path => seen(await inTime(`lstat ${path}`, () => fs.lstat(at(path)))),
    stat: async path => seen(await inTime(`stat ${path}`, () => fs.stat(at(path)))),
    // Node's own readFile takes a short read for the end of the file; a kernel gives one before it tells of an error.
    readFile: path => inTime(`read ${path}`, () => readWhole(untimed, at(path))),
    readlink: path => inTime(`readlink ${path}`, () => fs.readlink(at(path))),
    open: async (path, how) => opened(await inTime(`open ${path}`, () => fs.open(at(path), how))),
    truncate: (path, size) => inTime(`truncate ${path}`, () => fs.truncate(at(path), size)),
    rename: (from, to) => inTime(`rename ${from}`, () => fs.rename(at(from), at(to))),
    unlink: path => inTime(`unlink ${path}`, () => fs.unlink(at(path))),
    mkdir: path => inTime(`mkdir ${path}`, () => fs.mkdir(at(path))),
    rmdir: path => inTime(`rmdir ${path}`, () => fs.rmdir(at(path))),
    symlink: (target, path) => inTime(`symlink ${path}`, () => fs.symlink(target, at(path))),
    async touch(path) {
      const now = new Date()
      await inTime(`touch ${path}`, async () => {
        const opened = await fs
          .open(at(path), fs.constants.O_WRONLY | fs.constants.O_CREAT)
          .catch(() => undefined)
        await opened?.close()
        await fs.utimes(at(path), now, now)
      })
    },
    chmod: (path, mode) => inTime(`chmod ${path}`, () => fs.chmod(at(path), mode)),
    statfs: () => inTime('statfs', () => fs.statfs(directory)),
    async xattr(path, name) {
      const found = await run('getfattr', ['--absolute-names', '--only-values', '-h', '-n', name, at(path)])
      return found.code === 0 ? found.stdout : undefined
    },
    async xattrs(path) {
      const found = await printed('getfattr', ['--absolute-names', '-h', '-m', '-', at(path)])
      return found.split('\n').filter(line => line !== '' && !line.startsWith('#'))
    },
  }
}

function opened(file: fs.FileHandle): OpenedFile {
  return {
    async read(length, position) {
      const { buffer, bytesRead } = await inTime('read', () =>
        file.read(Buffer.alloc(length), 0, length, position),
      )
      return buffer.subarray(0, bytesRead)
    },
    write: async (text, position) => {
      await inTime('write', () => file.write(text, position))
    },
    truncate: size => inTime('ftruncate', () => file.truncate(size)),
    sync: () => inTime('fsync', () => file.sync()),
    close: () => inTime('close', () => file.close()),
  }
}

interface Kinded {
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

const kindOf = (entry: Kinded): FileKind =>
  entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'file'

const seen = (stat: Kinded & Pick<FileStat, 'mode' | 'size' | 'mtimeMs'>): FileStat => ({
  kind: kindOf(stat),
  mode: stat.mode & 0o7777,
  size: stat.size,
  mtimeMs: stat.mtimeMs,
})
