// Automount point (autofs): a directory that waits for this very mount, so that most looks at it would wait for themselves.
import fs from 'node:fs'
import { dirname } from 'node:path'

/** The file system type of an automount point that is waiting. */
export const automountType = 'autofs'

/**
 * Runs a mount of the binding, which looks at the mount point and the directory above first: Node's stat asks for the automount, as
 * stat(2) does not, and another file system than above counts as "in use". Both are answered here.
 * @param begin calls the binding, which looks in this order
 */
export function withoutLooking<Begun>(mountPoint: string, begin: () => Begun): Begun {
  const real = fs.stat
  const answers = (path: unknown, ...rest: unknown[]): void => {
    const told = rest.at(-1)
    if (typeof told !== 'function') throw new TypeError('fs.stat wants a callback')
    if (path === mountPoint) return void process.nextTick(() => told(null, { isDirectory: () => true }))
    if (path !== dirname(mountPoint)) return void Reflect.apply(real, fs, [path, ...rest])
    fs.stat = real
    process.nextTick(() => told(null, undefined))
  }
  fs.stat = Object.assign(answers, { __promisify__: real.__promisify__ })
  return begin()
}
