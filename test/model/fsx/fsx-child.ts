// Does the same random operations to a file on the drive and to a local one, and stops at the first difference.
import * as fs from 'node:fs'
import { chance } from '../../long/chance.js'

/** What the parent hands over as JSON in the first argument. */
export interface Job {
  /** The file on the drive, and the local one that tells what is right. */
  readonly drive: string
  readonly local: string
  readonly seed: number
  readonly operations: number
  /** Bytes; no file grows beyond. */
  readonly largest: number
  /** A draft that is no JSON: each close after a write ends with EINVAL, and the file is never empty when it is closed. */
  readonly isDraft: boolean
}

/** What the child prints as JSON when all was equal. */
export interface Done {
  readonly counts: Readonly<Record<string, number>>
  /** Closes that were refused with EINVAL. */
  readonly refused: number
}

type Flags = 'r+' | 'a+' | 'w+'

/** A file as one program has it open, by system calls that wait. */
interface Side {
  readonly name: string
  readonly path: string
  descriptor: number
}

export function play(job: Job): Done {
  const pick = chance(job.seed)
  const below = (end: number): number => pick.whole(0, end - 1)
  const sides: Side[] = [
    { name: 'drive', path: job.drive, descriptor: -1 },
    { name: 'local', path: job.local, descriptor: -1 },
  ]
  const counts: Record<string, number> = {}
  const recent: string[] = []
  let refused = 0
  /** By this handle: emptying a file as it is opened is a truncate of its path, and no write. */
  let hasWritten = false

  /** The same on both sides; what they answer must be equal. */
  function both(what: string, work: (side: Side) => unknown): void {
    const answers = sides.map(side => {
      try {
        return JSON.stringify(work(side))
      } catch (thrown) {
        return `${side.name}: ${thrown instanceof Error ? thrown.message : thrown}`
      }
    })
    if (answers[0] !== answers[1]) throw different(`${what}: ${answers[0]} and not ${answers[1]}`)
  }

  const different = (sentence: string): Error =>
    new Error(`seed ${job.seed}: after ${recent.slice(-12).join('; ')}: ${sentence}`)

  const sizeOf = ({ descriptor }: Side): number => fs.fstatSync(descriptor).size
  const localSize = (): number => sizes()[1] ?? 0
  const sizes = (): number[] => sides.map(sizeOf)

  function open(flags: Flags): void {
    both('open', side => {
      side.descriptor = fs.openSync(side.path, flags)
      return 'open'
    })
  }

  function close(): void {
    if (job.isDraft && localSize() === 0) write()
    for (const side of sides) {
      const end = closed(side.descriptor)
      const wanted = job.isDraft && side.name === 'drive' && hasWritten ? 'EINVAL' : 'done'
      if (end !== wanted) throw different(`close on the ${side.name} side ended with ${end}, not ${wanted}`)
      if (end === 'EINVAL') refused++
    }
    hasWritten = false
  }

  /** Letters that make no JSON, whatever stands between them. */
  function write(): void {
    const length = 1 + (below(8) === 0 ? below(100_000) : below(6_000))
    const position = below(Math.min(job.largest - length, localSize() + 20_000))
    const bytes = Buffer.alloc(length, String.fromCharCode(0x51 + below(10)))
    bytes.writeUInt8(0x51 + below(10), below(length))
    recent.push(`write ${length} at ${position}`)
    both('write', ({ descriptor }) => fs.writeSync(descriptor, bytes, 0, length, position))
    hasWritten = true
  }

  function read(): void {
    const length = 1 + below(30_000)
    const position = below(localSize() + 5_000)
    recent.push(`read ${length} at ${position}`)
    both('read', ({ descriptor }) => {
      const into = Buffer.alloc(length)
      const count = fs.readSync(descriptor, into, 0, length, position)
      return [count, into.subarray(0, count).toString('base64')]
    })
  }

  const anySize = (): number => (below(3) === 0 ? below(job.largest) : below(localSize() + 3_000))

  function truncate(): void {
    const size = anySize()
    recent.push(`ftruncate to ${size}`)
    both('ftruncate', ({ descriptor }) => fs.ftruncateSync(descriptor, size))
    hasWritten = true
  }

  /** `truncate -s`: another program opens, cuts and closes the file while this one has it open. */
  function cut(): void {
    const size = anySize()
    recent.push(`another program cuts to ${size}`)
    both('truncate', ({ path, name }) => {
      const descriptor = fs.openSync(path, 'r+')
      fs.ftruncateSync(descriptor, size)
      const end = closed(descriptor)
      const isRefused = job.isDraft && name === 'drive' && size > 0
      if (isRefused) refused++
      return end === (isRefused ? 'EINVAL' : 'done') ? 'cut' : end
    })
  }

  function reopen(): void {
    const flags: Flags = below(6) === 0 ? 'w+' : below(4) === 0 ? 'a+' : 'r+'
    recent.push(`close and open ${flags}`)
    close()
    open(flags)
  }

  function sync(): void {
    recent.push('fsync')
    both('fsync', ({ descriptor }) => fs.fsyncSync(descriptor))
  }

  /** Sizes as stat and fstat tell them, and all bytes, are the same. */
  function compare(): void {
    both('stat', ({ path }) => fs.statSync(path).size)
    both('fstat', sizeOf)
    const [drive, local] = sides.map(side => {
      const bytes = Buffer.alloc(sizeOf(side))
      let done = 0
      while (done < bytes.length) {
        const count = fs.readSync(side.descriptor, bytes, done, bytes.length - done, done)
        if (count === 0) break
        done += count
      }
      return bytes.subarray(0, done)
    })
    if (drive === undefined || local === undefined || drive.equals(local)) return
    const at = drive.findIndex((byte, index) => byte !== local[index])
    throw different(`contents differ from byte ${at} of ${local.length}`)
  }

  const operations = [
    ['write', 8, write],
    ['read', 5, read],
    ['ftruncate', 2, truncate],
    ['truncate', 2, cut],
    ['fsync', 1, sync],
    ['reopen', 2, reopen],
  ] as const
  const tickets = operations.flatMap(operation => Array.from({ length: operation[1] }, () => operation))

  open('w+')
  write()
  compare()
  for (let made = 0; made < job.operations; made++) {
    const ticket = tickets[below(tickets.length)]
    if (ticket === undefined) throw new Error('no such operation')
    const [name, , work] = ticket
    work()
    counts[name] = (counts[name] ?? 0) + 1
    compare()
  }
  close()
  open('r+')
  compare()
  close()
  return { counts, refused }
}

/** How close(2) ended. */
function closed(descriptor: number): string {
  try {
    fs.closeSync(descriptor)
    return 'done'
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown) return String(thrown.code)
    throw thrown
  }
}

const [given] = process.argv.slice(2)
if (given !== undefined) process.stdout.write(JSON.stringify(play(JSON.parse(given) as Job)))
