// Floor of a way to the kernel: a read-only file system with every answer in memory, mounted as calcfs mounts its own.
import { constants } from 'node:os'
import { parseArgs } from 'node:util'
import type { Operations } from 'fuse-native'
import { KernelCalls } from '../../src/activity/kernel-calls.js'
import { KernelNews } from '../../src/drive/interface/verbs.js'
import { mountSession } from '../../src/kernel/mount-session.js'
import { CalcfsFuse } from '../../src/mount/fuse.js'
import { systemClock } from '../../src/remote/clock.js'
import { longestStretch, stretch } from '../trees/bytes.js'
import { treeNames, treeOf } from '../trees/trees.js'
import { memoryDrive } from './pass-through-drive.js'
import { emptyNodes, type MemoryNode, type Nodes, treeNodes } from './pass-through-nodes.js'

const usage =
  'node dist/bench/peers/pass-through.js --at DIRECTORY [--session] (--tree NAME [--records] | --entries NUMBER)'

const { values: options } = parseArgs({
  options: {
    at: { type: 'string', default: '' },
    /** By the session of calcfs, not through libfuse. */
    session: { type: 'boolean', default: false },
    tree: { type: 'string' },
    /** Also what calcfs shows next to the files: records, indexes and `.shares`. */
    records: { type: 'boolean', default: false },
    /** An otherwise empty file system with so many empty files at its top. */
    entries: { type: 'string' },
  },
})
if (options.at === '') throw new Error(usage)

function chosen(): Nodes {
  if (options.entries !== undefined) return emptyNodes(Number(options.entries))
  const name = treeNames.find(known => known === options.tree)
  if (name === undefined) throw new Error(usage)
  return treeNodes(treeOf(name), options.records)
}

const nodes = chosen()
// Made now, as an origin has them made, and no part of the first read.
for (const form of ['text', 'binary'] as const) stretch({ form, size: 1, start: 0 }, 0, 1)
const { ENOENT, ENOTDIR, EISDIR, EBADF } = constants.errno
const handles = new Map<number, MemoryNode>()
let lastHandle = 0

/** The operations that a read-only drive needs; `default_permissions` keeps access(2) in the kernel. */
const operations: Partial<Operations> = {
  init: done => done(0),
  getattr(path, done) {
    const node = nodes.at(path)
    if (node === undefined) done(-ENOENT)
    else done(0, node.stat)
  },
  readdir(path, done) {
    const inside = nodes.at(path)?.inside?.()
    if (inside === undefined) done(nodes.at(path) === undefined ? -ENOENT : -ENOTDIR)
    else done(0, inside.names, inside.stats)
  },
  open(path, _flags, done) {
    const node = nodes.at(path)
    if (node === undefined || node.source === undefined) return done(node === undefined ? -ENOENT : -EISDIR)
    lastHandle += 1
    handles.set(lastHandle, node)
    done(0, lastHandle)
  },
  read(_path, handle, buffer, length, position, done) {
    const source = handles.get(handle)?.source
    if (source === undefined) return done(-EBADF)
    done(stretch(source, position, Math.min(length, longestStretch)).copy(buffer))
  },
  release(_path, handle, done) {
    handles.delete(handle)
    done(0)
  },
  flush: (_path, _handle, done) => done(0),
  statfs: (_path, done) => done(0, room),
}

const room = {
  bsize: 4096,
  frsize: 4096,
  blocks: 1 << 20,
  bfree: 1 << 19,
  bavail: 1 << 19,
  files: 1 << 20,
  ffree: 1 << 19,
  favail: 1 << 19,
  namemax: 255,
}

const settings = {
  source: 'pass-through',
  readOnly: true,
  allowOther: false,
  xattrs: false,
  cacheSeconds: 7.5,
  timer: 30_000,
}

/** Mounts it; the function that comes of it unmounts. */
async function mounted(): Promise<() => Promise<void>> {
  if (options.session) {
    const parts = { news: new KernelNews(), log: { failed: () => {}, calls: new KernelCalls() } }
    const drive = memoryDrive(nodes, room)
    const mount = await mountSession(options.at, { drive, ...parts, clock: systemClock }, settings)
    return mount.unmount
  }
  const fuse = new CalcfsFuse(options.at, operations, settings)
  const told = (ask: (done: (error: Error | null) => void) => void): Promise<void> =>
    new Promise((done, failed) => ask(error => (error === null ? done() : failed(error))))
  await told(done => fuse.mount(done))
  return () => told(done => fuse.unmount(done))
}

const unmount = await mounted()

function end(): void {
  unmount().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(`${options.at} could not be unmounted: ${String(error)}`)
      process.exit(1)
    },
  )
}

process.once('SIGTERM', end)
process.once('SIGINT', end)
process.once('disconnect', end)
console.log(JSON.stringify({ at: options.at }))
