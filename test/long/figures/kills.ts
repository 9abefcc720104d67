// kill -9 and power cuts in the middle of edits: no acknowledged text is lost, and nothing is stored or made twice.
import { killAny, killPlan } from '../../nothing-lost/kill/kill-any.js'
import { creationSteps, killCreation } from '../../nothing-lost/kill/kill-creation.js'
import { killSave, saveSteps } from '../../nothing-lost/kill/kill-save.js'
import { planBy, powerCut } from '../../nothing-lost/kill/power-cut.js'
import { openSubjects } from '../../nothing-lost/subjects.js'
import { calledLocal, forgetfulDisk } from '../../testbed/disk/forgetful-disk.js'
import { realMount } from '../../testbed/mount.js'
import type { TestLifetime } from '../../testbed/testbed.js'
import { type Chance, chance } from '../chance.js'
import type { Figure, Frame, Result } from '../figure.js'
import { scoped } from '../scope.js'

const least = { placed: 600, random: 1_000, 'power cuts': 200 } as const
type Kind = keyof typeof least

/** Plays one case after another of its kind on a mount of their own; what comes out is wrong. */
const kinds: Readonly<Record<Kind, (scope: TestLifetime, pick: Chance) => Promise<() => Promise<string[]>>>> =
  {
    async placed(scope, pick) {
      const testbed = await realMount(scope)
      const steps = pick.shuffled([
        ...saveSteps.map(step => (title: string) => killSave(testbed, { step, title })),
        ...creationSteps.map(step => (title: string) => killCreation(testbed, { step, title })),
      ])
      let at = 0
      return () => {
        const step = steps[at++ % steps.length]
        return step === undefined ? Promise.resolve([]) : step(`Case ${at}`).then(() => [])
      }
    },
    async random(scope, pick) {
      const testbed = await realMount(scope)
      const subjects = openSubjects(scope, testbed)
      return () => killAny(testbed, subjects, killPlan(pick))
    },
    async 'power cuts'(scope, pick) {
      const disk = await forgetfulDisk(scope)
      const settings = {
        stateDir: disk.directory,
        logLevel: 'info',
        deadlineSave: '4s',
        deadlineMetadata: '4s',
      }
      const testbed = await realMount(scope, { settings, preload: calledLocal })
      const subjects = openSubjects(scope, testbed)
      return () => powerCut({ testbed, disk, subjects }, planBy(pick))
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

async function run({ seed, scale, until, say }: Frame): Promise<Result> {
  const pick = chance(seed)
  const counts: Record<Kind, number> = { placed: 0, random: 0, 'power cuts': 0 }
  const wrong: string[] = []
  const isOver = () => Date.now() > until || wrong.length >= 10
  for (let turn = 0; !isOver() && (scale === 'full' || turn < turns.length); turn++) {
    const kind = turns[turn % turns.length] ?? 'random'
    const own = pick.branch()
    await scoped(async scope => {
      const play = await kinds[kind](scope, own)
      for (let cases = 0; cases < (scale === 'full' ? onOneMount : 2) && !isOver(); cases++) {
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
