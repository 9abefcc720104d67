// The kernel's protocol: what is put into a message is read out of it, and no bytes end the daemon.
import fc from 'fast-check'
import t from 'tap'
import { inodeNumber } from '../../src/kernel/inodes.js'
import {
  forgottenIn,
  getattrIn,
  getxattrIn,
  type Header,
  headerOf,
  initIn,
  Malformed,
  nameIn,
  opcodes,
  readIn,
  renameIn,
  setattrIn,
  symlinkIn,
  writeIn,
} from '../../src/kernel/protocol.js'
import { direntplusFits, putDirent, Reply } from '../../src/kernel/reply.js'

/** A message as the kernel sends it, struct fuse_in_header of linux/fuse.h. */
function message(opcode: number, body: Buffer, { unique = 2, node = 1 } = {}): Buffer {
  const header = Buffer.alloc(40)
  header.writeUInt32LE(40 + body.length, 0)
  header.writeUInt32LE(opcode, 4)
  header.writeBigUInt64LE(BigInt(unique), 8)
  header.writeBigUInt64LE(BigInt(node), 16)
  header.writeUInt32LE(1000, 24)
  header.writeUInt32LE(4711, 32)
  return Buffer.concat([header, body])
}

const words = (...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(numbers.length * 8)
  numbers.forEach((number, at) => void bytes.writeBigUInt64LE(BigInt(number), at * 8))
  return bytes
}
const text = (...names: string[]): Buffer => Buffer.from(names.map(name => `${name}\0`).join(''))

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
      const bytes = message(opcodes.rename2, Buffer.concat([words(directory, 1), text(from, to)]))
      const plain = message(opcodes.rename, Buffer.concat([words(directory), text(from, to)]))
      const symlink = message(opcodes.symlink, text(from, to))
      t.same(renameIn(bytes, opcodes.rename2), { from, to, directory, flags: 1 })
      t.same(renameIn(plain, opcodes.rename), { from, to, directory, flags: 0 })
      t.same(symlinkIn(symlink), { name: from, target: to })
    }),
    { numRuns: 50 },
  )
})

t.test('numbers of 64 bits come as they are, and none beyond 2^53', async t => {
  fc.assert(
    fc.property(wide, wide, fc.nat(), (unique, node, size) => {
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

t.test('no bytes do more than be refused', async () => {
  const readers: readonly ((bytes: Buffer, header: Header) => unknown)[] = [
    nameIn,
    bytes => renameIn(bytes, opcodes.rename2),
    symlinkIn,
    getattrIn,
    setattrIn,
    readIn,
    writeIn,
    getxattrIn,
    initIn,
    forgottenIn,
  ]
  const drawn = fc.tuple(
    fc.nat({ max: 50 }),
    fc.uint8Array({ maxLength: 160 }),
    fc.boolean(),
    fc.nat({ max: readers.length - 1 }),
  )
  fc.assert(
    fc.property(drawn, ([opcode, body, lies, reader]) => {
      const bytes = message(opcode, Buffer.from(body))
      if (lies) bytes.writeUInt32LE(body.length, 0)
      try {
        readers[reader]?.(bytes, headerOf(bytes))
      } catch (thrown) {
        if (!(thrown instanceof Malformed)) throw thrown
      }
    }),
    { numRuns: 20_000 },
  )
})

t.test('no two of a million things have one inode number', async t => {
  const seen = new Set<bigint>()
  const kinds = ['project', 'calculation', 'record report', 'content upload 17']
  const base = Math.floor(Math.random() * 2 ** 40)
  for (let at = 0; at < 250_000; at += 1)
    for (const kind of kinds) seen.add(inodeNumber(`${kind} ${base + at}`))
  t.equal(seen.size, 1_000_000, `from ${base}`)
})
