// Lent memory: room for short bodies that is used again; each new buffer counts as garbage to come, and has all of it collected sooner.

/** Few sizes, so that little of each is left over; the last is for a chunk of a kept file with what stands behind it. */
const slabSizes = [32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, (1 << 20) + (4 << 10)]
/** Shorter ones are cheaper to make than to look after. */
const lentFrom = 16 << 10
/** The memory that waits to be lent again, in bytes. */
const spareAtMost = 6 << 20

const spares = new Map<number, ArrayBuffer[]>(slabSizes.map(size => [size, []]))
/** Lent at the moment, each with the bytes of it that were wanted; what is never given back is collected like anything else. */
const lent = new WeakMap<ArrayBufferLike, number>()
let spareBytes = 0

/** Memory whose only user is the caller; it holds anything. */
export function lendMemory(bytes: number): Buffer {
  const size = bytes < lentFrom ? undefined : slabSizes.find(each => bytes <= each)
  if (size === undefined) return Buffer.allocUnsafeSlow(bytes)
  const spare = spares.get(size)?.pop()
  if (spare !== undefined) spareBytes -= size
  const slab = spare ?? Buffer.allocUnsafeSlow(size).buffer
  lent.set(slab, bytes)
  return Buffer.from(slab, 0, bytes)
}

/** True if it is all of some lent memory: who is given it may keep it, and give it back. */
export const isLent = (bytes: Uint8Array): boolean =>
  bytes.byteOffset === 0 && lent.get(bytes.buffer) === bytes.length

/** Nothing reads it any more: it may be lent again at once. What was not lent is left alone. */
export function giveMemoryBack(bytes: Uint8Array): void {
  const slab = bytes.buffer
  if (!isLent(bytes) || !(slab instanceof ArrayBuffer)) return
  lent.delete(slab)
  if (spareBytes + slab.byteLength > spareAtMost) return
  spares.get(slab.byteLength)?.push(slab)
  spareBytes += slab.byteLength
}
