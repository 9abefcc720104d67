// Races: two edits of one record at once, by two machines, two mounts, two programs, and a mount and the web page.
import { type Pair, race, racePlan } from '../../nothing-lost/races/races.js'
import { openSubjects } from '../../nothing-lost/subjects.js'
import { realMount } from '../../testbed/mount.js'
import type { TestLifetime } from '../../testbed/testbed.js'
import { chance } from '../chance.js'
import type { Figure, Frame, Result } from '../figure.js'
import { scoped } from '../scope.js'

const least = {
  'two machines': 500,
  'two mounts of one state directory': 500,
  'two programs with old buffers on one mount': 500,
  'a mount and the web page': 500,
} as const
type Kind = keyof typeof least
const kinds = Object.keys(least) as Kind[]

async function pairOf(kind: Kind, scope: TestLifetime): Promise<Pair> {
  const settings = { logLevel: 'info', ttlListing: '300ms' }
  const one = await realMount(scope, { settings })
  switch (kind) {
    case 'two machines':
      return { one, other: await realMount(scope, { settings }, { service: one.service }) }
    case 'two mounts of one state directory': {
      const other = await realMount(scope, { settings }, { service: one.service, home: one.home })
      return { one, other }
    }
    case 'two programs with old buffers on one mount':
      return { one, other: one }
    case 'a mount and the web page':
      return { one, other: 'page' }
  }
}

/** Races on one pair of mounts: their folder of reports must not grow without end. */
const onOnePair = 100

async function run({ seed, scale, until, say }: Frame): Promise<Result> {
  const pick = chance(seed)
  const counts: Record<string, number> = Object.fromEntries(kinds.map(kind => [kind, 0]))
  const wrong: string[] = []
  let unseen = 0
  const count = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  const isOver = () => Date.now() > until || wrong.length >= 10
  for (let turn = 0; !isOver() && (scale === 'full' || turn < kinds.length); turn++) {
    const kind = kinds[turn % kinds.length] ?? 'two machines'
    const own = pick.branch()
    await scoped(async scope => {
      const pair = await pairOf(kind, scope)
      const subjects = openSubjects(scope, pair.one)
      for (let here = 0; here < (scale === 'full' ? onOnePair : 5) && !isOver(); here++) {
        const found = await race(pair, subjects, racePlan(own))
        count(kind)
        count(`ended ${found.ends}`)
        unseen += found.unseen
        wrong.push(...found.wrong.map(one => `${kind}: ${one}; seed ${seed}`))
      }
    })
    say(JSON.stringify(counts))
  }
  if (unseen > 0) counts['changes of the web page overwritten in the window'] = unseen
  const short =
    unseen > 0
      ? { short: 'a change of the web page between reading and sending: the API has no conditional request' }
      : {}
  return { counts, wrong, ...short }
}

export const races: Figure = {
  name: 'races',
  goal: '500 pairs each of two machines, two mounts of one state directory, two old buffers on one mount, and a mount and the web page: both texts to be had each time',
  least,
  run,
}
