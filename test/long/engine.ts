// The engine of all figures: random cases of one kind, drawn from one seed, tried for as long as there is time, and counted.
import type { TestLifetime } from '../testbed/testbed.js'
import { type Chance, chance } from './chance.js'
import { scoped } from './scope.js'

/** A figure of trust: one kind of cases, and what has to come of them. */
export interface Figure {
  /** One word, as `--only` takes it. */
  readonly name: string
  /** What has to be reached, in the words of docs/reliability.md. */
  readonly goal: string
  /** Counts that a run of a night has to reach. */
  readonly least?: Readonly<Record<string, number>>
  /** Counts that are shown also where they stay 0. */
  readonly counts?: readonly string[]
  run(frame: Frame): Promise<void>
}

/** What the process of a figure is told. */
export interface Order {
  readonly figure: string
  /** Every random choice comes from it. */
  readonly seed: number
  /** `cut` is the few seconds that `npm test` has for each figure. */
  readonly scale: 'cut' | 'full'
  /** No new case begins after this time (milliseconds since 1970). */
  readonly until: number
}

export interface Result {
  /** What was tried and seen. */
  readonly counts: Readonly<Record<string, number>>
  /** Each violation in words, with what replays it. */
  readonly wrong: readonly string[]
  /** Which part of the goal was not reached in full, although nothing went wrong. */
  readonly short?: string | undefined
}

/** Plays one case; answers what is wrong after it, or that there is none left. */
export type Play = () => Promise<readonly string[] | 'none left'>

export interface Course {
  /** Cases on one ground: what they make must not grow without end. */
  readonly cases: number
  /** Grounds side by side, where a case waits most of its time. */
  readonly lanes?: number
  readonly grounds?: number
  /** So many are played whatever the time is. */
  readonly least?: number
  readonly until?: number
}

/** One run of a figure: what it draws from, how long it goes on, and what it counts. */
export class Frame {
  readonly pick: Chance
  /** Each violation in words; the seed is added in the end. */
  readonly wrong: string[] = []
  readonly #counts: Record<string, number>
  readonly #short: string[] = []

  constructor(
    readonly order: Order,
    { least = {}, counts = Object.keys(least) }: Pick<Figure, 'least' | 'counts'>,
    /** Shows progress. */
    readonly say: (line: string) => void,
  ) {
    this.pick = chance(order.seed)
    this.#counts = Object.fromEntries(counts.map(name => [name, 0]))
  }

  get isFull(): boolean {
    return this.order.scale === 'full'
  }

  /** The time is over, or there are too many violations to read. */
  isOver(until = this.order.until, wrongAtMost = 10): boolean {
    return Date.now() > until || this.wrong.length >= wrongAtMost
  }

  add(name: string, by = 1): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + by
  }

  counted(name: string): number {
    return this.#counts[name] ?? 0
  }

  /** Counts under `most …`: the highest value counts. */
  most(name: string, value: number): void {
    const before = this.#counts[`most ${name}`] ?? Number.NEGATIVE_INFINITY
    this.#counts[`most ${name}`] = Math.max(before, Math.round(10 * value) / 10)
  }

  short(what: string): void {
    this.#short.push(what)
  }

  told(): void {
    this.say(`${JSON.stringify(this.#counts)}, ${this.wrong.length} wrong`)
  }

  /** Opens one ground after another, and plays cases on each. A case that fails is the last one on its ground. */
  async onGrounds(
    open: (scope: TestLifetime, turn: number, pick: Chance) => Promise<Play>,
    { cases, lanes = 1, grounds = Number.POSITIVE_INFINITY, least = 0, until }: Course,
  ): Promise<void> {
    let [played, left] = [0, grounds]
    const isOver = () => (played >= least && this.isOver(until)) || left <= 0 || this.wrong.length >= 10
    const lane = async (own: Chance, first: number): Promise<void> => {
      for (let turn = first; !isOver(); turn += lanes) {
        await scoped(async scope => {
          const play = await open(scope, turn, own.branch())
          for (let at = 0; at < cases && !isOver(); at++) {
            const found = await play().catch(thrown => [
              String(thrown instanceof Error ? thrown.stack : thrown),
            ])
            played++
            if (found === 'none left') left = 0
            else this.wrong.push(...found)
            if (found.length > 0) break
          }
        })
        left--
        this.told()
      }
    }
    await Promise.all(Array.from({ length: lanes }, (_, at) => lane(this.pick.branch(), at)))
  }

  result(): Result {
    const { figure, seed } = this.order
    const again = this.isFull ? `npm run test:long -- --only ${figure} --seed ${seed}` : `seed ${seed}`
    const wrong = this.wrong.map(one => `${one}; ${again}`)
    return { counts: this.#counts, wrong, short: this.#short.join(', ') || undefined }
  }
}
