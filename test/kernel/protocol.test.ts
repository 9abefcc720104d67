// The kernel's protocol: what is put into a message is read out of it, and no bytes end the daemon.
import fc from 'fast-check'
import t from 'tap'
import { inodeNumber } from '../../src/kernel/inodes.js'
import {
  forgottenIn,
  type Header,
  headerOf,
  initIn,
  nameIn,
  opcodes,
  readIn,
  renameIn,
  setattrIn,
  symlinkIn,
  writeIn,
} from '../../src/kernel/protocol.js'
import { direntplusFits, putDirent, Reply } from '../../src/kernel/reply.js'
import { message, text, words } from '../testbed/kernel/bytes.js'

const aName = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter(name => !/[\0/]/.test(name))
const wide = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })

t.test('a name is read from every request that has one, and no other', async t => {
  const before: Partial<Record<keyof typeof opcodes, number>> = {
    lookup: 0,
    unlink: 0,
    rmdir: 0,
    mkdir: 8,
    link: 8,
    mknod: 16,
    create: 16,
  }
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(opcodes)), aName, (key, name) => {
      const opcode = Object.entries(opcodes).find(([one]) => one === key)?.[1] ?? 0
      const behind = Object.entries(before).find(([one]) => one === key)?.[1]
      if (behind === undefined) return
      const bytes = message(opcode, Buffer.concat([Buffer.alloc(behind), text(name)]))
      return nameIn(bytes, headerOf(bytes)) === name
    }),
  )
  fc.assert(
    fc.property(aName, aName, wide, (from, to, directory) => {
      const plain = message(opcodes.rename, Buffer.concat([words(directory), text(from, to)]))
      const symlink = message(opcodes.symlink, text(from, to))
      t.same(renameIn(plain), { from, to, directory })
      t.same(symlinkIn(symlink), { name: from, target: to })
    }),
    { numRuns: 50 },
  )
})

t.test('numbers of 64 bits come as they are, and none beyond 2^53', async t => {
  fc.assert(
    fc.property(wide, wide, fc.nat({ max: 1 << 24 }), (unique, node, size) => {
      const bytes = message(opcodes.read, words(node, unique, size, 0, 0), { unique, node })
      const header = headerOf(bytes)
      const read = readIn(bytes)
      return (
        header.unique === unique &&
        header.node === node &&
        header.pid === 4711 &&
        read.handle === node &&
        read.offset === unique &&
        read.size === size
      )
    }),
  )
  const large = message(opcodes.getattr, Buffer.alloc(16))
  large.writeBigUInt64LE(1n << 53n, 16)
  t.throws(() => headerOf(large), { message: /beyond 2\^53/ })
})

t.test('what an answer holds is where the kernel looks for it', async t => {
  const reply = new Reply(8)
  t.ok(putDirent(reply, 4096, { ino: (1n << 63n) + 5n, name: 'ä.xyz', next: 7, mode: 0o100644 }))
  const bytes = reply.message(9)
  t.equal(bytes.readUInt32LE(0), bytes.length)
  t.equal(bytes.length % 8, 0)
  t.equal(bytes.readBigUInt64LE(8), 9n)
  t.equal(bytes.readBigUInt64LE(16), (1n << 63n) + 5n)
  t.equal(bytes.readBigUInt64LE(24), 7n)
  t.equal(bytes.toString('utf8', 40, 40 + bytes.readUInt32LE(32)), 'ä.xyz')
  t.equal(bytes.readUInt32LE(36), 8, 'DT_REG')
  t.notOk(putDirent(reply, 40, { ino: 1n, name: 'b', next: 8, mode: 0 }), 'an entry that has no room is left')
  t.notOk(direntplusFits(reply, 100, 'b'))
  t.same([...new Reply(0).message(3, 2).subarray(0, 8)], [16, 0, 0, 0, 254, 255, 255, 255], 'ENOENT')
})

