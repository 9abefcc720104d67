// kill -9 and power cuts in the middle of edits: no acknowledged text is lost, and nothing is stored or made twice.
import { join } from 'node:path'
import { killAny, killPlan } from '../../nothing-lost/kill/kill-any.js'
import { creationSteps, killCreation } from '../../nothing-lost/kill/kill-creation.js'
import { planBy, suddenEnd } from '../../nothing-lost/kill/sudden-end.js'
import { openSubjects } from '../../nothing-lost/subjects.js'
import { calledLocal, forgetfulDisk } from '../../testbed/disk/forgetful-disk.js'
import { realMount } from '../../testbed/mount.js'
import type { TestLifetime } from '../../testbed/testbed.js'
import { type Chance, chance } from '../chance.js'
import type { Figure, Frame, Result } from '../figure.js'
import { scoped } from '../scope.js'

const least = { placed: 600, random: 1_000, 'power cuts': 200 } as const
type Kind = keyof typeof least

const settings = { logLevel: 'info', deadlineSave: '4s', deadlineMetadata: '4s' }

/** Plays one case after another of its kind on a mount of their own; what comes out is wrong. */
const kinds: Readonly<Record<Kind, (scope: TestLifetime, pick: Chance) => Promise<() => Promise<string[]>>>> =
  {
    async placed(scope, pick) {
      const testbed = await realMount(scope, { settings })
      const subjects = openSubjects(scope, testbed)
      const stand = { testbed, states: join(testbed.home, 'state', 'calcfs'), subjects }
      let at = 0
      return async () => {
        if (pick.once(2)) return suddenEnd(stand, planBy(pick))
        await killCreation(testbed, { step: pick.of(creationSteps), title: `Case ${++at}` })
        return []
      }
    },
    async random(scope, pick) {
      const testbed = await realMount(scope)
      const subjects = openSubjects(scope, testbed)
      return () => killAny(testbed, subjects, killPlan(pick))
    },
    async 'power cuts'(scope, pick) {
      const disk = await forgetfulDisk(scope)
      const wish = { settings: { ...settings, stateDir: disk.directory }, preload: calledLocal }
      const testbed = await realMount(scope, wish)
      const subjects = openSubjects(scope, testbed)
      return () => suddenEnd({ testbed, states: disk.directory, disk, subjects }, planBy(pick))
    },
  }

/** Cases on one mount: its service must not fill without end. */
const onOneMount = 25
/** The same share of each kind, whenever the time is over. */
const turns: readonly Kind[] = [
  'random',
  'placed',
  'random',
  'power cuts',
  'random',
  'placed',
  'random',
  'placed',
  'random',
]

async function run({ seed, until, say }: Frame): Promise<Result> {
  const pick = chance(seed)
  const counts: Record<Kind, number> = { placed: 0, random: 0, 'power cuts': 0 }
  const wrong: string[] = []
  const isOver = () => Date.now() > until || wrong.length >= 10
  for (let turn = 0; !isOver(); turn++) {
    const kind = turns[turn % turns.length] ?? 'random'
    const own = pick.branch()
    await scoped(async scope => {
      const play = await kinds[kind](scope, own)
      for (let cases = 0; cases < onOneMount && !isOver(); cases++) {
        const found = await play().catch(thrown => [
          `${kind}: ${thrown instanceof Error ? thrown.stack : thrown}`,
        ])
        for (const one of found) say(`WRONG ${one}`)
        wrong.push(...found)
        counts[kind]++
        // What a case that failed has left behind would be held against the next one.
        if (found.length > 0) break
      }
    })
    say(JSON.stringify(counts))
  }
  return { counts, wrong: wrong.map(one => `${one}; seed ${seed}`) }
}

export const kills: Figure = {
  name: 'kills',
  goal: 'kill -9, 600 placed and 1,000 random, and 200 power cuts that take what was not fsynced: 0 lost, 0 doubled',
  least,
  run,
}
