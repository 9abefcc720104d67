// Floor of the binding: a read-only file system with every answer in memory, mounted as calcfs mounts its own.
import { constants } from 'node:os'
import { parseArgs } from 'node:util'
import type { Operations } from 'fuse-native'
import { CalcfsFuse } from '../../src/mount/fuse.js'
import { longestStretch, stretch } from '../trees/bytes.js'
import { treeNames, treeOf } from '../trees/trees.js'
import { emptyNodes, type MemoryNode, type Nodes, treeNodes } from './pass-through-nodes.js'

const usage =
  'node dist/bench/peers/pass-through.js --at DIRECTORY (--tree NAME [--records] | --entries NUMBER)'

const { values: options } = parseArgs({
  options: {
    at: { type: 'string', default: '' },
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

const fuse = new CalcfsFuse(options.at, operations, {
  source: 'pass-through',
  readOnly: true,
  noExec: false,
  allowOther: false,
  xattrs: false,
  timer: 30_000,
})

function end(): void {
  fuse.unmount(error => {
    if (error !== null) console.error(`${options.at} could not be unmounted: ${error.message}`)
    process.exit(error === null ? 0 : 1)
  })
}

process.once('SIGTERM', end)
process.once('SIGINT', end)
process.once('disconnect', end)

fuse.mount(error => {
  if (error !== null) throw error
  console.log(JSON.stringify({ at: options.at }))
})
