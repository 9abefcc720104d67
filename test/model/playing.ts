// One step after another: what it does to the drive and to the model, and the comparison that follows.
import { edit } from './actions/editing.js'
import { elsewhere } from './actions/elsewhere.js'
import { mkdir, removeAll, rename, rmdir } from './actions/folders.js'
import { newReport, newShare } from './actions/making.js'
import { order } from './actions/ordering.js'
import { forbidden, remove, scratch } from './actions/removing.js'
import { passing } from './actions/time.js'
import { compare } from './expected/compare.js'
import { placeOf, reachable, type Stage, titleOf } from './stage.js'
import type { Step } from './steps.js'

export async function play(stage: Stage, step: Step): Promise<void> {
  const old = oldPlaces(stage)
  try {
    await perform(stage, step)
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

async function perform(stage: Stage, step: Step): Promise<void> {
  switch (step.does) {
    case 'edit':
      return edit(stage, step)
    case 'elsewhere':
      return elsewhere(stage, step)
    case 'order':
      return order(stage, step)
    case 'mkdir':
      return mkdir(stage, step)
    case 'rename':
      return rename(stage, step)
    case 'rmdir':
      return rmdir(stage, step)
    case 'rm -r':
      return removeAll(stage, step)
    case 'rm':
      return remove(stage, step)
    case 'new report':
      return newReport(stage, step)
    case 'new share':
      return newShare(stage, step)
    case 'scratch':
      return scratch(stage, step)
    case 'forbidden':
      return forbidden(stage, step)
    default:
      return passing(stage, step)
  }
}
