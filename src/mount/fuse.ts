// FUSE binding: kernel calls become the drive's verbs, and every call is answered exactly once.
import { constants } from 'node:os'
import Fuse, { type Operations, type Stat, type Statfs } from 'fuse-native'
import type { KernelCalls } from '../activity/kernel-calls.js'
import { type Attributes, modeOf } from '../drive/interface/attributes.js'
import { accessOf, type Space } from '../drive/interface/verbs.js'
import { longestName } from '../drive/nodes/name.js'
import { rootPlace } from '../drive/nodes/place.js'
import { asFailure, errnoOf } from '../failure.js'
import { type MaybePromise, outcomeOf } from '../maybe-promise.js'
import { byteOffset, instant } from '../remote/remote.js'
import type { PendingCalls } from './changes-in-progress.js'
import { flagsOf, type KernelSettings, sourceOf } from './mount-point.js'
import type { PathDrive } from './path-drive.js'

export type LogFailure = (verb: string, path: string, thrown: unknown) => void

/** The notes of the kernel's calls: why each one failed, and all of them with their times. */
export interface CallLog {
  readonly failed: LogFailure
  readonly calls: Pick<KernelCalls, 'begin' | 'returned' | 'answered'>
}

/** Seconds for which the kernel keeps a name: it cannot be told that another client has made it another thing. */
const namesSeconds = 1
/** The option string is copied to a fixed buffer of the binding. */
const longestOptions = 1023

export class CalcfsFuse extends Fuse {
  constructor(
    mountPoint: string,
    operations: Partial<Operations>,
    private readonly settings: Omit<KernelSettings, 'cacheSeconds' | 'xattrs'>,
  ) {
    super(mountPoint, operations, { timeout: settings.timer })
  }

  override _fuseOptions(): string {
    const { source } = this.settings
    const options = [
      'subtype=calcfs',
      'big_writes',
      'max_read=131072',
      'max_readahead=1048576',
      `entry_timeout=${namesSeconds}`,
      // A size is asked for before a read beyond it, and pages go with each open: no text is cut, and none is an old one.
      'attr_timeout=0',
      'negative_timeout=0',
      ...flagsOf(this.settings),
    ]
    const room = longestOptions - options.join(',').length - '-o,fsname='.length
    return `-o${[...options, `fsname=${sourceOf(source).slice(0, room)}`].join(',')}`
  }
}

/** Verbs for whose outcome an unmount waits not. */
const unawaited = new Set('getattr readdir readlink statfs open read utimens chmod chown'.split(' '))

type Answered = (error: number, ...values: never[]) => void

