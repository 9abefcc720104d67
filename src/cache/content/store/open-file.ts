// An open file whose descriptor lives until its last user has left, so that no read meets a number given to another file.
import { close, fdatasync, fstatSync, read, readSync, write, writev } from 'node:fs'

export interface CacheFile {
  /** No operation is under way. */
  readonly idle: boolean
  readonly closed: boolean
  /** How many bytes it has now. */
  length(): number
  /** Another one once anything was written to it, or its times were set. */
  stamp(): number
  /** Fills `into` from `position`; an end before that is an error. */
  read(into: Uint8Array, position: number): Promise<void>
  /** The same without leaving the event loop: only for bytes that are in the page cache (1 µs against 30 µs). */
  readNow(into: Uint8Array, position: number): void
  write(bytes: Uint8Array, position: number): Promise<void>
  /** Writes these one after another from the beginning, all of them or it is an error. */
  writeFirst(parts: readonly Uint8Array[]): Promise<void>
  /** Resolves once everything written is on the disk itself. */
  sync(): Promise<void>
  /** Closes after the last operation under way; later ones are refused. */
  close(): void
}

type IoCallback = (error: NodeJS.ErrnoException | null, bytes?: number) => void

/** Takes over a file descriptor. */
export function openCacheFile(descriptor: number): CacheFile {
  let users = 0
  let closed = false

  function leave(): void {
    users -= 1
    if (closed && users === 0) close(descriptor)
  }

  function use(start: (done: IoCallback) => void): Promise<number> {
    if (closed) return Promise.reject(new FileClosed())
    users += 1
    return new Promise((resolve, reject) => {
      start((error, bytes = 0) => {
        leave()
        if (error === null) resolve(bytes)
        else reject(error)
      })
    })
  }

  async function all(length: number, step: (from: number) => Promise<number>): Promise<void> {
    for (let moved = 0; moved < length; ) {
      const bytes = await step(moved)
      if (bytes === 0) throw new FileTruncated()
      moved += bytes
    }
  }

  return {
    get idle() {
      return users === 0
    },
    get closed() {
      return closed
    },
    length() {
      if (closed) throw new FileClosed()
      return fstatSync(descriptor).size
    },
    stamp() {
      if (closed) throw new FileClosed()
      return fstatSync(descriptor).ctimeMs
    },
    read: (into, position) =>
      all(into.length, from =>
        use(done => read(descriptor, into, from, into.length - from, position + from, done)),
      ),
    readNow(into, position) {
      if (closed) throw new FileClosed()
      for (let moved = 0; moved < into.length; ) {
        const bytes = readSync(descriptor, into, moved, into.length - moved, position + moved)
        if (bytes === 0) throw new FileTruncated()
        moved += bytes
      }
    },
    write: (bytes, position) =>
      all(bytes.length, from =>
        use(done => write(descriptor, bytes, from, bytes.length - from, position + from, done)),
      ),
    async writeFirst(parts) {
      const due = parts.reduce((bytes, part) => bytes + part.length, 0)
      if ((await use(done => writev(descriptor, [...parts], 0, done))) < due) throw new FileTruncated()
    },
    sync: () => use(done => fdatasync(descriptor, done)).then(() => undefined),
    close() {
      if (closed) return
      closed = true
      if (users === 0) close(descriptor)
    },
  }
}

export class FileClosed extends Error {
  override readonly message = 'the file was closed meanwhile'
}

/** The file ends before it should. */
export class FileTruncated extends Error {
  override readonly message = 'the file was cut'
}
