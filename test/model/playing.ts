// One step after another: what it does to the drive and to the model, and the comparison that follows.
import { edit } from './actions/editing.js'
import { elsewhere } from './actions/elsewhere.js'
import { mkdir, removeAll, rename, rmdir } from './actions/folders.js'
import { newReport, newShare } from './actions/making.js'
import { order } from './actions/ordering.js'
import { remove } from './actions/removing.js'
import { comeBack, dropDraft, leave, pass, readTheirs, remount, touch } from './actions/time.js'
import { compare } from './expected/compare.js'
import { placeOf, reachable, type Stage, titleOf } from './stage.js'
import type { Step } from './steps.js'

export async function play(stage: Stage, step: Step): Promise<void> {
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
