// Pace of the telling: beside programs that write, the kernel is told about once a second, as if it kept names for so long.
import type { PathDrive as Drive } from '../drive/interface/path-drive.js'
import type { MaybePromise } from '../maybe-promise.js'
import type { Clock } from '../remote/clock.js'

export interface TellingPace {
  /** The drive, with a note of what programs write. */
  noting(drive: Drive): Drive
  /** Tells now; beside a write, within a second. */
  due(): void
  end(): void
}

/** Milliseconds after a change in which its program may make the next one. */
const besideMs = 900

/**
 * A kernel that was told looks up what a program is about to write. A size that comes between an answer of `read` and the
 * program that takes it from the page cache makes the rest of the page zeros (READ-19): in the kernel that is one race, here
 * it would be one at every write.
 */
export function openTellingPace(clock: Clock, tell: () => void): TellingPace {
  let underWay = 0
  let changed = Number.NEGATIVE_INFINITY
  let stop: (() => void) | undefined

  function noted<Value>(work: () => MaybePromise<Value>): MaybePromise<Value> {
    underWay += 1
    const ended = (): void => {
      underWay -= 1
      changed = clock.now()
    }
    try {
      const done = work()
      if (done instanceof Promise) return done.finally(ended)
      ended()
      return done
    } catch (thrown) {
      ended()
      throw thrown
    }
  }

  function tellLater(): void {
    stop = undefined
    tell()
  }

  return {
    noting(drive) {
      const writing = new Set<number>()
      return {
        ...drive,
        create: async path => {
          const handle = await noted(() => drive.create(path))
          writing.add(handle)
          return handle
        },
        open(path, access) {
          if (access === 'read') return drive.open(path, access)
          const opened = noted(() => drive.open(path, access))
          const write = (handle: number): number => {
            writing.add(handle)
            return handle
          }
          return opened instanceof Promise ? opened.then(write) : write(opened)
        },
        write: async (handle, bytes, offset) => noted(() => drive.write(handle, bytes, offset)),
        truncate: async (path, size) => noted(() => drive.truncate(path, size)),
        ftruncate: async (handle, size) => noted(() => drive.ftruncate(handle, size)),
        flush: handle => (writing.has(handle) ? noted(() => drive.flush(handle)) : drive.flush(handle)),
        release(handle) {
          return writing.delete(handle) ? noted(() => drive.release(handle)) : drive.release(handle)
        },
      }
    },
    due() {
      if (underWay === 0 && clock.now() - changed >= besideMs) tell()
      else stop ??= clock.after(besideMs, tellLater, 'in-background')
    },
    end() {
      stop?.()
      stop = () => {}
    },
  }
}
