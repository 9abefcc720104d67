// Plays random sequences in a process of their own: without a test runner's hooks on every promise it takes half the time.
import fc from 'fast-check'
import { scoped } from '../long/scope.js'
import { closeStage } from './actions/time.js'
import { compare } from './expected/compare.js'
import { play } from './playing.js'
import { type Access, openStage, openTheatre, type Stage, type Theatre } from './stage.js'
import { anyStep, type Step } from './steps.js'

/** What the parent hands over as JSON in the first argument. */
export interface Play {
  readonly access: Access
  /** Sequences of so many steps. */
  readonly runs: number
  readonly length: number
  readonly seed: number
}

/** What the child prints as JSON where all went well. */
export interface Played {
  readonly sequences: number
  readonly steps: number
}

/** How many steps are still to be played. */
interface Left {
  steps: number
}

/** A step as fast-check runs and prints it. */
const command = (step: Step): fc.AsyncCommand<Left, Stage> => ({
  check: left => left.steps > 0,
  async run(left, stage) {
    left.steps -= 1
    await play(stage, step)
  },
  toString: () => JSON.stringify(step),
})

async function sequence(
  theatre: Theatre,
  length: number,
  steps: Iterable<fc.AsyncCommand<Left, Stage>>,
): Promise<void> {
  const stage = await openStage(theatre)
  try {
    await compare(stage, 'all')
    await fc.asyncModelRun(() => ({ model: { steps: length }, real: stage }), steps)
    await compare(stage, 'all')
  } finally {
    await closeStage(stage)
  }
}

/** Whole sequences are played; only to find what is to blame for a failure they may be shorter. */
async function playAll(theatre: Theatre, { runs, length, seed }: Play): Promise<Played> {
  let hasFailed = false
  let sequences = 0
  const chosen = fc.commands([anyStep.map(command)], { maxCommands: 10 * length, size: 'max' })
  await fc.assert(
    fc.asyncProperty(chosen, async steps => {
      fc.pre(hasFailed || [...steps].length >= length)
      try {
        await sequence(theatre, length, steps)
        sequences += 1
      } catch (thrown) {
        hasFailed = true
        throw thrown
      }
    }),
    { numRuns: runs, seed, endOnFailure: false, includeErrorInReport: true },
  )
  return { sequences, steps: sequences * length }
}

const [given] = process.argv.slice(2)
if (given !== undefined) {
  const job = JSON.parse(given) as Play
  const played = await scoped(async life => {
    const theatre = await openTheatre(life, job.access)
    return playAll(theatre, job)
  })
  process.stdout.write(JSON.stringify(played))
}
