// Promises of the walk through a tree: side by side whatever order the answers come in, and shown in the order of names.
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { type Seen, walkTree } from '../../../src/drive/reader/tree-walk.js'
import { chance } from '../../long/chance.js'

const never = new AbortController().signal

interface Asked {
  readonly path: string
  readonly answer: () => void
}

const names = (word: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${word}${String(at).padStart(3, '0')}`)

/** A tree of 20 directories with 25 each, whose looks wait until the test answers them; what lies in the later half is known. */
function slowTree() {
  const asked: Asked[] = []
  const seen = (path: string): Seen<string> => ({
    items: [{ path, type: 'directory', kind: 'project', mode: 0o40755 }],
    enter: path,
  })
  const below = (path: string): readonly string[] => {
    const depth = path.split('/').length
    return depth === 2 ? names('p', 20) : depth === 3 ? names('c', 25) : []
  }
  const look = (path: string) =>
    new Promise<readonly Seen<string>[]>(resolve => {
      const answer = () => resolve(below(path).map(name => seen(`${path}/${name}`)))
      if (path.startsWith('/top/p01') && path.includes('c')) answer()
      else asked.push({ path, answer })
    })
  return { asked, look, top: [seen('/top')] }
}

const orders: Readonly<Record<string, (asked: readonly Asked[]) => readonly Asked[]>> = {
  'as they were asked': asked => asked,
  'the last one first': asked => asked.toReversed(),
  'in any order': asked => chance(7).shuffled(asked),
}

for (const [name, order] of Object.entries(orders))
  t.test(`NOFUSE-4 directories are looked at side by side where answers come ${name}`, async t => {
    const { asked, look, top } = slowTree()
    const found: string[] = []
    const walk = (async () => {
      for await (const items of walkTree(top, look, never)) found.push(...items.map(({ path }) => path))
    })()
    let isOver = false
    const over = walk.finally(() => {
      isOver = true
    })
    let rounds = 0
    let most = 0
    while (!isOver) {
      const now = order(asked.splice(0))
      if (now.length > 0) rounds += 1
      most = Math.max(most, now.length)
      for (const { answer } of now) {
        answer()
        await turn()
      }
      await turn()
    }
    await over
    t.equal(found.length, 1 + 20 + 500)
    t.same(found, [...found].sort(), 'in the order of names')
    t.ok(most <= 33, `${most} at a time`)
    // 271 looks, 32 at a time, are 9 rounds.
    t.ok(rounds <= 20, `${rounds} rounds of answers`)
  })
