// Random days on the drive against the plain model, new ones each time.
import { tmpdir } from 'node:os'
import { played } from '../../model/played.js'
import type { Chance } from '../chance.js'
import type { Figure, Frame } from '../engine.js'

const length = 50
/** Sequences of one process, whose folder of reports must not grow without end. */
const atATime = 25
/** One process for each core that the figures may use. */
const sideBySide = 2

async function run(frame: Frame): Promise<void> {
  async function one(pick: Chance): Promise<void> {
    while (!frame.isOver(undefined, 5)) {
      // Of each four grounds three may delete.
      const access = pick.once(4) ? ('edit' as const) : ('manage' as const)
      const job = { access, runs: atATime, length, seed: pick.whole(1, 2 ** 31 - 1) }
      try {
        const { sequences, steps } = await played(job, { TMPDIR: tmpdir() })
        frame.add('sequences', sequences)
        frame.add('steps', steps)
        frame.add('seeds')
      } catch (thrown) {
        frame.wrong.push(`${access}, CALCFS_MODEL_SEED=${job.seed}: ${thrown}`)
      }
      frame.told()
    }
  }

  await Promise.all(Array.from({ length: sideBySide }, () => one(frame.pick.branch())))
}

export const model: Figure = {
  name: 'model',
  goal: '10,000 sequences of 50 steps with random seeds: after each step the drive and the service are what a plain model says',
  least: { sequences: 10_000 },
  run,
}
