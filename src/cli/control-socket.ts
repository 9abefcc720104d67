// Where a drive listens for the command line: one socket a mount point, in a directory that only its owner may enter.
import { createHash } from 'node:crypto'
import { lstat, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { Failure } from '../failure.js'

type Environment = Readonly<Record<string, string | undefined>>

/** sun_path holds 108 bytes on Linux and 104 on macOS, its end included. */
const longestPath = 100
const privateMode = 0o700

/**
 * The path for the socket of this mount point; its directory is there and private. A daemon that was killed left its
 * socket under the same path, and the next one replaces it.
 * @throws Failure 'not-permitted' where no directory is safe to use
 */
export async function socketFor(mountPoint: string, environment: Environment): Promise<string> {
  const name = `${createHash('sha256').update(mountPoint).digest('hex').slice(0, 16)}.sock`
  const directories = candidates(environment).filter(
    directory => Buffer.byteLength(join(directory, name)) < longestPath,
  )
  const refusals: string[] = []
  for (const directory of directories) {
    const refusal = await refusalOf(directory)
    if (refusal === undefined) return join(directory, name)
    refusals.push(refusal)
  }
  throw new Failure('not-permitted', `no place for the control socket: ${refusals.join('; ')}`)
}

/** What the system made for this user first; a temporary directory may be far down, and `/tmp` is short. */
function candidates(environment: Environment): readonly string[] {
  const runtime = environment['XDG_RUNTIME_DIR']
  const own = `calcfs-${process.getuid?.() ?? 'user'}`
  const temporary = [tmpdir(), '/tmp'].map(directory => join(directory, own))
  return [...(runtime !== undefined && isAbsolute(runtime) ? [join(runtime, 'calcfs')] : []), ...temporary]
}

/** In a directory for everybody somebody else may have taken the name: then it is not used. */
async function refusalOf(directory: string): Promise<string | undefined> {
  try {
    await mkdir(directory, { mode: privateMode })
  } catch (thrown) {
    if (!(thrown instanceof Error) || !('code' in thrown)) throw thrown
    if (thrown.code !== 'EEXIST') return `${directory} cannot be made (${thrown.code})`
  }
  const found = await lstat(directory)
  const isOwn = found.isDirectory() && found.uid === process.getuid?.()
  if (isOwn && (found.mode & 0o077) === 0) return undefined
  return `${directory} is not a directory that is yours alone; remove it`
}
