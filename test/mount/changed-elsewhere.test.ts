// What is open, or was read, while others change it: an open file keeps its version, and the next open reads the new one whole.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import type { KernelTestbed } from '../testbed/mount.js'
import { printed, python } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { textOf } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'
import { within } from '../testbed/within.js'

const { errno: errnoOf } = constants
t.jobs = 3

const folder = 'projects/Water splitting'
const path = `${folder}/first/data.log`
const report = `reports/${ids.report}.json`
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
        elif what == 'cd': os.chdir(rest[0]); print('done', flush=True)
        elif what == 'ls': print(os.popen('ls .').read().split(), flush=True)
        elif what == 'look': os.utime(os.path.dirname(rest[0])); os.stat(rest[0]); print('there', flush=True)
        elif what == 'size': print(os.fstat(file).st_size, flush=True)
        else:
            out = b''
            while len(out) < int(rest[0]):
                more = os.read(file, 65536)
                if not more: break
                out += more
            print(out.hex(), flush=True)
    except OSError as error: print('errno', error.errno, flush=True)`

/** Sends a command to such a program, and has its answer. */
function reader(t: Test, source = program, ...args: string[]): (command: string) => Promise<string> {
  const child = spawn(python, ['-c', source, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return async command => {
    child.stdin.write(`${command}\n`)
    const { value } = await within(60_000, command, lines.next())
    return String(value)
  }
}

const bytes = (hex: string): string => Buffer.from(hex, 'hex').toString()

const withTwo = (t: Test, sizes: readonly [number, number]): Promise<KernelTestbed> =>
  warmMount(t, {
    adds(seed) {
      for (const [at, name] of (['first', 'second'] as const).entries()) {
        const files = { 'data.log': bytesOf(name.slice(0, 1), sizes[at] ?? 0) }
        const fields = '{"creationDate":"2026-01-02T03:04:05.678Z"}'
        seed.addCalculation({ id: `20${at}`, name, project: ids.water, files, fields })
      }
    },
  })

const refreshed = async (testbed: KernelTestbed, place: string): Promise<void> => {
  await testbed.calcfs('refresh', join(testbed.directory, place))
}

/** On the web page the second calculation gets the first one's name. */
async function swap(testbed: KernelTestbed, first = 'first'): Promise<void> {
  await testbed.service.edit('calculation', '200', { name: 'before' })
  await testbed.service.edit('calculation', '201', { name: first })
  await refreshed(testbed, folder)
}

for (const [what, size] of [
  ['a shorter', 1 << 20],
  ['one of the same size', longest],
  ['a longer', longest + 100_000],
] as const) {
  t.test(`READ-18 a reader whose path comes to stand for ${what} file reads its own to the end`, async t => {
    const testbed = await withTwo(t, [longest, size])
    const place = join(testbed.directory, path)
    const [first, second] = [bytesOf('f', longest), bytesOf('s', size)]
    const read = reader(t)
    t.equal(await read(`open ${place}`), 'done')
    // Beyond what the kernel reads ahead.
    const begun = bytes(await read('read 131072'))
    const { ino } = await stat(place)
    await swap(testbed)
    const now = await stat(place)
    t.equal(now.size, size)
    t.not(now.ino, ino, 'it is another inode')
    t.ok((await textOf(testbed, path)) === second, 'a second open reads the new one at once')
    t.equal(await read('size'), `${longest}`, 'fstat tells of the one that is open')
    t.ok(begun + bytes(await read(`read ${longest}`)) === first, 'whose reader is not cut')
    t.ok((await textOf(testbed, `${folder}/before/data.log`)) === first)
  })
}

t.test('TOLD-4 a program stays in its directory where the name passes to another one', async t => {
  const testbed = await withTwo(t, [5_000, 6_000])
  const read = reader(t)
  t.equal(await read(`cd ${join(testbed.directory, folder, 'first')}`), 'done')
  await swap(testbed)
  t.equal((await testbed.files.lstat(path)).size, 6_000)
  t.equal(await read('ls'), "['data.log']")
  t.equal(await read('open data.log'), 'done')
  t.ok(bytes(await read('read 10000')) === bytesOf('f', 5_000))
})

t.test('STALE-4 a name that goes twice is gone for the program that saw it go once', async t => {
  const { directory, service } = await withTwo(t, [1, 1])
  const program = reader(t)
  const body = (name: string, more: object) => JSON.stringify({ name, description: 'd', ...more })
  const id = (await service.elsewhere('POST', '/project', body('here', { parentId: ids.water }))).trim()
  const look = () => program(`look ${join(directory, folder, 'here')}`)
  for (let time = 0; time < 3; time += 1) {
    t.equal(await look(), 'there', `time ${time}`)
    for (const name of ['away', 'here']) {
      await service.edit('project', id, { name })
      if (name === 'away') t.equal(await look(), `errno ${errnoOf.ENOENT}`, `time ${time}: it is renamed`)
    }
  }
})

t.test('READ-18 a file whose name was given by a rename in the drive is read again', async t => {
  const testbed = await withTwo(t, [5_000, 5_000])
  const moved = `${folder}/moved`
  for (const name of ['first', 'second']) await textOf(testbed, `${folder}/${name}/data.log`)
  await testbed.files.rename(`${folder}/first`, moved)
  await swap(testbed, 'moved')
  t.ok((await textOf(testbed, `${moved}/data.log`)) === bytesOf('s', 5_000))
  t.ok((await textOf(testbed, `${folder}/before/data.log`)) === bytesOf('f', 5_000))
})

for (const how of ['open', 'change'] as const) {
  t.test(`READ-18 a record that is open shows no other calculation its text (${how})`, async t => {
    const testbed = await withTwo(t, [10, 10])
    const record = `${folder}/first/.calculation.json`
    const read = reader(t)
    t.equal(await read(`${how} ${join(testbed.directory, record)}`), 'done')
    await swap(testbed)
    t.match(JSON.parse(await textOf(testbed, record)), { id: 201 })
    t.match(JSON.parse(bytes(await read('read 100000'))), { id: 200 })
    t.equal(await read('close'), 'done')
  })
}

t.test('READ-18 a file replaced in its place is read whole at once, and mixes for no reader', async t => {
  const testbed = await warmMount(t)
  const by = `by-id/calculation/${ids.transition}/run.log`
  const place = join(testbed.directory, by)
  let [text, tag] = [bytesOf('f', longest), 'first']
  testbed.service.intercept(/bitstream\?id=1234&fileId=run\.log/, (response, { heard }) => {
    response.writeHead(200, { 'content-length': text.length, etag: `"${tag}"` })
    response.end(heard.method === 'HEAD' ? undefined : text)
  })
  const numbers = new Set<string>()
  for (const size of [longest, 360, longest + 5_000]) {
    const slow = reader(t)
    t.equal(await slow(`open ${place}`), 'done')
    const before = text
    const begun = bytes(await slow('read 131072'))
    text = bytesOf(randomBytes(1).toString('hex').slice(1), size)
    tag = randomBytes(4).toString('hex')
    await refreshed(testbed, by)
    t.ok((await textOf(testbed, by)) === text, `${size} bytes`)
    t.match(await printed('wc', ['-c', place]), new RegExp(`^${size} `))
    numbers.add(await printed('stat', ['-c', '%i', place]))
    const rest = await slow(`read ${longest}`)
    t.ok(rest === 'errno 116' || begun + bytes(rest) === before, 'the old one its own, or an error')
  }
  t.equal(numbers.size, 3, 'each version is a file of its own')
})

/** Programs that open each file in the same moment, and print whether each text was whole. */
const together = `
import json, sys, threading
paths, readers = sys.argv[1:], 8
gate, wholes = threading.Barrier(readers), []
def read():
    for path in paths:
        gate.wait()
        with open(path, 'rb', buffering=0) as file: text = file.read(1 << 20)
        try: wholes.append(len(set(json.loads(text)['description'])) == 1)
        except ValueError: wholes.append(False)
