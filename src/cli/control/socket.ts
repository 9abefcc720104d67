// Control socket of a drive: one per mount point, in a directory that only its owner may enter.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import type { Environment } from '../../config/places.js'
import { Failure } from '../../failure.js'
import type { Mount } from '../../mount/mount-point.js'
import { codeOf } from '../../system/error-code.js'
import { privateDirectory } from '../../system/own-file.js'
import { isProcessAlive } from '../../system/process.js'

/** sun_path holds 108 bytes on Linux and 104 on macOS, its end included. */
const longestPath = 100

/** A socket is bound as `<mount point's hash>.<pid>` and then renamed, so that two daemons never remove each other's. */
const directoryHash = (mountPoint: string): string =>
  createHash('sha256').update(mountPoint).digest('hex').slice(0, 16)
const nameFor = (mountPoint: string): string => `${directoryHash(mountPoint)}.sock`

export const boundName = (path: string): string => path.replace(/\.sock$/, `.${process.pid}`)
const longestBound = '.4194304'.length

/**
 * The path for the socket of this mount point; its directory is there and private. A daemon that was killed left its
 * socket under the same path, and the next one replaces it.
 * @throws Failure 'not-permitted' where no directory is safe to use
 */
export async function socketFor(mountPoint: string, environment: Environment): Promise<string> {
  const name = nameFor(mountPoint)
  const directories = candidates(process.getuid?.(), environment).filter(
    directory => Buffer.byteLength(join(directory, directoryHash(mountPoint))) + longestBound < longestPath,
  )
  const refusals: string[] = []
  for (const directory of directories) {
    const refusal = await socketRefusal(directory)
    if (refusal === undefined) return join(directory, name)
    refusals.push(refusal)
  }
  throw new Failure('not-permitted', `no place for the control socket: ${refusals.join('; ')}`)
}

/** The system's directory for this user first; a temporary directory may be deep, and `/tmp` is short. */
function candidates(user: number | undefined, environment: Environment): readonly string[] {
  const runtime = environment['XDG_RUNTIME_DIR']
  const own = `calcfs-${user ?? 'user'}`
  const temporary = [tmpdir(), '/tmp'].map(directory => join(directory, own))
  return [...(runtime !== undefined && isAbsolute(runtime) ? [join(runtime, 'calcfs')] : []), ...temporary]
}

/** In a shared directory another user may have taken the name: then it is not used. */
async function socketRefusal(directory: string): Promise<string | undefined> {
  try {
    await mkdir(directory, { mode: privateDirectory })
  } catch (thrown) {
    const code = codeOf(thrown)
    if (code === undefined) throw thrown
    if (code !== 'EEXIST') return `${directory} cannot be made (${code})`
  }
  if (await isPrivate(directory, process.getuid?.())) return undefined
  return `${directory} is not a directory that is yours alone; remove it`
}

async function isPrivate(directory: string, owner: number | undefined): Promise<boolean> {
  const found = await lstat(directory).catch(absent)
  return found?.isDirectory() === true && found.uid === owner && (found.mode & 0o077) === 0
}

/** It may be gone, or not accessible to this user. */
function absent(): undefined {}

/** A daemon that listens for a mount point, found without accessing the mount. */
interface SocketListener {
  readonly socket: string
  /** Undefined where the system does not show it. */
  readonly pid: number | undefined
}

/**
 * The daemon that the owner of a mount runs for it, the newest if there are several. It may have been started with other
 * environment variables than this process; Linux lists the sockets of all.
 */
export async function listenerAt({ path, owner }: Mount): Promise<SocketListener | undefined> {
  const name = nameFor(path)
  const listed = await listedBy(directoryHash(path))
  const guesses = candidates(owner, process.env).map(directory => ({
    socket: join(directory, name),
    pid: undefined,
  }))
  for (const { socket, pid } of [...listed, ...guesses]) {
    if (!(await isPrivate(dirname(socket), owner))) continue
    if (await isListening(socket)) return { socket, pid }
  }
  return undefined
}

/** proc_net_unix(5): the last word of a line is the path a socket was bound to. */
async function listedBy(hash: string): Promise<readonly SocketListener[]> {
  const lines = (await readFile('/proc/net/unix', 'utf8').catch(absent))?.split('\n') ?? []
  const bound = new RegExp(` (/.*/${hash})\\.(\\d+)$`)
  const found = lines.flatMap(line => {
    const [, path, pid] = bound.exec(line) ?? []
    return path === undefined ? [] : [{ socket: `${path}.sock`, pid: Number(pid) }]
  })
  return found.toSorted((one, other) => other.pid - one.pid)
}

/** True if a process listens there. A stopped one counts: the kernel accepts connections for it. */
export async function isListening(socket: string): Promise<boolean> {
  const connection = connect(socket)
  try {
    await once(connection, 'connect')
    return true
  } catch (thrown) {
    return codeOf(thrown) === 'EAGAIN'
  } finally {
    connection.destroy()
  }
}

export async function sweep(path: string): Promise<void> {
  const directory = dirname(path)
  for (const name of await readdir(directory)) {
    const found = /^[0-9a-f]{16}\.(sock|\d+)$/.exec(name)
    if (found === null) continue
    const left = join(directory, name)
    const isLeft = found[1] === 'sock' ? await isDeadSocket(left) : !(await isProcessAlive(Number(found[1])))
    if (isLeft) await rm(left, { force: true })
  }
}

async function isDeadSocket(path: string): Promise<boolean> {
  const found = await lstat(path).catch(absent)
  return found?.isSocket() === true && !(await isListening(path))
}
