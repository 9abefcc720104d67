// fsx: random reads, writes and cuts on a scratch file and on a draft, each byte as on a local disk, over restarts too.
import { type FileHandle, open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { realMount } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { outcome } from '../../testbed/testbed.js'
import { within } from '../../testbed/within.js'
import type { Chance } from '../chance.js'
import type { Figure, Frame } from '../engine.js'

const operations = { cut: 500, full: 50_000 }
/** Milliseconds that one batch may take. */
const limit = 1_800_000
/** Bytes; no file grows beyond. */
const largest = 256 * 1024
const draft = `.calcfs/drafts/${ids.report}.json`
/** A draft that is no JSON: each close after a write ends with EINVAL, and the file is never empty when it is closed. */
const files = { scratch: 'reports/scratch.bin', draft: `reports/${ids.report}.json` } as const
const kinds = ['scratch', 'draft'] as const

/** A file as one program has it open. */
interface Side {
  readonly name: 'drive' | 'local'
  readonly path: string
  file: FileHandle
}

/**
 * Does the same random operations to a file on the drive and to a local one, as many as there is time for; answers how many were
 * done, and how many closes were refused.
 * @throws Error with the last operations at the first difference
 */
async function batch(
  paths: Readonly<Record<Side['name'], string>>,
  { pick, isDraft, isOver }: { pick: Chance; isDraft: boolean; isOver: (made: number) => boolean },
): Promise<{ made: number; refused: number }> {
  const below = (end: number): number => pick.whole(0, end - 1)
  const sideOf = async (name: Side['name']): Promise<Side> => ({
    ...{ name, path: paths[name] },
    file: await open(paths[name], 'w+'),
  })
  const local = await sideOf('local')
  const sides = [await sideOf('drive'), local]
  const recent: string[] = []
  let [made, refused] = [0, 0]
  /** By this handle: emptying a file as it is opened is a truncate of its path, and no write. */
  let hasWritten = false

  const different = (sentence: string): Error =>
    new Error(`after ${recent.slice(-12).join('; ')}: ${sentence}`)

  /** The same on both sides; what they answer must be equal. */
  async function both(what: string, work: (side: Side) => Promise<unknown>): Promise<void> {
    const [drive, due] = await Promise.all(sides.map(side => work(side).then(JSON.stringify, String)))
    if (drive !== due) throw different(`${what}: ${drive} and not ${due}`)
  }

  const sizeOf = async ({ file }: Side): Promise<number> => (await file.stat()).size

  /** Closes; on the drive a draft that was written is refused. */
  async function closed(file: FileHandle, isRefused: boolean): Promise<void> {
    const end = await outcome(file.close())
    if (end !== (isRefused ? 'EINVAL' : 'done')) throw different(`close ended with ${end}`)
    if (isRefused) refused++
  }

  async function close(): Promise<void> {
    if (isDraft && (await sizeOf(local)) === 0) await write()
    for (const { name, file } of sides) await closed(file, isDraft && name === 'drive' && hasWritten)
    hasWritten = false
  }

  /** Letters that make no JSON, whatever stands between them. */
  async function write(): Promise<void> {
    const length = 1 + (below(8) === 0 ? below(100_000) : below(6_000))
    const position = below(Math.min(largest - length, (await sizeOf(local)) + 20_000))
    const bytes = Buffer.alloc(length, String.fromCharCode(0x51 + below(10)))
    bytes.writeUInt8(0x51 + below(10), below(length))
    recent.push(`write ${length} at ${position}`)
    await both('write', async ({ file }) => (await file.write(bytes, 0, length, position)).bytesWritten)
    hasWritten = true
  }

  async function read(): Promise<void> {
    const length = 1 + below(30_000)
    const position = below((await sizeOf(local)) + 5_000)
    recent.push(`read ${length} at ${position}`)
    await both('read', async ({ file }) => {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position)
      return [bytesRead, buffer.subarray(0, bytesRead).toString('base64')]
    })
  }

  const anySize = async (): Promise<number> =>
    below(3) === 0 ? below(largest) : below((await sizeOf(local)) + 3_000)

  async function truncate(): Promise<void> {
    const size = await anySize()
    recent.push(`ftruncate to ${size}`)
    await both('ftruncate', ({ file }) => file.truncate(size))
    hasWritten = true
  }

  /** `truncate -s`: another program opens, cuts and closes the file while this one has it open. */
  async function cut(): Promise<void> {
    const size = await anySize()
    recent.push(`another program cuts to ${size}`)
    await both('truncate', async ({ path, name }) => {
      const file = await open(path, 'r+')
      await file.truncate(size)
      await closed(file, isDraft && name === 'drive' && size > 0)
    })
  }

  async function reopen(flags = below(6) === 0 ? 'w+' : below(4) === 0 ? 'a+' : 'r+'): Promise<void> {
    recent.push(`close and open ${flags}`)
    await close()
    for (const side of sides) side.file = await open(side.path, flags)
  }

  async function sync(): Promise<void> {
    recent.push('fsync')
    await both('fsync', ({ file }) => file.sync())
  }

  /** Sizes as stat and fstat tell them, and all bytes, are the same. */
  async function compare(): Promise<void> {
    await both('stat', async ({ path }) => (await stat(path)).size)
    await both('fstat', sizeOf)
    const [drive, due] = await Promise.all(sides.map(bytesOf))
    if (drive === undefined || due === undefined || drive.equals(due)) return
    throw different(`bytes differ from ${drive.findIndex((byte, at) => byte !== due[at])} of ${due.length}`)
  }

  async function bytesOf(side: Side): Promise<Buffer> {
    const bytes = Buffer.alloc(await sizeOf(side))
    let done = 0
    while (done < bytes.length) {
      const { bytesRead } = await side.file.read(bytes, done, bytes.length - done, done)
      if (bytesRead === 0) break
      done += bytesRead
    }
    return bytes.subarray(0, done)
  }

  const often = [write, write, write, write, read, read, read, truncate, cut, reopen] as const
  const tickets = [...often, ...often, sync]
  await write()
  await compare()
  for (; !isOver(made); made++) {
    await pick.of(tickets)()
    await compare()
  }
  await reopen('r+')
  await compare()
  await close()
  return { made, refused }
}

