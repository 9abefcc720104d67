// Bytes of every generated file: a stretch of one prepared text or binary buffer, so that any offset is cheap.

/** Where the bytes of a file come from. */
export interface Source {
  readonly form: 'text' | 'binary'
  readonly size: number
  /** Where in the prepared buffer its first byte stands. */
  readonly start: number
}

/** A prime: no block size divides it, so that a block at a wrong place is seen. */
export const period = 4_194_301
/** The most that one stretch can hold, in bytes. */
export const longestStretch = 256 * 1024

/** A pseudo-random number below 2^32, the same for the same two numbers. */
export function mixed(number: number, salt: number): number {
  let value = Math.imul(number, 0x9e3779b1) + Math.imul(salt, 0x85ebca77)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}

const prepared: Record<Source['form'], Buffer | undefined> = { text: undefined, binary: undefined }

/** Up to `longestStretch` bytes of the file from this offset on; a view that must not be written to. */
export function stretch({ form, size, start }: Source, offset: number, length: number): Buffer {
  prepared[form] ??= form === 'text' ? preparedText() : preparedBytes()
  const from = (start + offset) % period
  const count = Math.max(0, Math.min(length, size - offset, longestStretch))
  return prepared[form].subarray(from, from + count)
}

/** Lines as a program writes them; one in fifty tells an energy. */
function preparedText(): Buffer {
  const lines: string[] = []
  let bytes = 0
  for (let at = 0; bytes < period; at++) {
    const line = at % 50 === 0 ? energyLine(at) : coordinates(at)
    lines.push(line)
    bytes += line.length
  }
  return repeated(Buffer.from(lines.join('')))
}

const energyLine = (at: number): string =>
  `FINAL SINGLE POINT ENERGY     -${(mixed(at, 5) / 1e7).toFixed(9)}\n`

function coordinates(at: number): string {
  const numbers = [1, 2, 3].map(axis => ((mixed(at, axis) - 2 ** 31) / 1e8).toFixed(8).padStart(16))
  return `${'HCNO'[at % 4]} ${numbers.join('')}\n`
}

function preparedBytes(): Buffer {
  const words = new Uint32Array(Math.ceil(period / 4))
  for (let at = 0; at < words.length; at++) words[at] = mixed(at, 7)
  return repeated(Buffer.from(words.buffer))
}

/** One period, and its beginning once more, so that a stretch never wraps. */
const repeated = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, period), bytes.subarray(0, longestStretch)])
