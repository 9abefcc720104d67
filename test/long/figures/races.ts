// Races: two edits of one record at once, by two machines, two mounts, two programs, and a mount and the web page.
import { type Pair, race, racePlan } from '../../nothing-lost/races/races.js'
import { openSubjects } from '../../nothing-lost/subjects.js'
import { realMount } from '../../testbed/mount.js'
import type { TestLifetime } from '../../testbed/testbed.js'
import type { Figure, Frame } from '../engine.js'

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
const onOnePair = { cut: 5, full: 100 }

async function run(frame: Frame): Promise<void> {
  const grounds = frame.isFull ? {} : { grounds: kinds.length }
  await frame.onGrounds(
    async (scope, turn) => {
      const kind = kinds[turn % kinds.length] ?? 'two machines'
      const own = frame.pick.branch()
      const pair = await pairOf(kind, scope)
      const subjects = openSubjects(scope, pair.one)
      return async () => {
        const { ends, unseen, wrong } = await race(pair, subjects, racePlan(own))
        frame.add(kind)
        frame.add(`ended ${ends}`)
        if (unseen > 0) frame.add(overwritten, unseen)
        return wrong.map(one => `${kind}: ${one}`)
      }
    },
    { cases: onOnePair[frame.order.scale], ...grounds },
  )
  if (frame.counted(overwritten) > 0)
    frame.short('a change of the web page between reading and sending: the API has no conditional request')
}

const overwritten = 'changes of the web page overwritten in the window'

export const races: Figure = {
  name: 'races',
  goal: '500 pairs each of two machines, two mounts of one state directory, two old buffers on one mount, and a mount and the web page: both texts to be had each time',
  least,
  run,
}
