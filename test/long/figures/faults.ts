// Faults over edits: whatever happens to the requests of a save, its text is kept, stored once, and undoes no other change.
import { type FaultyEdit, type FaultyEnd, faultyEdit } from '../../nothing-lost/faults/faulty-edits.js'
import { faultNames } from '../../nothing-lost/faults/faulty-requests.js'
import { openSubjects, subjectKinds } from '../../nothing-lost/subjects.js'
import { inProcess } from '../../testbed/in-process.js'
import { realMount } from '../../testbed/mount.js'
import type { Chance } from '../chance.js'
import type { Figure, Frame } from '../engine.js'

/** The n-th request of a save, or it and all that follow. */
const positions = [1, 2, 3, 4, 5, 6] as const
const lasting = [false, true] as const
const settings = {
  deadlineSave: '1200ms',
  deadlineMetadata: '800ms',
  logLevel: 'info',
}
/** A third of it in fact: without a kernel every wait below five seconds is cut short. */
const hasty = { ...settings, deadlineSave: '4500ms', deadlineMetadata: '3s' }
/** Edits on one ground: its folder of reports must not grow without end. */
const onOneGround = 120
/** Random edits that wait side by side, each on a ground of its own. */
const sideBySide = 4

function judged(frame: Frame, kind: string, { met, wrong }: FaultyEnd): readonly string[] {
  frame.add(kind)
  frame.add('faults met', met.length)
  return wrong
}

/** Every kind of edit × fault × position, once or from then on, on a real mount. */
async function placed(frame: Frame, pick: Chance, until: number): Promise<void> {
  const cases = pick.shuffled(
    subjectKinds.flatMap(kind =>
      faultNames.flatMap(name =>
        positions.flatMap(position => lasting.map(isLasting => ({ kind, name, position, isLasting }))),
      ),
    ),
  )
  await frame.onGrounds(
    async scope => {
      const testbed = await realMount(scope, { settings })
      const subjects = openSubjects(scope, testbed)
      return async () => {
        const one = cases.pop()
        if (one === undefined) return 'none left'
        let requests = 0
        const luck = () => {
          requests += 1
          const isDue = one.isLasting ? requests >= one.position : requests === one.position
          return isDue ? one.name : undefined
        }
        const edit = { kind: one.kind, other: other(pick), luck }
        return judged(frame, 'placed', await faultyEdit(testbed, subjects, edit))
      }
    },
    { cases: onOneGround, until },
  )
}

const other = (pick: Chance): FaultyEdit['other'] => pick.of(['none', 'none', 'same', 'another'] as const)

/** Edits one after another over a line of which one request in so many fails, without a kernel. */
const atRandom = (frame: Frame, pick: Chance, least: number): Promise<void> =>
  frame.onGrounds(
    async scope => {
      const testbed = await inProcess(scope, { settings: hasty, speedup: 3 })
      const subjects = openSubjects(scope, testbed)
      return async () => {
        const inTimes = pick.once(2) ? 10 : 10 / 3
        const luck = () => (pick.fraction() * inTimes < 1 ? pick.of(faultNames) : undefined)
        const edit = { kind: pick.of(subjectKinds), other: other(pick), luck }
        const kind = inTimes === 10 ? 'random, 1 in 10' : 'random, 3 in 10'
        return judged(frame, kind, await faultyEdit(testbed, subjects, edit))
      }
    },
    { cases: onOneGround, least },
  )

async function run(frame: Frame): Promise<void> {
  const { pick } = frame
  if (!frame.isFull) return atRandom(frame, pick, 10)
  const half = Date.now() + (frame.order.until - Date.now()) * placedShare
  await placed(frame, pick.branch(), half)
  await Promise.all(Array.from({ length: sideBySide }, () => atRandom(frame, pick.branch(), 0)))
}

/** Of the time for the placed ones, which end sooner where the machine has nothing else to do. */
const placedShare = 0.4

export const faultsOverEdits: Figure = {
  name: 'faults',
  goal: 'edits over a faulty line, 1,440 placed and 10,000 random (1 in 10, 3 in 10 requests): 0 lost, 0 doubled, 0 silent overwrites',
  least: { placed: 1_440, 'random, 1 in 10': 5_000, 'random, 3 in 10': 5_000 },
  run,
}
