// Promises of files that come from a daemon: in any order, each with its own failure, and ended with who asked.
import { setMaxListeners } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { serveControl } from '../../../src/cli/control/server.js'
import { readerAt } from '../../../src/cli/stream/stream-client.js'
import type { Control } from '../../../src/drive/interface/control.js'
import type { DriveReader, FileFacts } from '../../../src/drive/interface/reader.js'
import { Failure } from '../../../src/failure.js'
import { instant } from '../../../src/remote/remote.js'
import { within } from '../../testbed/within.js'

t.setTimeout(120_000)

const limit = 20_000
const never = new AbortController().signal
setMaxListeners(0, never)
const facts: FileFacts = { mode: 0o100444, size: 300_000, mtime: instant(1_700_000_000_000) }
const truth = Buffer.alloc(facts.size, 'truth ')

/** A daemon of the test's own, and a command that asks it. */
async function talk(t: Test, file: DriveReader['file']) {
  const directory = await mkdtemp(join(tmpdir(), 'calcfs-files-'))
  const socketPath = join(directory, 's.sock')
  const reader: DriveReader = {
    async *tree() {
      for (let at = 0; at < 5; at += 1) {
        yield [{ path: `/${at}`, type: 'directory', kind: 'project', mode: 0o40555 }]
        await pause(20)
      }
    },
    file,
  }
  const drive = { control: {} as Control, reader, device: Promise.resolve('1:1') }
  const server = await serveControl(
    async () => socketPath,
    drive,
    () => {},
  )
  let isOpen = true
  const close = async () => {
    if (isOpen) await within(limit, 'the end of the daemon', server.close())
    isOpen = false
  }
  t.teardown(async () => {
    await close()
    await rm(directory, { recursive: true, force: true })
  })
  const client = readerAt({
    socketPath,
    device: '1:1',
    onSilence: async () => new Error('the daemon is silent'),
  })
  const read = async (wanted = '/a', signal = never) => {
    const pieces: Buffer[] = []
    const found = await within(
      limit,
      'a file',
      client.file(wanted, bytes => void pieces.push(Buffer.from(bytes)), signal),
    )
    return { bytes: Buffer.concat(pieces), found }
  }
  return { socketPath, client, read, close }
}

/** The same bytes for every file. */
const always: DriveReader['file'] = async (_, sink) => {
  await sink(truth)
  return facts
}

t.test('NOFUSE-10 files come in any order, each with its own failure', async t => {
  const releases: (() => void)[] = []
  const { read } = await talk(t, async (path, sink) => {
    if (path === '/slow') await new Promise<void>(release => releases.push(release))
    if (path === '/gone') throw new Failure('absent', 'it is gone', { said: 'no such file' })
    const bytes = Buffer.from(path === '/empty' ? '' : path.repeat(9_000))
    await sink(bytes.subarray(0, 7))
    await sink(bytes.subarray(7))
    return { ...facts, size: bytes.length }
  })
  const slow = read('/slow')
  const many = await Promise.all(Array.from({ length: 300 }, (_, at) => read(`/${at}`)))
  t.same(
    many.map(({ bytes }) => bytes.toString()),
    many.map((_, at) => `/${at}`.repeat(9_000)),
  )
  t.equal((await read('/empty')).bytes.length, 0)
  await t.rejects(read('/gone'), { kind: 'absent', message: 'it is gone', said: 'no such file' })
  for (const release of releases) release()
  t.equal((await slow).bytes.toString(), '/slow'.repeat(9_000))
})

t.test(
  'NOFUSE-10 a command that stops ends what it asked for, and a daemon that ends ends no file',
  async t => {
    const left: string[] = []
    let asked = (): void => {}
    let release = (): void => {}
    const { read, close } = await talk(t, async (path, sink, signal) => {
      if (path === '/stopped')
        await new Promise((_, ended) => {
          asked()
          signal.addEventListener('abort', () => ended(new Failure('unreachable', 'gone')))
        }).catch(() => left.push(path))
      if (path === '/late') await new Promise<void>(wake => (release = wake)).finally(asked)
      await sink(Buffer.from(path))
      return { ...facts, size: path.length }
    })
    const stop = new AbortController()
    const isAsked = new Promise<void>(heard => (asked = heard))
    const stopped = read('/stopped', stop.signal)
    await within(limit, 'the question', isAsked)
    stop.abort(new Error('Ctrl-C'))
    await t.rejects(stopped, /Ctrl-C/)
    t.equal((await read('/after')).bytes.toString(), '/after', 'the others go on')

    await read('/first')
    const last = read('/late')
    await new Promise(wake => setTimeout(wake, 200))
    const closed = close()
    release()
    t.equal((await last).bytes.toString(), '/late', 'what was asked is answered')
    await closed
    await t.rejects(read('/later'), /the daemon is silent/)
    t.same(left, ['/stopped'], 'and what was given up is let go')
  },
)

t.test(
  'NOFUSE-10 a command that stops ends with its own sentence, whatever of an answer has come',
  async t => {
    const { client } = await talk(t, always)
    const asked = { path: '/', attributes: false, follow: false, filter: {} }
    const full = new Failure('no-space', 'the disk is full')
    // Milliseconds after the first item: the next ones are on their way, and all of the answer has come.
    for (const after of [0, 30, 400]) {
      const control = new AbortController()
      const walk = client.tree(asked, control.signal)[Symbol.asyncIterator]()
      await within(limit, 'the first item', walk.next())
      await pause(after)
      await within(limit, 'the second item', walk.next())
      control.abort(full)
      await pause(50)
      await t.rejects(within(limit, 'the end', readAll(walk)), /the disk is full/)
    }
    await t.rejects(
      client.file('/a', () => {}, AbortSignal.abort(full)),
      /the disk is full/,
    )
  },
)

async function readAll(walk: AsyncIterator<unknown>): Promise<void> {
  while ((await walk.next()).done !== true);
}

t.test('NOFUSE-10 a daemon takes no question without an end', async t => {
  const { socketPath, read } = await talk(t, always)
  const open = async () => {
    const socket = connect(socketPath)
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    socket.write('POST /file HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n')
    return socket
  }
  const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

  const endless = await open()
  const cut = new Promise(done => endless.once('close', done))
  for (let at = 0; at < 40 && !endless.destroyed; at += 1) endless.write(chunk('x'.repeat(1 << 20)))
  await within(limit, 'an end', cut)
  t.same(await read(), { bytes: truth, found: facts }, 'others are answered')
})
