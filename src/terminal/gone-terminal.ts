// The end of a process whose terminal was closed: Node gives terminals their modes back at the end, and aborts where that fails.
import { closeSync, fstatSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'
import { codeOf } from '../system/error-code.js'

const standardDescriptors = [0, 1, 2]

let isAsked = false

/** Call it early: what was replaced by the end of the process is left alone by Node. Once for all lines that a process carries out. */
export function endWithoutTerminal(): void {
  if (isAsked) return
  isAsked = true
  process.once('exit', () => standardDescriptors.filter(isDeadDevice).forEach(replaced))
}

/** A terminal that hung up is none any more. Any other such device may be replaced at the end as well. */
function isDeadDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice() && !isatty(descriptor)
  } catch (thrown) {
    if (codeOf(thrown) === undefined) throw thrown
    return false
  }
}

/** The number is the lowest free one then. Nothing there would hang the process: koffi's end syncs both outputs, and waits for itself where that fails. */
function replaced(descriptor: number): void {
  try {
    closeSync(descriptor)
    openSync('/dev/null', 'r+')
  } catch (thrown) {
    if (codeOf(thrown) === undefined) throw thrown
  }
}
