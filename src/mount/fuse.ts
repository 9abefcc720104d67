// FUSE binding: kernel calls become the drive's verbs, and every call is answered exactly once.
import { constants } from 'node:os'
import Fuse, { type Operations, type Stat } from 'fuse-native'
import type { KernelCalls } from '../activity/kernel-calls.js'
import { type Attributes, fileTypes } from '../drive/interface/attributes.js'
import { errnoOf } from '../drive/interface/errno.js'
import type { PathDrive as Drive } from '../drive/interface/path-drive.js'
import type { OpenAccess } from '../drive/interface/verbs.js'
import { asFailure } from '../failure.js'
import type { MaybePromise } from '../maybe-promise.js'
import { byteOffset, instant } from '../remote/remote.js'
import type { PendingCalls } from './changes-in-progress.js'
import { sourceOf } from './mount-point.js'

/** Mount options of the kernel. */
export interface KernelSettings {
  /** Shown as the source in `mount` and `df`. */
  readonly source: string
  readonly readOnly: boolean
  readonly allowOther: boolean
  /** The mount point is an automount point, which libfuse must not look into. */
  readonly onAutomount?: boolean
  /** Whether extended attributes are answered; else the kernel hears ENOSYS once, and asks for none any more. */
  readonly xattrs: boolean
  /** Seconds for which a kernel that is told of changes keeps names and attributes; libfuse's is not. */
  readonly cacheSeconds: number
  /** Milliseconds after which the binding answers by itself; above every deadline of the drive. */
  readonly timer: number
}

export type LogFailure = (verb: string, path: string, thrown: unknown) => void

/** What is noted of the kernel's calls: why each one failed, and all of them with their times. */
export interface CallLog {
  readonly failed: LogFailure
  readonly calls: Pick<KernelCalls, 'begin' | 'returned' | 'answered'>
}

const accessMask = 0o3 // O_ACCMODE, open(2)
const accesses: Readonly<Record<number, OpenAccess>> = { 0: 'read', 1: 'write-only', 2: 'write' }
/** Seconds for which the kernel keeps a name: it cannot be told that another client has made it another thing. */
const namesSeconds = 1
/** The option string is copied to a fixed buffer of the binding. */
const longestOptions = 1023

export class CalcfsFuse extends Fuse {
  constructor(
    mountPoint: string,
    operations: Partial<Operations>,
    private readonly settings: Omit<KernelSettings, 'cacheSeconds'>,
  ) {
    super(mountPoint, settings.xattrs ? operations : withoutXattrs(operations), { timeout: settings.timer })
  }

  override _fuseOptions(): string {
    const { readOnly, allowOther, onAutomount, source } = this.settings
    const options = [
      'subtype=calcfs',
      'big_writes',
      'max_read=131072',
      'max_readahead=1048576',
      `entry_timeout=${namesSeconds}`,
      // A size is asked for before a read beyond it, and pages go with each open: no text is cut, and none is an old one.
      'attr_timeout=0',
      'negative_timeout=0',
      'default_permissions',
      // What a service sends is never a device and never a program.
      'nosuid',
      'nodev',
      'noexec',
      ...(onAutomount ? ['nonempty'] : []),
      ...(readOnly ? ['ro'] : []),
      ...(allowOther ? ['allow_other'] : []),
    ]
    const room = longestOptions - options.join(',').length - '-o,fsname='.length
    return `-o${[...options, `fsname=${sourceOf(source).slice(0, room)}`].join(',')}`
  }

  // The binding copies a value into the caller's buffer whatever its length; getxattr(2) wants ERANGE.
  override _op_getxattr(
    signal: (result: number, buffer: ArrayBufferLike) => void,
    path: string,
    name: string,
    value: Buffer,
    position: number,
  ): void {
    this.ops.getxattr(path, name, position, (error, found) => {
      if (error || found === undefined) return signal(error || -constants.errno.ENODATA, value.buffer)
      if (value.length === 0) return signal(found.length, value.buffer)
      if (found.length > value.length) return signal(-constants.errno.ERANGE, value.buffer)
      found.copy(value)
      signal(found.length, value.buffer)
    })
  }

  override _op_listxattr(
    signal: (result: number, buffer: ArrayBufferLike) => void,
    path: string,
    list: Buffer,
  ): void {
    this.ops.listxattr(path, (error, names) => {
      if (error || names === undefined) return signal(error || 0, list.buffer)
      const text = Buffer.from(names.map(name => `${name}\0`).join(''))
      if (list.length > 0 && text.length > list.length) return signal(-constants.errno.ERANGE, list.buffer)
      text.copy(list)
      signal(text.length, list.buffer)
    })
  }
}

