// Lines without a kernel: many drives in one process, each with its own caches, that all read the same folder at once.
import { createHash } from 'node:crypto'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { AssembledDrive } from '../../src/app/assemble.js'
import { type PathDrive, pathDrive } from '../../src/mount/path-drive.js'
import { byteOffset } from '../../src/remote/remote.js'
import { openLine } from '../paths/line.js'
import type { FleetFlags } from './node.js'

export interface LinesJob {
  readonly url: string
  /** A directory for what the lines keep, and the number of the first. */
  readonly base: string
  readonly first: number
  readonly count: number
  readonly fleet?: FleetFlags
  /** More of each line's settings, by their names. */
  readonly settings: Readonly<Record<string, string>>
  /** What they read, as a path on the drive. */
  readonly folder: string
}

/** First that all are up; then, once they are told to begin, what they have read. */
export type LinesSaid =
  | { readonly is: 'up' }
  | {
      readonly is: 'read'
      /** Sums of the bytes that were read, each once. */
      readonly sums: readonly string[]
      readonly files: number
      readonly failures: readonly string[]
      readonly hits: number
      /** Why the fleet was passed by, once for each time. */
      readonly passedBy: readonly string[]
    }

const typeBits = 0o170000
const directoryBits = 0o040000
const pieceBytes = 128 * 1024

/** Why the fleet was passed by, of all lines. */
const passedBy: string[] = []

async function lineOf({ url, base, fleet, settings }: LinesJob, number: number): Promise<AssembledDrive> {
  const line = await openLine({
    home: join(base, `line-${number}`),
    settings: {
      url,
      access: 'read',
      ...settings,
      ...(fleet === undefined ? {} : { fleet: fleet.address, fleetKeyFile: fleet.keyFile }),
    },
    log: noteWhy,
  })
  return line.drive
}

function noteWhy(line: string): void {
  const { msg, why } = JSON.parse(line) as { msg: string; why?: string }
  if (msg === 'the fleet is passed by') passedBy.push(why ?? '')
}

/** Every name, size and byte below, as `cp -r` asks for them. */
async function readAll(drive: PathDrive, folder: string): Promise<{ files: number; sum: string }> {
  const hash = createHash('sha1')
  const into = Buffer.alloc(pieceBytes)
  let files = 0

  async function read(path: string, size: number): Promise<void> {
    const handle = await drive.open(path, 'read')
    let at = 0
    for (let got = 1; got > 0 && at < size; at += got) {
      got = await drive.read(handle, into, byteOffset(at))
      hash.update(into.subarray(0, got))
    }
    await drive.flush(handle)
    await drive.release(handle)
    hash.update(`${path} ${size} ${at}\n`)
    files += 1
  }

  async function walk(path: string): Promise<void> {
    const names = (await drive.readdir(path)).entries.map(({ name }) => name).sort()
    for (const name of names.filter(name => !name.startsWith('.'))) {
      const below = `${path}/${name}`
      const { mode, size } = await drive.getattr(below)
      if ((mode & typeBits) === directoryBits) await walk(below)
      else await read(below, size)
    }
  }

  await walk(folder)
  return { files, sum: hash.digest('hex') }
}

async function main(job: LinesJob): Promise<void> {
  const numbers = Array.from({ length: job.count }, (_, at) => job.first + at)
  const lines = await Promise.all(numbers.map(number => lineOf(job, number)))
  const say = (said: LinesSaid): void => void process.send?.(said)
  process.once('message', async () => {
    const failures: string[] = []
    const read = await Promise.all(
      lines.map(({ drive }) =>
        readAll(pathDrive(drive), job.folder).catch(thrown => {
          failures.push(String(thrown))
          return undefined
        }),
      ),
    )
    const whole = read.filter(one => one !== undefined)
    say({
      is: 'read',
      sums: [...new Set(whole.map(({ sum }) => sum))],
      files: whole[0]?.files ?? 0,
      failures,
      passedBy,
      hits: lines.reduce((sum, { fleet }) => sum + (fleet?.status().saved ?? 0), 0),
    })
    await Promise.all(lines.map(line => line.close()))
    process.exit(0)
  })
  say({ is: 'up' })
}

process.once('disconnect', () => process.exit(1))
// Two hundred machines would leave the fleet's server and the service theirs.
setPriority(10)
await main(JSON.parse(process.argv[2] ?? '{}') as LinesJob)
