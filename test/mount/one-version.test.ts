// One path, one version: a name that comes to stand for another file cuts no reader, and no reader gets pages of both.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import type { KernelTestbed } from '../testbed/mount.js'
import { python } from '../testbed/programs.js'
import { fillSampleData, ids } from '../testbed/sample-data.js'
import { namesOf, outcome, textOf } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'
import { within } from '../testbed/within.js'

t.setTimeout(240_000)

const folder = 'projects/Water splitting'
const path = `${folder}/first/data.log`
const longest = 3 << 20

/** Every line of a file names the file, and no two are equal. */
const bytesOf = (name: string, size: number): string =>
  Array.from({ length: Math.ceil(size / 16) }, (_, line) => `${name}${String(line).padStart(14, '0')}\n`)
    .join('')
    .slice(0, size)

/** A program that keeps the file open, and reads and closes on command. */
const program = `
import os, sys
file = None
flags = {'open': os.O_RDONLY, 'change': os.O_RDWR}
for line in sys.stdin:
    what, *rest = line.strip().split(' ', 1)
    try:
        if what in flags: file = os.open(rest[0], flags[what]); print('done', flush=True)
        elif what == 'close': os.close(file); print('done', flush=True)
        else:
            out = b''
            while len(out) < int(rest[0]):
                more = os.read(file, 65536)
                if not more: break
                out += more
            print(out.hex(), flush=True)
    except OSError as error: print('errno', error.errno, flush=True)`

