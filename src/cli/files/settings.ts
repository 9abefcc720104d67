// Values of the flags that commands on trees share, checked where they are given.
import { InvalidArgumentError } from 'commander'

/** A number of levels, 0 or more. */
export const levels = (text: string): number => wholeNumber(text, 0)

/** How many files are fetched at once. */
export const jobs = (text: string): number => wholeNumber(text, 1)

function wholeNumber(text: string, least: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && Number.isSafeInteger(value)) return value
  throw new InvalidArgumentError(`write a whole number, ${least} or more.`)
}

/** Each use of the flag adds one. */
export const collected = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
]

const typeWords: Readonly<Record<string, string>> = { f: 'file', d: 'directory', l: 'link' }
const types = ['file', 'directory', 'link', 'project', 'calculation', 'report']

/** As find(1): several with commas. */
export function entryTypes(text: string): readonly string[] {
  const found = text.split(',').map(word => typeWords[word] ?? word)
  const unknown = found.find(word => !types.includes(word))
  if (unknown === undefined) return found
  throw new InvalidArgumentError(`'${unknown}' is none of f, d, l, ${types.slice(3).join(', ')}.`)
}
