// kill -9 and power cuts in the middle of edits: no acknowledged text is lost, and nothing is stored or made twice.
import { join } from 'node:path'
import { killAny, killPlan } from '../../nothing-lost/kill/kill-any.js'
import { creationSteps, killCreation } from '../../nothing-lost/kill/kill-creation.js'
import { moments, type Plan, planBy, planOf, suddenEnd } from '../../nothing-lost/kill/sudden-end.js'
import { openSubjects } from '../../nothing-lost/subjects.js'
import { calledLocal, forgetfulDisk } from '../../testbed/disk/forgetful-disk.js'
import { realMount } from '../../testbed/mount.js'
import type { TestLifetime } from '../../testbed/testbed.js'
import type { Chance } from '../chance.js'
import type { Figure, Frame } from '../engine.js'

const least = { placed: 600, random: 1_000, 'power cuts': 200 } as const
type Kind = keyof typeof least

/** A change that the end leaves unanswered is waited for by four times its deadline (SAVE-17). */
const settings = { logLevel: 'info', deadlineSave: '4s', deadlineMetadata: '4s' }

/** Of one day each kind has two ends, and each of them half of the moments. */
const planFor = ({ isFull }: Frame, pick: Chance, at: number): Plan =>
  isFull
    ? planBy(pick)
    : {
        ...planOf(pick, pick.shuffled(moments).slice(0, moments.length / 2)),
        ends: at % 2 === 0,
        cut: at % 2 === 0 ? 'all' : 'any',
      }

/** Plays one case after another of its kind on a mount of their own; what comes out is wrong. */
const kinds: Readonly<
  Record<Kind, (scope: TestLifetime, pick: Chance, frame: Frame) => Promise<() => Promise<string[]>>>
> = {
  async placed(scope, pick, frame) {
    const testbed = await realMount(scope, { settings })
    const subjects = openSubjects(scope, testbed)
    const stand = { testbed, states: join(testbed.home, 'state', 'calcfs'), subjects }
    let at = 0
    return async () => {
      at += 1
      if (!frame.isFull || pick.once(2)) return suddenEnd(stand, planFor(frame, pick, at))
      await killCreation(testbed, { step: pick.of(creationSteps), title: `Case ${at}` })
      return []
    }
  },
  async random(scope, pick) {
    const testbed = await realMount(scope)
    const subjects = openSubjects(scope, testbed)
    return () => killAny(testbed, subjects, killPlan(pick))
  },
  async 'power cuts'(scope, pick, frame) {
    const disk = await forgetfulDisk(scope)
    const wish = { settings: { ...settings, stateDir: disk.directory }, preload: calledLocal }
    const testbed = await realMount(scope, wish)
    const subjects = openSubjects(scope, testbed)
    const stand = { testbed, states: disk.directory, disk, subjects }
    let at = 0
    return () => suddenEnd(stand, planFor(frame, pick, ++at))
  },
}

/** Cases on one mount: its service must not fill without end. */
const onOneMount = 25
const onOneMountOfADay = 2
/** The same share of each kind, whenever the time is over. */
const turns: readonly Kind[] = [
  'random',
  'placed',
  'power cuts',
  'random',
  'random',
  'placed',
  'random',
  'placed',
  'random',
]

async function run(frame: Frame): Promise<void> {
  await frame.onGrounds(
    async (scope, turn) => {
      const kind = turns[turn % turns.length] ?? 'random'
      const play = await kinds[kind](scope, frame.pick.branch(), frame)
      return async () => {
        frame.add(kind)
        return (await play()).map(one => `${kind}: ${one}`)
      }
    },
    { cases: frame.isFull ? onOneMount : onOneMountOfADay, least: frame.isFull ? 0 : 3 * onOneMountOfADay },
  )
}

export const kills: Figure = {
  name: 'kills',
  goal: 'kill -9, 600 placed and 1,000 random, and 200 power cuts that take what was not fsynced: 0 lost, 0 doubled',
  least,
  run,
}
