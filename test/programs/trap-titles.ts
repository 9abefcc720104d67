// Titles drawn at random out of what breaks a path in a shell, in a list of names, or as an argument.
import { drawnFrom } from '../testbed/variants.js'

const { seed, pick } = drawnFrom()

const traps = [...' -(]*?\'"`;&\\\n\t#%@β→1=', '--', '$(id)', 'TS']

/** Different ones, as many as asked for; the seed is told with the test. */
export function trapTitles(t: { comment(text: string): void }, count: number): readonly string[] {
  const titles = new Set<string>()
  while (titles.size < count)
    titles.add(`${Array.from({ length: pick.whole(3, 9) }, () => pick.of(traps)).join('')}x`)
  t.comment(`CALCFS_TEST_SEED=${seed}: ${JSON.stringify([...titles])}`)
  return [...titles]
}
