// File operations of a figure: each with a time limit, and how long it took.
import * as fs from 'node:fs/promises'
import { errnoOf } from '../testbed/testbed.js'
import { within } from '../testbed/within.js'

/** What one program saw: the time of its slowest call, and the errno it met, if any. */
export interface Seen<Value> {
  readonly slowest: number
  readonly value: Value | undefined
  readonly errno: string | undefined
  /** True where a call did not come back within its limit. */
  readonly hung: boolean
}

/** One call after another, as a program makes them. */
export interface Calls {
  call<Value>(work: Promise<Value>): Promise<Value>
}

/** Calls that take as long as they take. */
export const untimed: Calls = { call: work => work }

/** Runs calls that must each end within `limit` milliseconds. Errors that are no errno are thrown. */
export async function timed<Value>(
  limit: number,
  work: (calls: Calls) => Promise<Value>,
): Promise<Seen<Value>> {
  let slowest = 0
  const calls: Calls = {
    async call(under) {
      const since = Date.now()
      try {
        return await within(limit, 'a call', under)
      } finally {
        slowest = Math.max(slowest, Date.now() - since)
      }
    },
  }
  try {
    return { value: await work(calls), errno: undefined, hung: false, slowest }
  } catch (thrown) {
    const errno = errnoOf(thrown)
    if (errno === undefined && slowest < limit) throw thrown
    return { value: undefined, errno, hung: errno === undefined, slowest }
  }
}

const pieceBytes = 131_072

/** The whole of a file, piece by piece, until its end. */
export async function readWhole({ call }: Calls, path: string): Promise<Buffer> {
  const file = await call(fs.open(path, 'r'))
  const pieces: Buffer[] = []
  try {
    for (;;) {
      const { buffer, bytesRead } = await call(file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, null))
      if (bytesRead === 0) return Buffer.concat(pieces)
      pieces.push(buffer.subarray(0, bytesRead))
    }
  } finally {
    await call(file.close())
  }
}
