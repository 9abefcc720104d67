// What the hot paths cost inside is held by counts, which no busy machine moves: `npm run bench -- --paths`.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const program = fileURLToPath(new URL('../../bench/paths/paths.js', import.meta.url))

/** Modules, calls, promises (two are the meter's own) and requests, at most. */
const limits: Readonly<Record<string, readonly [number, number, number, number]>> = {
  'warm stat of a folder': [13, 58, 2, 0],
  'warm stat of a file': [13, 58, 2, 0],
  'open, read, close of a kept file': [42, 285, 14, 0],
  'open, read, close of a new file': [78, 1_000, 75, 1],
  'save of a report of 1277 bytes': [107, 2_500, 240, 3],
}

t.test('modules, calls, promises and requests of the five hot paths', async t => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program], {
    timeout: 180_000,
  })
  const rows = new Map(
    stdout.split('\n').map(line => {
      const [, what = '', modules, calls, promises, , requests] = line.split('|').map(cell => cell.trim())
      return [what, [modules, calls, promises, requests].map(Number)]
    }),
  )
  for (const [what, most] of Object.entries(limits)) {
    const counted = rows.get(what)
    t.ok(
      counted?.every((count, at) => count <= (most[at] ?? 0)),
      `${what}: ${counted}, at most ${most}`,
    )
  }
})