export function operationsOf(
  drive: PathDrive,
  log: CallLog,
  pendingCalls: PendingCalls,
): Partial<Operations> {
  function negative(verb: string, path: string, thrown: unknown): number {
    const failure = asFailure(thrown)
    log.failed(verb, path, failure)
    return -constants.errno[errnoOf(failure.kind)]
  }

  /** One operation, answered once in any case: a handler that throws would end the daemon. `shown`: what the binding is told. */
  const operation =
    <Given extends unknown[], Value>(
      verb: string,
      ask: (path: string, ...given: Given) => MaybePromise<Value>,
      shown: (error: number, value?: Value) => readonly unknown[] = (error, value) => [error, value],
    ) =>
    (path: string, ...all: [...Given, Answered]): void => {
      const [given, done] = [all.slice(0, -1) as Given, all.at(-1) as (...told: readonly unknown[]) => void]
      const counted = log.calls.begin(verb, () => path)
      const reply = (error: number, value?: Value): void => {
        done(...shown(error, value))
        log.calls.answered(counted, Math.max(0, -error), errnoName(error))
      }
      const refuse = (thrown: unknown): void => reply(negative(verb, path, thrown))
      const soon = outcomeOf(() => ask(path, ...given))
      log.calls.returned(counted, 'value' in soon && soon.value instanceof Promise)
      if ('thrown' in soon) refuse(soon.thrown)
      else if (soon.value instanceof Promise) {
        const answered = soon.value.then(value => reply(0, value), refuse)
        if (!unawaited.has(verb)) pendingCalls.begin(answered)
      } else reply(0, soon.value)
    }

  const { at, named } = drive
  const counted = (error: number, bytes = 0): readonly unknown[] => [error || bytes]
  return {
    init: done => done(0),
    getattr: operation('getattr', drive.getattr, (error, found) => [error, found && stat(found)]),
    // glibc's readdir(3) takes ENOENT for the end of the directory, so `ls` would show an empty one.
    readdir: operation('readdir', drive.readdir, (error, listing) => {
      const listed = [...dots, ...(listing?.entries ?? [])]
      const names = listed.map(({ name }) => name)
      const stats = listed.map(({ node }) => stat({ mode: modeOf(node, false), size: 0, mtime: instant(0) }))
      return [error === -constants.errno.ENOENT ? -constants.errno.ESTALE : error, names, stats]
    }),
    readlink: operation('readlink', drive.readlink),
    statfs: operation('statfs', drive.statfs, (error, space) => [error, space && statfs(space)]),
    open: operation('open', (path, flags: number) => drive.open(path, accessOf(flags))),
    create: operation('create', async (path, _mode: number) => drive.create(await named(path))),
    read: operation(
      'read',
      (_, handle: number, buffer: Buffer, length: number, position: number) =>
        drive.read(handle, buffer.subarray(0, length), byteOffset(position)),
      counted,
    ),
    write: operation(
      'write',
      async (_, handle: number, buffer: Buffer, length: number, position: number) => {
        // The kernel's buffer is gone once the call is answered, and the binding's timer may answer first.
        await drive.write(handle, Buffer.from(buffer.subarray(0, length)), byteOffset(position))
        return length
      },
      counted,
    ),
    truncate: operation('truncate', async (path, size: number) =>
      drive.truncate(await at(path), byteOffset(size)),
    ),
    ftruncate: operation('ftruncate', (_, handle: number, size: number) =>
      drive.ftruncate(handle, byteOffset(size)),
    ),
    flush: operation('flush', (_, handle: number) => drive.flush(handle)),
    fsync: operation('fsync', (_, _dataOnly: number, handle: number) => drive.fsync(handle)),
    release: operation('release', (_, handle: number) => drive.release(handle)),
    unlink: operation('unlink', async path => drive.unlink(await named(path))),
    rmdir: operation('rmdir', async path => drive.rmdir(await named(path))),
    rename: operation('rename', async (from, to: string) => drive.rename(await named(from), await named(to))),
    mkdir: operation('mkdir', async (path, _mode: number) => drive.mkdir(await named(path))),
    // Of a link the binding gives first what it leads to.
    symlink: (target, path, done) =>
      operation('symlink', async () => drive.symlink(target, await named(path)))(path, done),
    link: (_target, path, done) => operation('link', async () => drive.link(await named(path)))(path, done),
    mknod: operation('mknod', async (path, _mode: number, _device: number) => drive.mknod(await named(path))),
    chmod: operation('chmod', async (path, _mode: number) => drive.change(await at(path))),
    chown: operation('chown', async (path, _uid: number, _gid: number) => drive.change(await at(path))),
    // The binding passes atime twice; touch sets both alike.
    utimens: operation('utimens', async (path, _atime: number, mtime: number) =>
      drive.touch(await at(path), instant(mtime)),
    ),
  }
}

const errnoNames = new Map(Object.entries(constants.errno).map(([name, number]) => [-number, name]))

/** Of the binding's result; what is not negative counts bytes, or is 0. */
const errnoName = (result: number): string => (result < 0 ? (errnoNames.get(result) ?? 'other') : 'OK')

const uid = process.getuid?.() ?? 0
const gid = process.getgid?.() ?? 0
const blockBytes = 512 // st_blocks counts these, stat(2)

function stat({ mode, size, mtime }: Pick<Attributes, 'mode' | 'size' | 'mtime'>): Stat {
  return {
    mode,
    uid,
    gid,
    size,
    nlink: 1, // for a directory 1 means "unknown" to find(1); counting sub-directories would cost requests
    blocks: Math.ceil(size / blockBytes),
    blksize: 131072,
    mtime,
    atime: mtime,
    ctime: mtime,
  }
}

/** The binding carries counts of 32 bits. */
function statfs({ bsize, blocks, bfree, bavail, files, ffree }: Space): Statfs {
  const small = (count: number): number => Math.min(count, 0xffff_ffff)
  return {
    bsize,
    frsize: bsize,
    blocks: small(blocks),
    bfree: small(bfree),
    bavail: small(bavail),
    files: small(files),
    ffree: small(ffree),
    favail: small(ffree),
    namemax: longestName,
  }
}

const dots = ['.', '..'].map(name => ({ name, node: rootPlace.node }))