/** What Linux 6.18 has sent (FUSE 7.45), and what it had been asked for. */
const captured: readonly (readonly [
  string,
  Partial<Header>,
  (bytes: Buffer, header: Header) => unknown,
  unknown,
])[] = [
  // INIT
  [
    '680000001a0000000200000000000000000000000000000000000000000000000000000000000000070000002d00000000000200fbffff73fd0500000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000',
    { opcode: 26 },
    bytes => initIn(bytes).minor,
    45,
  ],
  // LOOKUP, os.stat('.')
  [
    '2a00000001000000280000000000000001000000000000000000000000000000e4670000000000002d00',
    { unique: 40, node: 1, pid: 26596 },
    nameIn,
    '-',
  ],
  // open('.x.swp', O_RDWR | O_CREAT, 0o640)
  [
    '3f00000023000000300000000000000002000000000000000000000000000000e46700000000000042800000a081000012000000000000002e782e73777000',
    { opcode: opcodes.create, node: 2 },
    nameIn,
    '.x.swp',
  ],
  // write(b'hello')
  [
    '550000001000000032000000000000000d000000000000000000000000000000e4670000000000000100000000000000000000000000000005000000000000000000000000000000028000000000000068656c6c6f',
    { opcode: opcodes.write },
    writeIn,
    { handle: 1, offset: 0, bytes: Buffer.from('hello') },
  ],
  // ftruncate(3)
  [
    '800000000400000036000000000000000d000000000000000000000000000000e467000000000000480200000000000001000000000000000300000000000000c0043bf39020af2c0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000',
    { opcode: opcodes.setattr, node: 13 },
    setattrIn,
    { size: 3, handle: 1, mtime: undefined, isMtimeNow: false, isOther: false },
  ],
  // pread(10, 0): a whole page
  [
    '500000000f0000003c000000000000000d000000000000000000000000000000e46700000000000001000000000000000000000000000000001000000000000000000000000000000280000000000000',
    { opcode: opcodes.read },
    readIn,
    { handle: 1, offset: 0, size: 4096 },
  ],
  // rename('.x.swp', '.y.swp')
  [
    '3e0000000c000000460000000000000002000000000000000000000000000000e46700000000000002000000000000002e782e737770002e792e73777000',
    { opcode: opcodes.rename },
    renameIn,
    { from: '.x.swp', to: '.y.swp', directory: 2 },
  ],
  // symlink('to', '.ln')
  [
    '2f000000060000005a0000000000000002000000000000000000000000000000e4670000000000002e6c6e00746f00',
    { opcode: opcodes.symlink },
    symlinkIn,
    { name: '.ln', target: 'to' },
  ],
  // The second page of a listing
  [
    '500000001c0000004e0000000000000002000000000000000000000000000000e46700000000000004000000000000000500000000000000000002000000000000000000000000000088010000000000',
    { opcode: opcodes.readdir },
    readIn,
    { handle: 4, offset: 5, size: 131_072 },
  ],
  // FORGET
  [
    '300000000200000072000000000000000d00000000000000000000000000000000000000000000000100000000000000',
    { opcode: opcodes.forget, pid: 0 },
    forgottenIn,
    [{ node: 13, count: 1 }],
  ],
]

t.test('what a real kernel has sent is read as what was asked of it', async t => {
  for (const [hex, expected, read, found] of captured) {
    const bytes = Buffer.from(hex, 'hex')
    const header = headerOf(bytes)
    t.match(header, expected, hex)
    t.same(read(bytes, header), found, hex)
  }
})

t.test('no two of a million things have one inode number', async t => {
  const seen = new Set<bigint>()
  const kinds = ['project', 'calculation', 'record report', 'content upload 17']
  const base = 1 + Math.floor(Math.random() * 9e11)
  for (let at = 0; at < 250_000; at += 1)
    for (const kind of kinds) seen.add(inodeNumber(`${kind} ${base + at}`))
  t.equal(seen.size, 1_000_000, `from ${base}`)
  const folders = [...seen].filter(number => number < 2n ** 53n)
  t.equal(new Set(folders.map(Number)).size, 500_000, 'folders side by side are others as doubles, too')
})
