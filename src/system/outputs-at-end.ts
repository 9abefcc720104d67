// The end of a process whose outputs are gone or broken: what would abort or hang it there is replaced by /dev/null.
import { closeSync, fstatSync, fsyncSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'
import { codeOf } from './error-code.js'

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
