// A PNG picture of noise, which no compression makes small.
import { randomBytes } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'

/** @returns about `3 * width * height` bytes */
export function picture(width: number, height: number): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 2], 8)
  const rows = Array.from({ length: height }, () => Buffer.concat([Buffer.of(0), randomBytes(3 * width)]))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.concat(rows))), chunk('IEND')]
  return Buffer.concat([signature, ...parts])
}

function chunk(kind: string, content = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(kind), content])
  const around = Buffer.alloc(8)
  around.writeUInt32BE(content.length, 0)
  around.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([around.subarray(0, 4), named, around.subarray(4)])
}
