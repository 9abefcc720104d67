// The kernel of this machine as an older one offers itself: imported before the daemon begins. CALCFS_TEST_KERNEL names it.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { opcodes } from '../../../src/kernel/protocol.js'
import { init, message, offers } from '../kernel/bytes.js'

const { readSync } = fs
const offer = offers[process.env['CALCFS_TEST_KERNEL'] ?? '']

/** Flags are only taken away: what this kernel does not offer it would not do. */
function older(given: NodeJS.ArrayBufferView, length: number): number {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  const isInit = length >= 56 && bytes.readUInt32LE(0) === length && bytes.readUInt32LE(4) === opcodes.init
  if (!isInit || offer === undefined) return length
  const body = init({ ...offer, flags: offer.flags & bytes.readUInt32LE(52) })
  const unique = Number(bytes.readBigUInt64LE(8))
  return message(opcodes.init, body, { unique, node: 0, pid: 0 }).copy(bytes)
}

Object.assign(fs, {
  readSync: (descriptor: number, into: NodeJS.ArrayBufferView, ...rest: [number, number, null]) =>
    older(into, readSync(descriptor, into, ...rest)),
})
syncBuiltinESMExports()
