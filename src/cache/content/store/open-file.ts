// An open file whose descriptor lives until its last user has left, so that no read meets a number given to another file.
import { close, fdatasync, fstatSync, read, readSync, type Stats, write } from 'node:fs'

type IoCallback = (error: NodeJS.ErrnoException | null, bytes?: number) => void

export class CacheFile {
  private users = 0
  private isClosed = false

  constructor(private readonly descriptor: number) {}

  get idle(): boolean {
    return this.users === 0
  }

  /** Its length and times now. */
  status(): Stats {
    this.refuseClosed()
    return fstatSync(this.descriptor)
  }

  /** Fills `into` from `position`; an end before that is an error. */
  read(into: Uint8Array, position: number): Promise<void> {
    return this.all(into.length, (from, done) =>
      read(this.descriptor, into, from, into.length - from, position + from, done),
    )
  }

  /** The same without leaving the event loop: only for bytes that are in the page cache (1 µs against 30 µs). */
  readNow(into: Uint8Array, position: number): void {
    this.refuseClosed()
    for (let moved = 0; moved < into.length; ) {
      const bytes = readSync(this.descriptor, into, moved, into.length - moved, position + moved)
      if (bytes === 0) throw new FileTruncated()
      moved += bytes
    }
  }

  write(bytes: Uint8Array, position: number): Promise<void> {
    return this.all(bytes.length, (from, done) =>
      write(this.descriptor, bytes, from, bytes.length - from, position + from, done),
    )
  }

  /** Resolves once everything written is on the disk itself. */
  async sync(): Promise<void> {
    await this.use(done => fdatasync(this.descriptor, done))
  }

  /** Closes after the last operation under way; later ones are refused. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    if (this.idle) this.closeNow()
  }

  /** What the disk says to it changes nothing: what was read was checked, and what was written has its proof. */
  private closeNow(): void {
    close(this.descriptor, () => {})
  }

  private refuseClosed(): void {
    if (this.isClosed) throw new FileClosed()
  }

  private async all(length: number, step: (from: number, done: IoCallback) => void): Promise<void> {
    for (let moved = 0; moved < length; ) {
      const from = moved
      const bytes = await this.use(done => step(from, done))
      if (bytes === 0) throw new FileTruncated()
      moved += bytes
    }
  }

  private use(start: (done: IoCallback) => void): Promise<number> {
    if (this.isClosed) return Promise.reject(new FileClosed())
    this.users += 1
    return new Promise((resolve, reject) => {
      start((error, bytes = 0) => {
        this.users -= 1
        if (this.isClosed && this.idle) this.closeNow()
        if (error === null) resolve(bytes)
        else reject(error)
      })
    })
  }
}

export class FileClosed extends Error {
  override readonly message = 'the file was closed meanwhile'
}

/** The file ends before it should. */
export class FileTruncated extends Error {
  override readonly message = 'the file was cut'
}
