// Titles drawn at random out of what breaks a path in a shell, in a list of names, or as an argument.
import fc from 'fast-check'
import { drawnFrom } from '../testbed/variants.js'

const { seed } = drawnFrom()

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
  t.comment(`CALCFS_TEST_SEED=${seed}: ${JSON.stringify(titles)}`)
  return titles
}
