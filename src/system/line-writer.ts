// Lines for a reader that may stand still (a terminal after Ctrl-S, a pipe that is not read): they wait, and hold up nothing else; and the end of a process whose outputs are gone.
import { closeSync, constants, fstatSync, fsyncSync, openSync, write, writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { codeOf } from './error-code.js'

/** Bytes of lines that wait for their reader; what comes after that is lost. */
const longestBacklog = 256 << 10
/** Milliseconds until a reader that takes nothing is tried again. */
const retryAfter = 250

export class LineWriter {
  #waiting: Buffer[] = []
  #bytes = 0
  /** The system has some of them, and has not answered. */
  #isBusy = false
  #idle: (() => void)[] = []
  readonly #descriptor: number

  constructor(descriptor: number) {
    this.#descriptor = withoutWaiting(descriptor)
    process.once('exit', () => this.#end())
  }

  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#bytes + bytes.length > longestBacklog) return
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
    if (!this.#isBusy) this.#next()
  }

  /** Calls back once nothing is on its way to the reader. */
  flush(done: () => void): void {
    if (this.#isBusy) this.#idle.push(done)
    else done()
  }

  /** The same lines as a stream that is never full. */
  stream(): Writable {
    return new Writable({
      write: (chunk, _encoding, taken) => {
        this.write(String(chunk))
        taken()
      },
    })
  }

  #next(): void {
    const text = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#isBusy = true
    write(this.#descriptor, text, (cause, written) => {
      this.#isBusy = false
      // A reader that stands still or has gone, or a full disk: the rest is tried again.
      const rest = text.subarray(cause === null ? written : 0)
      if (rest.length > 0) this.#waiting.unshift(rest)
      this.#bytes -= text.length - rest.length
      if (cause === null && this.#waiting.length > 0) return this.#next()
      if (cause !== null) setTimeout(() => this.#retry(), retryAfter).unref()
      for (const done of this.#idle.splice(0)) done()
    })
  }

  #retry(): void {
    if (!this.#isBusy && this.#waiting.length > 0) this.#next()
  }

  /** The last words of the process; not behind a reader that stands still. */
  #end(): void {
    if (this.#isBusy || this.#waiting.length === 0) return
    try {
      writeSync(this.#descriptor, Buffer.concat(this.#waiting))
    } catch {
      // There is no place left to tell it.
    }
  }
}

/**
 * A terminal or a pipe opened once more, so that a write which its reader holds up fails (EAGAIN) in place of waiting: a
 * thread that waits keeps the process from ending. Other files, and what cannot be opened, are used as they are.
 */
function withoutWaiting(descriptor: number): number {
  const found = fstatSync(descriptor)
  if (!found.isCharacterDevice() && !found.isFIFO()) return descriptor
  try {
    const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY
    return openSync(`/proc/self/fd/${descriptor}`, flags)
  } catch {
    // The terminal of another user, or a system without /proc.
    return descriptor
  }
}

const standardDescriptors = [0, 1, 2]

/**
 * Node gives terminals their modes back at the end, and aborts where that fails. Call it early: what was replaced by the end is
 * left alone by Node.
 */
export function endWithoutTerminal(): void {
  process.off('exit', replaceDeadDevices).once('exit', replaceDeadDevices)
}

const replaceDeadDevices = (): void => standardDescriptors.filter(isDeadDevice).forEach(replaced)

/** Call it where koffi is loaded: its end syncs both outputs, and waits for itself where that fails but by EINVAL. */
export function endWithoutSync(): void {
  process.once('exit', () => standardDescriptors.slice(1).filter(isUnsynced).forEach(replaced))
}

/** A terminal that hung up is none any more. Any other such device may be replaced at the end as well. */
function isDeadDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice() && !isatty(descriptor)
  } catch {
    return false
  }
}

function isUnsynced(descriptor: number): boolean {
  try {
    fsyncSync(descriptor)
    return false
  } catch (thrown) {
    return codeOf(thrown) !== 'EINVAL'
  }
}

/** The number is the lowest free one then. */
function replaced(descriptor: number): void {
  try {
    closeSync(descriptor)
  } catch {
    // It was closed before, or is so now.
  }
  openSync('/dev/null', 'r+')
}
