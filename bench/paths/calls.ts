// The kernel's calls as the binding hands them over, each as a promise: one operation, or all that a program's read or save takes.
import type { Operations } from 'fuse-native'

/** An operation answers with an errno below zero, or with its count or values. */
type Operation = (...args: readonly unknown[]) => void

const pieceBytes = 128 * 1024

export interface Calls {
  getattr(path: string): Promise<{ readonly size: number; readonly mode: number }>
  readdir(path: string): Promise<readonly string[]>
  /** Opens, reads to the end and closes; the bytes. */
  readWhole(path: string): Promise<Buffer>
  /** Opens for writing, empties, writes and closes, as a program that saves in place. */
  overwrite(path: string, text: Buffer): Promise<void>
}

/** The calls of a served drive. @throws Error with the errno of an operation that failed */
export function callsOf(operations: Partial<Operations>): Calls {
  const table = operations as unknown as Readonly<Record<string, Operation>>

  function call(verb: string, ...args: readonly unknown[]): Promise<unknown> {
    return new Promise((answered, failed) =>
      table[verb]?.(...args, (error: number, value: unknown) =>
        error < 0 ? failed(new Error(`${verb} ${args[0]}: ${error}`)) : answered(value ?? error),
      ),
    )
  }

  /** Of read and write the first argument of the answer is the count. */
  const moved = (verb: 'read' | 'write', ...args: readonly unknown[]): Promise<number> =>
    call(verb, ...args) as Promise<number>

  async function close(path: string, handle: unknown): Promise<void> {
    await call('flush', path, handle)
    await call('release', path, handle)
  }

  return {
    getattr: path => call('getattr', path) as Promise<{ size: number; mode: number }>,
    readdir: path => call('readdir', path) as Promise<readonly string[]>,
    async readWhole(path) {
      const handle = await call('open', path, 0)
      const pieces: Buffer[] = []
      for (let at = 0; ; at += pieceBytes) {
        const piece = Buffer.alloc(pieceBytes)
        const got = await moved('read', path, handle, piece, piece.length, at)
        pieces.push(piece.subarray(0, got))
        if (got < piece.length) break
      }
      await close(path, handle)
      return Buffer.concat(pieces)
    },
    async overwrite(path, text) {
      const handle = await call('open', path, 1)
      await call('ftruncate', path, handle, 0)
      await moved('write', path, handle, text, text.length, 0)
      await close(path, handle)
    },
  }
}
