// The form of `--json`, the same for every command: one document on standard output, and nothing else there.

import { Option } from 'commander'
import { printText } from './print.js'

/**
 * The flag of a command that prints facts.
 * @param what names the document: `an array of drafts`
 */
export const jsonFlag = (what: string): Option => new Option('--json', `print JSON: ${what}`)

/**
 * Prints one document. Its keys are in camelCase, times are texts in ISO 8601 (UTC), sizes bytes, durations milliseconds, ids
 * texts; what is not known is left out.
 */
export function printJson(facts: unknown): void {
  printText(`${JSON.stringify(facts, null, 2)}\n`)
}
