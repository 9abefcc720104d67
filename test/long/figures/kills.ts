// kill -9 and power cuts in the middle of edits: no acknowledged text is lost, and nothing is stored or made twice.
import {
  behindPost,
  moments,
  type Plan,
  planAnywhere,
  planBehindPost,
  planBy,
  planOf,
  standOn,
  suddenEnd,
} from '../../nothing-lost/kill/sudden-end.js'
import { calledLocal, forgetfulDisk } from '../../testbed/disk/forgetful-disk.js'
import { realMount } from '../../testbed/mount.js'
import type { Chance } from '../chance.js'
import type { Figure, Frame } from '../engine.js'

const least = { placed: 600, random: 1_000, 'power cuts': 200 } as const
type Kind = keyof typeof least

/** A change that the end leaves unanswered is waited for by four times its deadline (SAVE-17). */
const settings = { logLevel: 'info', deadlineSave: '4s', deadlineMetadata: '4s' }

/** Of one day each kind has two ends, and each of them half of the moments. */
function planFor(kind: Kind, { isFull }: Frame, pick: Chance, at: number): Plan {
  if (kind === 'random') return planAnywhere(pick)
  if (isFull) return kind === 'placed' && pick.once(2) ? planBehindPost(pick.of(behindPost)) : planBy(pick)
  const wanted = pick.shuffled(moments).slice(0, moments.length / 2)
  return { ...planOf(pick, wanted), ends: at % 2 === 1, cut: at % 2 === 1 ? 'all' : 'any' }
}

/** The same share of each kind, whenever the time is over. */
const turns: readonly Kind[] = [
  ...(['random', 'placed', 'power cuts', 'random', 'random'] as const),
  ...(['placed', 'random', 'placed', 'random'] as const),
]
/** Cases on one mount: its service must not fill without end. */
const onOneMount = { cut: 2, full: 25 }

async function run(frame: Frame): Promise<void> {
  const cases = onOneMount[frame.order.scale]
  await frame.onGrounds(
    async (scope, turn, pick) => {
      const kind = turns[turn % turns.length] ?? 'random'
      const disk = kind === 'power cuts' ? await forgetfulDisk(scope) : undefined
      const onDisk = disk && { settings: { ...settings, stateDir: disk.directory }, preload: calledLocal }
      const stand = standOn(scope, await realMount(scope, onDisk ?? { settings }), disk)
      let at = 0
      return async () => {
        frame.add(kind)
        const plan = planFor(kind, frame, pick, at++)
        return (await suddenEnd(stand, plan)).map(one => `${kind}: ${one}`)
      }
    },
    frame.isFull ? { cases, lanes: 2 } : { cases, least: 3 * cases },
  )
}

export const kills: Figure = {
  name: 'kills',
  goal: 'kill -9, 600 placed and 1,000 random, and 200 power cuts that take what was not fsynced: 0 lost, 0 doubled',
  least,
  run,
}
