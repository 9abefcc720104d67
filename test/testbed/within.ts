// A limit on every wait of a test, so that a drive that hangs fails one promise and not the whole run.
import { stopwatch } from './machine/stopwatch.js'

/** The work's value, or an error that names the work after so many milliseconds; time without a processor does not count. */
export async function within<Value>(
  milliseconds: number,
  what: string,
  work: Promise<Value>,
): Promise<Value> {
  let callOff: (() => void) | undefined
  const late = new Promise<never>((_, reject) => {
    callOff = afterwards(milliseconds, () => reject(new Error(`${what} took over ${milliseconds} ms`)))
  })
  try {
    return await Promise.race([work, late])
  } finally {
    callOff?.()
  }
}

/** Does it after so many milliseconds, as `within` counts them; what it answers calls it off. */
export function afterwards(milliseconds: number, action: () => void): () => void {
  const elapsed = stopwatch()
  let timer: NodeJS.Timeout | undefined
  const look = (): void => {
    const left = milliseconds - elapsed()
    if (left <= 0) action()
    else timer = setTimeout(look, left)
  }
  look()
  return () => clearTimeout(timer)
}

/**
 * Asks again and again until the answer is true; an error that names what was waited for where the answer is no to a question
 * that was asked after so many milliseconds, as `within` counts them.
 * @param pause milliseconds between two questions: longer where each is a process
 */
export async function until(
  milliseconds: number,
  what: string,
  isSo: () => Promise<boolean> | boolean,
  pause = 20,
): Promise<void> {
  const elapsed = stopwatch()
  for (let asked = 0; !(await isSo()); asked = elapsed()) {
    if (asked > milliseconds) throw new Error(`${what}: not so after ${milliseconds} ms`)
    await new Promise(wake => setTimeout(wake, pause))
  }
}

export const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

/** Something to wait at until it is opened. */
export function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = () => {}
  const opened = new Promise<void>(done => {
    open = done
  })
  return { open: () => open(), opened }
}
