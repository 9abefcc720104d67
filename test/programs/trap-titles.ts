// Titles drawn at random out of what breaks a path in a shell, in a list of names, or as an argument.
import { randomInt } from 'node:crypto'
import fc from 'fast-check'

const seed = Number(process.env['CALCFS_LONG_SEED'] ?? randomInt(2 ** 31))

const traps = [
  ' ',
  '-',
  '--',
  '(',
  ']',
  '*',
  '?',
  "'",
  '"',
  '`',
  '$(id)',
  ';',
  '&',
  '\\',
  '\n',
  '\t',
  '#',
  '%',
  '@',
  'β',
  '→',
  'TS',
  '1',
  '=',
]
const title = fc
  .array(fc.constantFrom(...traps), { minLength: 3, maxLength: 9 })
  .map(pieces => `${pieces.join('')}x`)

/** Different ones, about as many as asked for; the seed is told with the test. */
export function trapTitles(t: { comment(text: string): void }, count: number): readonly string[] {
  const titles = [...new Set(fc.sample(title, { seed, numRuns: count }))]
  t.comment(`CALCFS_LONG_SEED=${seed}: ${JSON.stringify(titles)}`)
  return titles
}