/** Sends a command to such a program, and has its answer. */
function reader(t: Test): (command: string) => Promise<string> {
  const child = spawn(python, ['-c', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return async command => {
    child.stdin.write(`${command}\n`)
    const { value } = await within(20_000, command, lines.next())
    return String(value)
  }
}

const bytes = (hex: string): string => Buffer.from(hex, 'hex').toString()

async function withTwo(t: Test, sizes: readonly [number, number]): Promise<KernelTestbed> {
  return warmMount(t, {
    fill(seed) {
      fillSampleData(seed)
      for (const [at, name] of (['first', 'second'] as const).entries()) {
        const files = { 'data.log': bytesOf(name.slice(0, 1), sizes[at] ?? 0) }
        const fields = '{"creationDate":"2026-01-02T03:04:05.678Z"}'
        seed.addCalculation({ id: `20${at}`, name, project: ids.water, files, fields })
      }
    },
    settings: { ttlListing: '1s', ttlRecord: '1s' },
  })
}

/** On the web page the second calculation gets the first one's name. */
async function swap({ service, pass, files }: KernelTestbed, first = 'first'): Promise<void> {
  for (const [id, name] of [
    ['200', 'before'],
    ['201', first],
  ] as const) {
    const record = JSON.parse(await service.elsewhere('GET', `/calculation?id=${id}`))
    await service.elsewhere('PUT', '/calculation', JSON.stringify({ ...record, name }))
  }
  await pass(1_500)
  await files.readdir(folder)
  await pass(1_100)
}

for (const [what, size] of [
  ['a shorter', 1 << 20],
  ['one of the same size', longest],
  ['a longer', longest + 100_000],
] as const) {
  t.test(
    `READ-18 a reader whose path comes to stand for ${what} file is not cut, and gets no other's bytes`,
    async t => {
      const testbed = await withTwo(t, [longest, size])
      const { files } = testbed
      const place = join(testbed.directory, path)
      const [first, second] = [bytesOf('f', longest), bytesOf('s', size)]
      const read = reader(t)
      t.equal(await read(`open ${place}`), 'done')
      // Beyond what the kernel reads ahead.
      const begun = bytes(await read('read 131072'))
      await swap(testbed)
      t.match(await stat(place), { size: longest }, 'it keeps the size that its reader knows')
      t.equal(await outcome(files.open(path, 'r')), 'ESTALE', 'and is not opened as another file meanwhile')
      t.ok(begun + bytes(await read(`read ${longest}`)) === first, 'the reader gets all of the first')
      t.equal(await read('close'), 'done')
      await testbed.pass(1_100)
      t.match(await stat(place), { size })
      t.ok((await textOf(testbed, path)) === second, 'a later open gets all of the second')
      t.ok((await textOf(testbed, `${folder}/before/data.log`)) === first)
    },
  )
}

t.test('READ-18 a reader goes on where another client renames the folder of its file', async t => {
  const testbed = await withTwo(t, [longest, 10])
  const { files, service } = testbed
  const read = reader(t)
  t.equal(await read(`open ${join(testbed.directory, path)}`), 'done')
  const begun = bytes(await read('read 131072'))
  const record = JSON.parse(await service.elsewhere('GET', '/calculation?id=200'))
  await service.elsewhere('PUT', '/calculation', JSON.stringify({ ...record, name: 'renamed' }))
  await testbed.pass(1_500)
  t.ok((await namesOf(testbed, folder)).includes('renamed'))
  await testbed.pass(1_100)
  t.equal(await outcome(files.lstat(path)), 'ENOENT', 'the old name is gone for all others')
  t.ok(begun + bytes(await read(`read ${longest}`)) === bytesOf('f', longest))
  t.equal(await read('close'), 'done')
  t.equal(await outcome(files.lstat(path)), 'ENOENT')
})

t.test('READ-12 READ-18 a refresh that finds nothing new refuses no second reader', async t => {
  const testbed = await withTwo(t, [5_000, 10])
  for (const place of ['by-id/calculation/200', `${folder}/first`]) {
    const file = await testbed.files.open(`${place}/data.log`, 'r')
    t.equal((await testbed.calcfs('refresh', join(testbed.directory, place, 'data.log'))).code, 0)
    t.ok((await textOf(testbed, `${place}/data.log`)) === bytesOf('f', 5_000), place)
    await file.close()
  }
})

t.test(
  'READ-18 a path whose file has another of the same size and date in its place is read again',
  async t => {
    const testbed = await withTwo(t, [longest, longest])
    t.ok((await textOf(testbed, path)) === bytesOf('f', longest))
    await swap(testbed)
    t.ok((await textOf(testbed, path)) === bytesOf('s', longest))
    t.match(JSON.parse(await textOf(testbed, `${folder}/first/.calculation.json`)), { id: 201 })
  },
)

t.test('READ-18 so is one of another size whose name was given by a rename in the drive', async t => {
  const testbed = await withTwo(t, [5_000, 6_000])
  const moved = `${folder}/moved`
  for (const name of ['first', 'second']) await textOf(testbed, `${folder}/${name}/data.log`)
  await testbed.files.rename(`${folder}/first`, moved)
  await swap(testbed, 'moved')
  t.ok((await textOf(testbed, `${moved}/data.log`)) === bytesOf('s', 6_000))
  t.ok((await textOf(testbed, `${folder}/before/data.log`)) === bytesOf('f', 5_000))
})

for (const how of ['open', 'change'] as const) {
  t.test(`READ-18 a record that is open shows no other calculation its page (${how})`, async t => {
    const testbed = await withTwo(t, [10, 10])
    const record = `${folder}/first/.calculation.json`
    const read = reader(t)
    t.equal(await read(`${how} ${join(testbed.directory, record)}`), 'done')
    await swap(testbed)
    t.equal(await outcome(testbed.files.open(record, 'r')), 'ESTALE')
    t.match(JSON.parse(bytes(await read('read 100000'))), { id: 200 })
    t.equal(await read('close'), 'done')
    await testbed.pass(1_100)
    t.match(JSON.parse(await textOf(testbed, record)), { id: 201 })
  })
}

t.test('READ-18 a file replaced in its place never mixes with what was there, for any reader', async t => {
  const testbed = await warmMount(t)
  const by = `by-id/calculation/${ids.transition}`
  const place = join(testbed.directory, by, 'run.log')
  let [text, tag] = [bytesOf('f', longest), randomBytes(4).toString('hex')]
  testbed.service.intercept(/bitstream\?id=1234&fileId=run\.log/, (response, { heard }) => {
    response.writeHead(200, { 'content-length': text.length, etag: `"${tag}"` })
    response.end(heard.method === 'HEAD' ? undefined : text)
  })
  const [slow, fresh] = [reader(t), reader(t)]
  t.equal(await slow(`open ${place}`), 'done')
  const begun = bytes(await slow('read 131072'))
  text = bytesOf('s', longest)
  tag = randomBytes(4).toString('hex')
  await testbed.calcfs('refresh', place)
  await testbed.pass(1_100)
  // The kernel reads ahead by itself, and does not report how that ends.
  let next = begun
  for (let piece = 0; piece < 64; piece += 1) {
    const more = await slow('read 4096')
    if (more.startsWith('errno')) break
    next += bytes(more)
  }
  const opened = await fresh(`open ${place}`)
  const seen = opened === 'done' ? await fresh(`read ${longest}`) : opened
  t.ok(seen === 'errno 116' || bytes(seen) === text, 'a fresh reader gets the new one, or an error')
  const rest = await slow(`read ${longest}`)
  t.ok(
    rest === 'errno 116' || next + bytes(rest) === bytesOf('f', longest),
    'the old one its own, or an error',
  )
  t.equal(await slow('close'), 'done')
  await testbed.pass(1_100)
  t.ok((await textOf(testbed, `${by}/run.log`)) === text)
})
