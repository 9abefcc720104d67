// Table of open files: the binding carries a handle as a 32-bit integer.
import { Failure } from '../failure.js'

/** 0 means "none" to the binding, and a handle is read back as an unsigned 32-bit number. */
const largest = 0x7fff_ffff

export function openHandles<Open>() {
  const open = new Map<number, Open>()
  let last = 0

  function free(): number {
    do last = last === largest ? 1 : last + 1
    while (open.has(last))
    return last
  }

  function get(handle: number): Open {
    const found = open.get(handle)
    if (found === undefined) throw new Failure('bad-handle', `no file is open under the number ${handle}`)
    return found
  }

  return {
    add(file: Open): number {
      const handle = free()
      open.set(handle, file)
      return handle
    },
    get,
    /** The open file, which is no longer open under this number. */
    take(handle: number): Open {
      const found = get(handle)
      open.delete(handle)
      return found
    },
  }
}

export type Handles = ReturnType<typeof openHandles>