for line in sys.stdin:
    wholes.clear()
    threads = [threading.Thread(target=read) for _ in range(readers)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(all(wholes), len(wholes), flush=True)`

t.test('READ-18 all who open a changed record at once on a read-only mount read it whole', async t => {
  const reports = Array.from({ length: 20 }, (_, at) => `${400 + at}`)
  const { directory, service } = await warmMount(t, {
    adds(seed) {
      for (const id of reports) seed.addReport({ id, name: id, owner: 'demo', fields: '{"description":"-"}' })
    },
    settings: { access: 'read', ttlListing: '300ms' },
  })
  const read = reader(t, together, ...reports.map(id => join(directory, 'reports', `${id}.json`)))
  for (let round = 0; round < 20; round += 1) {
    const description = String(round % 10).repeat(1 + ((round * 397) % 2_000))
    for (const id of reports) await service.edit('report', id, { description })
    t.equal(await read('all'), `True ${8 * reports.length}`)
  }
})

t.test('LEASE-1 what is appended right after a save stands at the end of the text as it is now', async t => {
  const testbed = await warmMount(t)
  const rowsOf = async (): Promise<readonly string[]> => {
    const record = await testbed.service.elsewhere('GET', `/report?id=${ids.report}`)
    return JSON.parse(record).calculations.map(({ calcId }: { calcId: number }) => String(calcId))
  }
  const [first = '', second = '', third = ''] = await rowsOf()
  const line = `sed -i 2,3d "$1"; echo "$2" >> "$1"; echo "$3" >> "$1"`
  const place = `reports/${ids.report}/order.txt`
  await printed('sh', ['-c', line, 'sh', place, third, second], { cwd: testbed.directory })
  t.same(await rowsOf(), [first, third, second])
})

const storm = `
import json, os, random, sys, threading, time
path, seconds, beside = sys.argv[1], float(sys.argv[2]), sys.argv[3]
end, odd, counts, record = time.time() + seconds, [], [0, 0, 0], json.loads(open(path).read())
def read(at):
    while time.time() < end or counts[at] <= 10:
        with open(path, "rb") as file: text, size = file.read(), os.fstat(file.fileno()).st_size
        counts[at] += 1
        try: (text or beside) and json.loads(text)
        except ValueError: odd.append(text[:40] + b"..." + text[-40:])
        if beside and size != len(text): odd.append((size, len(text)))
def write(at):
    while time.time() < end or counts[at] <= 5:
        counts[at] += 1
        text = json.dumps({**record, "description": "x" * random.randint(1, 60) + str(counts[at])})
        with open(path + beside, "w") as file: file.write(text)
        if beside: os.rename(path + beside, path)
        time.sleep(random.choice([0, 0.05, 0.1]))
threads = [threading.Thread(target=work, args=(at,)) for at, work in enumerate([read, read, write])]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(odd[:5])`

t.test('LEASE-1 a record is read as one whole text, or as empty where it is saved in place', async t => {
  const testbed = await warmMount(t)
  const seconds = process.env['CALCFS_STORM_SECONDS'] ?? '3'
  for (const beside of ['', '.tmp']) {
    const args = ['-c', storm, join(testbed.directory, report), seconds, beside]
    t.equal(await printed(python, args, { limit: 1_000 * Number(seconds) + 60_000 }), '[]\n', beside)
  }
})