/** The drive's verbs as fuse-native operations. */
export function operationsOf(drive: Drive, log: CallLog, pendingCalls?: PendingCalls): Partial<Operations> {
  function negative(verb: string, path: string, thrown: unknown): number {
    const failure = asFailure(thrown)
    log.failed(verb, path, failure)
    return -constants.errno[errnoOf(failure.kind)]
  }

  /** Runs a verb and answers once in any case: a handler that throws would end the daemon. */
  function answer<Value>(
    call: { verb: string; path: string },
    run: () => MaybePromise<Value>,
    answered: (error: number, value?: Value) => void,
  ): void {
    const counted = log.calls.begin(call.verb, () => call.path)
    const reply = (error: number, value?: Value): void => {
      answered(error, value)
      log.calls.answered(counted, Math.max(0, -error), errnoName(error))
    }
    const refuse = (thrown: unknown): void => reply(negative(call.verb, call.path, thrown))
    const soon = callVerb(run)
    log.calls.returned(counted, 'value' in soon && soon.value instanceof Promise)
    if ('thrown' in soon) refuse(soon.thrown)
    else if (soon.value instanceof Promise) {
      const answered = soon.value.then(value => reply(0, value), refuse)
      pendingCalls?.begin(call.verb, answered)
    } else reply(0, soon.value)
  }

  const plain =
    (verb: 'unlink' | 'rmdir') =>
    (path: string, done: (error: number) => void): void =>
      answer({ verb, path }, () => drive[verb](path), done)

  return {
    init: done => done(0),
    getattr(path, done) {
      answer(
        { verb: 'getattr', path },
        () => drive.getattr(path),
        (error, found) => done(error, found && stat(found)),
      )
    },
    // glibc's readdir(3) takes ENOENT for the end of the directory, so `ls` would show an empty one.
    readdir(path, done) {
      answer(
        { verb: 'readdir', path },
        () => drive.readdir(path),
        (error, entries = []) => {
          const listed = [...dots, ...entries]
          const names = listed.map(({ name }) => name)
          const stats = listed.map(({ mode }) => stat({ mode, size: 0, mtime: instant(0) }))
          done(error === -constants.errno.ENOENT ? -constants.errno.ESTALE : error, names, stats)
        },
      )
    },
    readlink(path, done) {
      answer({ verb: 'readlink', path }, () => drive.readlink(path), done)
    },
    statfs(path, done) {
      answer({ verb: 'statfs', path }, () => drive.statfs(), done)
    },
    open(path, flags, done) {
      const access = accesses[flags & accessMask] ?? 'write'
      answer({ verb: 'open', path }, () => drive.open(path, access), done)
    },
    create(path, _mode, done) {
      answer({ verb: 'create', path }, () => drive.create(path), done)
    },
    read(path, handle, buffer, length, position, done) {
      const target = buffer.subarray(0, length)
      answer({ verb: 'read', path }, () => drive.read(handle, target, byteOffset(position)), count)
      function count(error: number, bytes?: number): void {
        done(error || (bytes ?? 0))
      }
    },
    write(path, handle, buffer, length, position, done) {
      // The kernel's buffer is gone once the call is answered, and the binding's timer may answer first.
      const bytes = Buffer.from(buffer.subarray(0, length))
      answer(
        { verb: 'write', path },
        () => drive.write(handle, bytes, byteOffset(position)),
        error => done(error || length),
      )
    },
    truncate(path, size, done) {
      answer({ verb: 'truncate', path }, () => drive.truncate(path, byteOffset(size)), done)
    },
    ftruncate(path, handle, size, done) {
      answer({ verb: 'ftruncate', path }, () => drive.ftruncate(handle, byteOffset(size)), done)
    },
    flush(path, handle, done) {
      answer({ verb: 'flush', path }, () => drive.flush(handle), done)
    },
    fsync(path, _dataOnly, handle, done) {
      answer({ verb: 'fsync', path }, () => drive.fsync(handle), done)
    },
    release(path, handle, done) {
      answer({ verb: 'release', path }, () => drive.release(handle), done)
    },
    unlink: plain('unlink'),
    rmdir: plain('rmdir'),
    rename(from, to, done) {
      answer({ verb: 'rename', path: from }, () => drive.rename(from, to), done)
    },
    mkdir(path, _mode, done) {
      answer({ verb: 'mkdir', path }, () => drive.mkdir(path), done)
    },
    symlink(target, path, done) {
      answer({ verb: 'symlink', path }, () => drive.symlink(target, path), done)
    },
    link(_target, path, done) {
      answer({ verb: 'link', path }, () => drive.link(path), done)
    },
    mknod(path, _mode, _device, done) {
      answer({ verb: 'mknod', path }, () => drive.mknod(path), done)
    },
    chmod(path, _mode, done) {
      answer({ verb: 'chmod', path }, () => drive.change(path), done)
    },
    chown(path, _uid, _gid, done) {
      answer({ verb: 'chown', path }, () => drive.change(path), done)
    },
    // The binding passes atime twice; touch sets both alike.
    utimens(path, _atime, mtime, done) {
      answer({ verb: 'utimens', path }, () => drive.touch(path, instant(mtime)), done)
    },
    setxattr(path, _name, _value, _position, _flags, done) {
      answer({ verb: 'setxattr', path }, () => drive.setxattr(path), done)
    },
    removexattr(path, _name, done) {
      answer({ verb: 'removexattr', path }, () => drive.setxattr(path), done)
    },
    getxattr(path, name, _position, done) {
      answer(
        { verb: 'getxattr', path },
        () => drive.getxattr(path, name),
        (error, text) => done(error, text === undefined ? undefined : Buffer.from(text)),
      )
    },
    listxattr(path, done) {
      answer(
        { verb: 'listxattr', path },
        () => drive.listxattr(path),
        (error, names) => done(error, names && [...names]),
      )
    },
  }
}

const errnoNames = new Map(Object.entries(constants.errno).map(([name, number]) => [-number, name]))

/** Of the binding's result; what is not negative counts bytes, or is 0. */
const errnoName = (result: number): string => (result < 0 ? (errnoNames.get(result) ?? 'other') : 'OK')

function withoutXattrs(operations: Partial<Operations>): Partial<Operations> {
  const { getxattr, listxattr, setxattr, removexattr, ...others } = operations
  return others
}

type CallOutcome<Value> = { readonly value: MaybePromise<Value> } | { readonly thrown: unknown }

/** Separate from the reply, which must not be given twice. */
function callVerb<Value>(run: () => MaybePromise<Value>): CallOutcome<Value> {
  try {
    return { value: run() }
  } catch (thrown) {
    return { thrown }
  }
}

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

const dots = ['.', '..'].map(name => ({ name, mode: fileTypes.directory }))
