// Kernel epoch: the notification after which the kernel asks for every name again; it waits for no lock, and no program waits for it.
import { readlinkSync, writeSync } from 'node:fs'
import { pathOfDescriptor } from './kernel-descriptor.js'

/** Of one mount. Nothing is told before `begin`, and after `end`. */
export interface KernelEpoch {
  /** @param descriptor of /dev/fuse. False where this kernel does not know the notification: Linux before 6.16. */
  begin(descriptor: number): boolean
  /** All that the kernel keeps is asked for again at its next use. */
  advance(): void
  /** How many times it was told. */
  readonly told: number
  end(): void
}

/**
 * FUSE_NOTIFY_INC_EPOCH (linux/fuse.h): a header alone, of length, code and 0. The notifications about one name or one
 * inode's pages take the lock of a directory or wait for a page: a daemon that is killed in that moment keeps its own
 * connection open, and every program on the mount waits for good.
 */
const incrementEpoch = 8
const message = Buffer.alloc(16)
message.writeUInt32LE(message.length, 0)
message.writeInt32LE(incrementEpoch, 4)

export function openKernelEpoch(failed: (cause: unknown) => void): KernelEpoch {
  let descriptor: number | undefined
  let told = 0

  /** @throws what the kernel says */
  function tell(to: number): void {
    // The mount may have ended in this moment, and libfuse closed the descriptor.
    if (readlinkSync(pathOfDescriptor(to)) !== '/dev/fuse') throw new Error('the mount has ended')
    writeSync(to, message)
    told += 1
  }

  return {
    begin(number) {
      try {
        tell(number)
        descriptor = number
      } catch (thrown) {
        failed(thrown)
      }
      return descriptor !== undefined
    },
    advance() {
      if (descriptor === undefined) return
      try {
        tell(descriptor)
      } catch {
        // The kernel has closed the connection: no program asks any more.
        descriptor = undefined
      }
    },
    get told() {
      return told
    },
    end() {
      descriptor = undefined
    },
  }
}
