// A file that the service replaces while it is read: bytes of one version or an error, never of two.
import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import type { InterceptedRequest } from '../../testbed/proxy.js'
import { ids } from '../../testbed/sample-data.js'
import { type OpenTestbed, outcome, readToEnd, type Testbed } from '../../testbed/testbed.js'
import { isDrawn } from '../../testbed/variants.js'
import { until } from '../../testbed/within.js'

const folder = 'projects/Water splitting'
/** Each ending is another, so that nothing is foreseen. */
const fileOf = (number: number): string => `run.v${number}`
const length = 9 << 20
const block = 128 << 10

/** One version of the file: every eight bytes tell where they stand and of which version they are. */
function versionOf(number: number, bytes = length): Buffer {
  const made = Buffer.alloc(bytes)
  for (let at = 0; at + 8 <= bytes; at += 8) made.writeUInt32LE(number, made.writeUInt32LE(at, at))
  return made
}
const first = versionOf(1)
const second = versionOf(2)

/** How a service names its versions, and what it does with a part of another one. */
interface Manners {
  readonly tag?: (version: number, answer: number) => string
  readonly modified?: (version: number, answer: number) => string
  readonly ifRange: 'honoured' | 'ignored' | 'never true'
  /** Where it sends the whole for a part, it names no version. */
  readonly namelessWhole?: true
  /** From its second version on it names none at all. */
  readonly namelessLater?: true
}

const dateOf = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toUTCString()
export const honest: Manners = { tag: version => `"v${version}"`, modified: dateOf, ifRange: 'honoured' }
const tagged: Manners = { tag: version => `"v${version}"`, ifRange: 'honoured' }
const dated: Manners = { modified: dateOf, ifRange: 'honoured' }
const validators: Readonly<Record<string, Manners>> = {
  'a tag and a date': honest,
  'a tag and a date, and If-Range ignored': { ...honest, ifRange: 'ignored' },
  'a tag alone': tagged,
  'a date alone': dated,
  'a date alone, and If-Range ignored': { modified: dateOf, ifRange: 'ignored' },
  'a weak tag': { tag: version => `W/"v${version}"`, ifRange: 'ignored' },
}

/** Answers in the service's place, as one that holds this file. */
export class Holder {
  version = 1
  /** The next body is cut after so many bytes, and something happens. */
  cut: { readonly after: number; readonly happens: () => void } | undefined
  #answers = 0

  constructor(
    readonly manners: Manners,
    public bytes = first,
  ) {}

  replace(bytes: Buffer): void {
    this.bytes = bytes
    this.version += 1
  }

