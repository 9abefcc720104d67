// Faults over edits: whatever happens to the requests of a save, its text is kept, stored once, and undoes no other change.
import { type FaultyEdit, faultyEdit } from '../../nothing-lost/faults/faulty-edits.js'
import { faultNames } from '../../nothing-lost/faults/faulty-requests.js'
import { openSubjects, type Subjects, subjectKinds } from '../../nothing-lost/subjects.js'
import { inProcess } from '../../testbed/in-process.js'
import { realMount } from '../../testbed/mount.js'
import type { Testbed } from '../../testbed/testbed.js'
import { type Chance, chance } from '../chance.js'
import type { Figure, Frame, Result } from '../figure.js'
import { scoped } from '../scope.js'

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

interface Tally {
  readonly counts: Record<string, number>
  readonly wrong: string[]
}

const isOver = ({ until }: Frame, { wrong }: Tally): boolean => Date.now() > until || wrong.length >= 10

function note(
  { counts, wrong }: Tally,
  kind: string,
  end: { met: readonly string[]; wrong: readonly string[] },
) {
  counts[kind] = (counts[kind] ?? 0) + 1
  counts['faults met'] = (counts['faults met'] ?? 0) + end.met.length
  wrong.push(...end.wrong)
}

type Play = (testbed: Testbed, subjects: Subjects) => Promise<void>

/** Every kind of edit × fault × position, once or from then on, on a real mount. */
async function placed(frame: Frame, pick: Chance, tally: Tally): Promise<void> {
  const cases = pick.shuffled(
    subjectKinds.flatMap(kind =>
      faultNames.flatMap(name =>
        positions.flatMap(position => lasting.map(isLasting => ({ kind, name, position, isLasting }))),
      ),
    ),
  )
  let at = 0
  while (at < cases.length && !isOver(frame, tally)) {
    await scoped(async scope => {
      const testbed = await realMount(scope, { settings })
      const subjects = openSubjects(scope, testbed)
      for (let here = 0; here < onOneGround && at < cases.length && !isOver(frame, tally); here++) {
        const one = cases[at++]
        if (one === undefined) return
        let requests = 0
        const isDue = () => (one.isLasting ? requests >= one.position : requests === one.position)
        const luck = () => {
          requests += 1
          return isDue() ? one.name : undefined
        }
        note(
          tally,
          'placed',
          await faultyEdit(testbed, subjects, { kind: one.kind, other: other(pick), luck }),
        )
      }
    })
    frame.say(JSON.stringify(tally.counts))
  }
}

const other = (pick: Chance): FaultyEdit['other'] => pick.of(['none', 'none', 'same', 'another'] as const)

/** Edits one after another over a line of which one request in so many fails, without a kernel. */
function random(pick: Chance, tally: Tally): Play {
  return async (testbed, subjects) => {
    const inTimes = pick.once(2) ? 10 : 10 / 3
    const luck = () => (pick.fraction() * inTimes < 1 ? pick.of(faultNames) : undefined)
    const edit = { kind: pick.of(subjectKinds), other: other(pick), luck }
    note(
      tally,
      inTimes === 10 ? 'random, 1 in 10' : 'random, 3 in 10',
      await faultyEdit(testbed, subjects, edit),
    )
  }
}

async function atRandom(frame: Frame, pick: Chance, tally: Tally, least = 0): Promise<void> {
  const play = random(pick, tally)
  let left = least
  while (left > 0 || !isOver(frame, tally)) {
    await scoped(async scope => {
      const testbed = await inProcess(scope, { settings: hasty, speedup: 3 })
      const subjects = openSubjects(scope, testbed)
      for (let here = 0; here < onOneGround && (left-- > 0 || !isOver(frame, tally)); here++)
        await play(testbed, subjects)
    })
    frame.say(JSON.stringify(tally.counts))
  }
}

async function run(frame: Frame): Promise<Result> {
  const pick = chance(frame.seed)
  const tally: Tally = { counts: {}, wrong: [] }
  if (frame.scale === 'cut') {
    await atRandom(frame, pick, tally, 10)
    return { counts: tally.counts, wrong: tally.wrong.map(one => `${one}; seed ${frame.seed}`) }
  }
  const half = { ...frame, until: Date.now() + (frame.until - Date.now()) * placedShare }
  await placed(half, pick.branch(), tally)
  await Promise.all(Array.from({ length: sideBySide }, () => atRandom(frame, pick.branch(), tally)))
  return { counts: tally.counts, wrong: tally.wrong.map(one => `${one}; seed ${frame.seed}`) }
}

/** Of the time for the placed ones, which end sooner where the machine has nothing else to do. */
const placedShare = 0.4

export const faultsOverEdits: Figure = {
  name: 'faults',
  goal: 'edits over a faulty line, 1,440 placed and 10,000 random (1 in 10, 3 in 10 requests): 0 lost, 0 doubled, 0 silent overwrites',
  least: { placed: 1_440, 'random, 1 in 10': 5_000, 'random, 3 in 10': 5_000 },
  run,
}
