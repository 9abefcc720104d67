// The end of a process whose terminal was closed: Node gives terminals their modes back at the end, and aborts where that fails.
import { closeSync, fstatSync } from 'node:fs'
import { isatty } from 'node:tty'
import { codeOf } from '../system/error-code.js'

const standardDescriptors = [0, 1, 2]

let isAsked = false

/** Call it early: what was closed by the end of the process is left alone by Node. Once for all lines that a process carries out. */
export function endWithoutTerminal(): void {
  if (isAsked) return
  isAsked = true
  process.once('exit', () => standardDescriptors.filter(isDeadDevice).forEach(closed))
}

/** A terminal that hung up is none any more. Any other such device may be closed at the end as well. */
function isDeadDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice() && !isatty(descriptor)
  } catch (thrown) {
    if (codeOf(thrown) === undefined) throw thrown
    return false
  }
}

function closed(descriptor: number): void {
  try {
    closeSync(descriptor)
  } catch (thrown) {
    if (codeOf(thrown) === undefined) throw thrown
  }
}
