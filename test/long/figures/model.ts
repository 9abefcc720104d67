// Random days on the drive against the plain model: after each step the drive and the service's database are what it says.
import { edit } from '../../model/actions/editing.js'
import { elsewhere } from '../../model/actions/elsewhere.js'
import { mkdir, removeAll, rename, rmdir } from '../../model/actions/folders.js'
import { newReport, newShare } from '../../model/actions/making.js'
import { order } from '../../model/actions/ordering.js'
import { remove } from '../../model/actions/removing.js'
import {
  closeStage,
  comeBack,
  dropDraft,
  leave,
  pass,
  readTheirs,
  remount,
  touch,
} from '../../model/actions/time.js'
import { compare } from '../../model/expected/compare.js'
import {
  openStage,
  openTheatre,
  placeOf,
  reachable,
  type Stage,
  type Theatre,
  titleOf,
} from '../../model/stage.js'
import { anyStep, type Step } from '../../model/steps.js'
import type { Figure, Frame } from '../engine.js'

const length = 50
/** Sequences on one ground: a folder of reports must not grow without end. */
const onOneGround = { cut: 1, full: 25 }
/** Milliseconds for finding what is to blame for a failure. */
const searching = 120_000

async function play(stage: Stage, step: Step): Promise<void> {
  const old = oldPlaces(stage)
  try {
    await (actions[step.does] as (stage: Stage, step: Step) => Promise<void>)(stage, step)
  } catch (thrown) {
    // A value near the end of its lifetime is refreshed in the background: an old name just seen may be gone now.
    if (!(thrown instanceof Error) || !old.some(place => isGoneIn(thrown, place))) throw thrown
  }
  await compare(stage)
}

/** The paths by which the drive still shows what another client has renamed. */
const oldPlaces = (stage: Stage): string[] =>
  (['project', 'calculation'] as const)
    .flatMap(kind => reachable(stage, kind))
    .filter(({ name, truth }) => titleOf(name) !== truth?.['name'])
    .map(placeOf)

const isGoneIn = ({ message }: Error, place: string): boolean =>
  message.includes('ENOENT') && message.includes(place)

const actions: {
  readonly [Does in Step['does']]: (stage: Stage, step: Step & { readonly does: Does }) => Promise<void>
} = {
  ...{ edit, elsewhere, order, mkdir, rename, rmdir, 'rm -r': removeAll, rm: remove },
  ...{ 'new report': newReport, 'new share': newShare },
  ...{ leave, back: comeBack, touch, remount, 'drop draft': dropDraft, 'read theirs': readTheirs },
  pass: (stage, { milliseconds }) => pass(stage, milliseconds),
}

/** @throws Error where the drive and the model differ */
async function played(theatre: Theatre, steps: readonly Step[]): Promise<void> {
  const stage = await openStage(theatre)
  try {
    await compare(stage, 'all')
    for (const step of steps) await play(stage, step)
    await compare(stage, 'all')
  } finally {
    await closeStage(stage)
  }
}

/** The steps of a failure without those that it does not need, and how it fails then. */
async function shortest(theatre: Theatre, failed: readonly Step[], thrown: unknown): Promise<string> {
  const until = Date.now() + searching
  let [steps, why] = [failed, thrown]
  for (let size = steps.length >> 1; size > 0; size >>= 1)
    for (let from = 0; from < steps.length && Date.now() < until; ) {
      const fewer = steps.toSpliced(from, size)
      const end = await played(theatre, fewer).catch((cause: unknown) => cause)
      if (end === undefined) from += size
      else [steps, why] = [fewer, end]
    }
  return `${steps.map(step => JSON.stringify(step)).join(', ')}: ${why instanceof Error ? why.stack : why}`
}

async function run(frame: Frame): Promise<void> {
  await frame.onGrounds(
    async (scope, turn, pick) => {
      // Of each four grounds three may delete.
      const access = turn % 4 === 1 ? 'edit' : 'manage'
      const theatre = await openTheatre(scope, access)
      return async () => {
        const steps = Array.from({ length }, () => anyStep(pick))
        frame.add('sequences')
        try {
          await played(theatre, steps)
        } catch (thrown) {
          return [`${access}: ${await shortest(theatre, steps, thrown)}`]
        }
        frame.add('steps', length)
        return []
      }
    },
    { cases: onOneGround[frame.order.scale], ...(frame.isFull ? {} : { grounds: 2, least: 2 }) },
  )
}

export const model: Figure = {
  name: 'model',
  goal: '10,000 sequences of 50 steps with random seeds: after each step the drive and the service are what a plain model says',
  least: { sequences: 10_000 },
  run,
}
