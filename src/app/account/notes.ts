// Notes beside what is kept of accounts: which there are, and their texts. A damaged one counts as none.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import type * as z from 'zod'
import { isMissing } from '../../system/error-code.js'

/** The names in the directory of all accounts, in their order; none where it is missing. Throws disk errors. */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort()
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown
    return []
  }
}

/** Undefined where there is no plain file. Throws disk errors. */
export const plainText = (file: string): string | undefined =>
  isPlain(file) ? readFileSync(file, 'utf8') : undefined

/** Undefined for one that is missing, or damaged. Throws disk errors. */
export function noteIn<Note>(file: string, form: z.ZodType<Note>): Note | undefined {
  if (!isPlain(file)) return undefined
  try {
    return form.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}

/** Reading a pipe in its place would never end. */
const isPlain = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() === true
