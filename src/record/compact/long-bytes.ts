// Memory for one long text, returned to the system once it is garbage.

/** From this length on the C library never keeps what was freed (DEFAULT_MMAP_THRESHOLD_MAX of glibc is 32 MiB). */
const neverKept = (32 << 20) + 1
/** Shorter ones fill the holes that are there. */
const isLong = 1 << 20

/**
 * So many bytes with anything in them. A freed block of a few MB would stay in the process, for the C library learns from
 * each one to keep the next; a larger one goes back to the system, and what is never written takes no memory.
 */
export function longBytes(length: number): Buffer {
  if (length < isLong) return Buffer.allocUnsafeSlow(length)
  return Buffer.allocUnsafeSlow(Math.max(length, neverKept)).subarray(0, length)
}