async function run(frame: Frame): Promise<void> {
  const { order } = frame
  const count = operations[order.scale]
  await frame.onGrounds(
    async (scope, _, pick) => {
      const testbed = await realMount(scope, { settings: { logLevel: 'info' } })
      const { service, directory } = testbed
      const localOf = (kind: keyof typeof files): string =>
        join(testbed.local, files[kind].replaceAll('/', '-'))
      /** A batch on each file: none of it reaches the service, and all of it outlives the daemon. */
      return async () => {
        const wrong: string[] = []
        const sent = await service.during(async () => {
          for (const kind of kinds) {
            const isDraft = kind === 'draft'
            const paths = { drive: join(directory, files[kind]), local: localOf(kind) }
            const isOver = (made: number) => made >= count || (made > 0 && frame.isOver())
            const playing = batch(paths, { pick: pick.branch(), isDraft, isOver })
            const { made, refused } = await within(limit, `a batch on the ${kind}`, playing)
            frame.add('operations', made)
            if (made === count) frame.add('batches')
            if (refused > 0 !== isDraft) wrong.push(`${kind}: ${refused} closes were refused`)
          }
          await testbed.remount()
        })
        wrong.push(...writes(sent).map(line => `${line} was sent`))
        for (const kind of kinds) {
          const due = await readFile(localOf(kind))
          for (const path of [files[kind], ...(kind === 'draft' ? [draft] : [])])
            if (!due.equals(await testbed.files.readFile(path)))
              wrong.push(`${path} is another one after a restart`)
        }
        await testbed.files.unlink(draft)
        return wrong
      }
    },
    { cases: 1_000, least: 2 },
  )
}

export const fsx: Figure = {
  name: 'fsx',
  goal: 'fsx, 5 × 50,000 operations: every byte and every size as on a local disk',
  least: { batches: 5, operations: 250_000 },
  run,
}