  answer(response: ServerResponse, { heard, headers }: InterceptedRequest): void {
    const { bytes, cut, version } = this
    this.#answers += 1
    const tag = this.manners.tag?.(version, this.#answers)
    const modified = this.manners.modified?.(version, this.#answers)
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(String(headers?.range)) ?? []
    const condition = headers?.['if-range']
    const holds = {
      honoured: [tag, modified].includes(String(condition)),
      ignored: true,
      'never true': false,
    }
    const isPart = from !== undefined && (condition === undefined || holds[this.manners.ifRange])
    const isNameless =
      (this.manners.namelessWhole === true && from !== undefined && !isPart) ||
      (this.manners.namelessLater === true && this.version > 1)
    response.setHeader('accept-ranges', 'bytes')
    if (tag !== undefined && !isNameless) response.setHeader('etag', tag)
    if (modified !== undefined && !isNameless) response.setHeader('last-modified', modified)
    const start = isPart ? Number(from) : 0
    const end =
      isPart && to !== undefined && to !== '' ? Math.min(Number(to) + 1, bytes.length) : bytes.length
    if (isPart) response.setHeader('content-range', `bytes ${start}-${end - 1}/${bytes.length}`)
    response.writeHead(isPart ? 206 : 200, { 'content-length': end - start })
    if (heard.method === 'HEAD') return void response.end()
    if (cut === undefined || end - start <= cut.after) return void response.end(bytes.subarray(start, end))
    this.cut = undefined
    response.write(bytes.subarray(start, start + cut.after))
    setTimeout(() => {
      cut.happens()
      response.destroy()
    }, 100)
  }
}

/** A testbed whose service holds one such file for each of these kinds, each in its own calculation. */
async function held(
  t: Test,
  open: OpenTestbed,
  manners: readonly Manners[],
): Promise<{ testbed: Testbed; held: readonly Held[] }> {
  const idOf = (number: number) => String(2000 + number)
  const testbed = await open(t, {
    adds(seed) {
      manners.forEach((_, number) => {
        const files = { [fileOf(number)]: '' }
        seed.addCalculation({ id: idOf(number), name: `Held ${number}`, project: ids.water, files })
      })
    },
  })
  const files = manners.map((one, number) => {
    const holder = new Holder(one)
    testbed.service.intercept(new RegExp(`bitstream\\?id=${idOf(number)}&`), (response, passing) =>
      holder.answer(response, passing),
    )
    return { path: `${folder}/Held ${number}/${fileOf(number)}`, holder }
  })
  return { testbed, held: files }
}

interface Held {
  readonly path: string
  readonly holder: Holder
}

/** The same with one file. */
async function heldOne(t: Test, open: OpenTestbed, manners: Manners): Promise<Held & { testbed: Testbed }> {
  const { testbed, held: files } = await held(t, open, [manners])
  const [only] = files
  if (only === undefined) throw new Error('no file is held')
  return { ...only, testbed }
}

async function tail({ files }: Testbed, path: string): Promise<Buffer> {
  const file = await files.open(path, 'r')
  try {
    return await file.read(4096, length - 4096)
  } finally {
    await file.close()
  }
}

/** What a read of all ends with: bytes of exactly one version, or an error's name. */
async function versionRead(testbed: Testbed, path: string): Promise<string> {
  let bytes: Buffer = Buffer.alloc(0)
  const ended = await outcome(
    readToEnd(testbed, path).then(all => {
      bytes = all
    }),
  )
  if (ended !== 'done') return ended
  return bytes.equals(first) ? 'first' : bytes.equals(second) ? 'second' : 'a mix'
}

export function replaced(t: Test, open: OpenTestbed): void {
  const named = Object.entries(validators).filter((_, at) => isDrawn(at, 2))

  t.test('READ-13 replaced between two reads: bytes of one version, however they are named', async t => {
    const { testbed, held: files } = await held(
      t,
      open,
      named.map(([, manners]) => manners),
    )
    const name = (number: number) => named[number]?.[0] ?? ''
    const times: number[] = []
    for (const { path, holder } of files) {
      times.push((await testbed.files.lstat(path)).mtimeMs)
      t.ok((await tail(testbed, path)).equals(first.subarray(-4096)))
      holder.replace(second)
    }
    for (const [number, { path }] of files.entries())
      t.equal(await versionRead(testbed, path), 'ESTALE', `${name(number)}: reported once`)
    await testbed.pass(1100)
    for (const [number, { path }] of files.entries()) {
      t.equal(await versionRead(testbed, path), 'second', name(number))
      t.ok((await testbed.files.lstat(path)).mtimeMs > (times[number] ?? 0), 'its time has moved')
    }
    await testbed.remount()
    for (const { path } of files) t.equal(await versionRead(testbed, path), 'second', 'and that is kept')
  })

  t.test('READ-13 replaced while a cut body is taken up again', async t => {
    const name = (number: number) => named[number]?.[0] ?? ''
    const { testbed, held: files } = await held(
      t,
      open,
      named.map(([, manners]) => manners),
    )
    for (const [number, { path, holder }] of files.entries()) {
      await testbed.files.lstat(path)
      holder.cut = { after: 300_000, happens: () => holder.replace(second) }
      const outcomes = [await versionRead(testbed, path)]
      await until(5000, 'it is replaced', async () => holder.version === 2)
      await testbed.pass(1100)
      outcomes.push(await versionRead(testbed, path), await versionRead(testbed, path))
      // Where its first answer was given up early, all of the old version may have been read before.
      t.match(outcomes.join(' '), /^(ESTALE second|second second|first first) (second|first)$/, name(number))
    }
  })

  t.test('READ-13 a handle that has read one version reads no other', async t => {
    const { testbed, path, holder } = await heldOne(t, open, honest)
    for (const [number, heard] of ['ESTALE', 'EIO'].entries()) {
      const { bytes } = holder
      await testbed.files.lstat(path)
      const file = await testbed.files.open(path, 'r')
      t.ok((await file.read(4096, bytes.length - 4096)).equals(bytes.subarray(-4096)))
      holder.replace(versionOf(number + 2, bytes.length + 100_000))
      t.equal(await outcome(file.read(block, 0)), heard)
      t.equal(await outcome(file.read(block, 4 << 20)), heard, 'and goes on being so')
      await file.close()
      await testbed.pass(1100)
    }
    const { bytes } = holder
    t.ok((await readToEnd(testbed, path)).equals(bytes), 'the newest')

    holder.replace(versionOf(4, 1_000_000))
    t.ok((await readToEnd(testbed, path)).equals(bytes), 'what is kept is of one version')
  })

  for (const [what, manners] of [
    ['whole', { ...honest, namelessWhole: true }],
    ['part', { ...honest, ifRange: 'ignored', namelessLater: true }],
  ] as const)
    t.test(`READ-13 a ${what} that names no version is not joined to parts of a known one`, async t => {
      const { testbed, path, holder } = await heldOne(t, open, manners)
      await testbed.files.lstat(path)
      t.ok((await tail(testbed, path)).equals(first.subarray(-4096)))
      holder.replace(second)
      t.equal(await versionRead(testbed, path), 'ESTALE')
      await testbed.pass(1100)
      t.equal(await versionRead(testbed, path), 'second')
    })

  t.test(
    'READ-14 a validator that changes with every answer is none: the file comes in one answer',
    async t => {
      for (const [what, manners] of Object.entries(fickle).filter((_, at) => isDrawn(at, 3))) {
        const { testbed, held: files } = await held(t, open, [manners, manners])
        const [{ path }, other] = files as readonly [Held, Held]
        await testbed.files.lstat(path)
        t.ok((await tail(testbed, path)).equals(first.subarray(-4096)))
        // The kernel may hold the tail: nothing tells that what comes now belongs to it.
        const begun = await versionRead(testbed, path)
        t.match(begun, /^(first|ESTALE)$/, what)
        await testbed.pass(1100)
        t.equal(await versionRead(testbed, path), 'first', what)
        await testbed.files.lstat(other.path)
        t.match(await versionRead(testbed, other.path), /^(first|ESTALE)$/, what)
        await testbed.pass(1100)
        t.equal(await versionRead(testbed, other.path), 'first', `${what}: the next file`)
      }
    },
  )
}

const fickle: Readonly<Record<string, Manners>> = {
  'a tag': { tag: (_, answer) => `"${answer}"`, ifRange: 'ignored' },
  'a tag, with If-Range honoured': { tag: (_, answer) => `"${answer}"`, ifRange: 'honoured' },
  'a date': { modified: (_, answer) => dateOf(answer), ifRange: 'ignored' },
  both: { tag: (_, answer) => `"${answer}"`, modified: (_, answer) => dateOf(answer), ifRange: 'ignored' },
  'a tag, while the date stands': { tag: (_, answer) => `"${answer}"`, modified: dateOf, ifRange: 'ignored' },
  'a condition that is never true': { ...honest, ifRange: 'never true' },
}
