// Mounting on Linux without libfuse: as root by mount(8) and an inherited descriptor, else by fusermount, which hands one over.
import { spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import koffi, { type LibraryHandle } from 'koffi'
import { flagsOf, type KernelSettings, sourceOf } from '../mount/mount-point.js'
import { fusermounts, helperAmong, helperPath } from './obstacles.js'

/** Milliseconds that mount(8) or fusermount may take; what stands in for fusermount in a sandbox waits for `calcfs hand-over`. */
const helperLimit = 60_000

/**
 * Mounts a FUSE file system that is not served yet.
 * @returns the descriptor of its device, which never blocks and is inherited by no child
 * @throws an Error with the helper's own words
 */
export async function mountDevice(path: string, settings: KernelSettings): Promise<number> {
  return process.getuid?.() === 0 ? mountAsRoot(path, settings) : mountAsUser(path, settings)
}

async function mountAsRoot(path: string, settings: KernelSettings): Promise<number> {
  const device = openSync('/dev/fuse', constants.O_RDWR | constants.O_NONBLOCK)
  const options = [
    `fd=${inheritedAs}`,
    'rootmode=40000',
    `user_id=${process.getuid?.()}`,
    `group_id=${process.getgid?.()}`,
    ...flagsOf(settings),
  ]
  try {
    // `-i`: no helper of the file system type is called, which would be calcfs itself.
    const args = ['-i', '-n', '-t', 'fuse.calcfs', '-o', options.join(','), sourceOf(settings.source), path]
    await run('mount', args, device)
    return device
  } catch (thrown) {
    closeSync(device)
    throw thrown
  }
}

/** The number of the device, or of the socket, in the helper. */
const inheritedAs = 3

async function mountAsUser(path: string, settings: KernelSettings): Promise<number> {
  const { mine, theirs } = socketPair()
  const options = [...flagsOf(settings), 'subtype=calcfs', `fsname=${sourceOf(settings.source)}`]
  const args = ['-o', options.join(','), '--', path]
  try {
    await run(helperAmong(fusermounts) ?? 'fusermount', args, theirs)
    return receiveDescriptor(mine)
  } finally {
    closeSync(mine)
    closeSync(theirs)
  }
}

/** The helper ends before the mount is served: it waits for nothing of this process. */
function run(program: string, args: readonly string[], inherited: number): Promise<void> {
  return new Promise((done, failed) => {
    // The rest of the environment says where the unit's directory is to what stands in for fusermount in a sandbox.
    const variables = [`PATH=${helperPath}`, `_FUSE_COMMFD=${inheritedAs}`]
    const child = spawn('/usr/bin/env', [...variables, program, ...args], {
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe', inherited],
      timeout: helperLimit,
    })
    let said = ''
    child.stderr?.on('data', (part: Buffer) => {
      said += part.toString()
    })
    child.once('error', failed)
    child.once('close', code => {
      if (code === 0) done()
      else failed(new Error(said.trim() || `${program} ended with ${code}`))
    })
  })
}

const [unix, stream, closeOnExec] = [1, 1, 0o2000000] // AF_UNIX, SOCK_STREAM, SOCK_CLOEXEC

/** socketpair(2): Node's own channel to a child aborts the process on a descriptor that comes over it. */
function socketPair() {
  const socketpair = libc().func('int socketpair(int domain, int type, int protocol, _Out_ int *sockets)')
  const sockets = [0, 0]
  if (socketpair(unix, stream | closeOnExec, 0, sockets) !== 0) throw new Error('socketpair failed')
  const [mine = -1, theirs = -1] = sockets
  return { mine, theirs }
}

/** Bytes of a page of memory: 4, 16 or 64 KiB on arm64. */
export const pageBytes = (): number => Number(libc().func('int getpagesize()')())

const libc = (): LibraryHandle => koffi.load(null)

const headerBytes = 56 // struct msghdr on 64 bits, recvmsg(2)
const controlBytes = 24 // a cmsghdr of 16 bytes, one descriptor, and padding
const descriptorAt = 16
/** The helper has ended, and what it sent is there: nothing is waited for. */
const receiveFlags = 0x4000_0000 | 0x40 // MSG_CMSG_CLOEXEC, MSG_DONTWAIT
const [getFlags, setFlags] = [3, 4] // F_GETFL, F_SETFL

/** The one descriptor that fusermount has sent, SCM_RIGHTS of unix(7). */
function receiveDescriptor(socket: number): number {
  const recvmsg = libc().func('long recvmsg(int socket, void *message, int flags)')
  const fcntl = libc().func('int fcntl(int fd, int command, int flags)')
  const byte = Buffer.alloc(1)
  const control = Buffer.alloc(controlBytes)
  const part = Buffer.alloc(16)
  part.writeBigUInt64LE(koffi.address(byte), 0)
  part.writeBigUInt64LE(1n, 8)
  const message = Buffer.alloc(headerBytes)
  message.writeBigUInt64LE(koffi.address(part), 16)
  message.writeBigUInt64LE(1n, 24)
  message.writeBigUInt64LE(koffi.address(control), 32)
  message.writeBigUInt64LE(BigInt(controlBytes), 40)
  const received = Number(recvmsg(socket, message, receiveFlags))
  const descriptor = control.readInt32LE(descriptorAt)
  if (received !== 1 || control.readUInt32LE(0) < controlBytes - 4)
    throw new Error('fusermount has sent no descriptor')
  fcntl(descriptor, setFlags, Number(fcntl(descriptor, getFlags, 0)) | constants.O_NONBLOCK)
  return descriptor
}
