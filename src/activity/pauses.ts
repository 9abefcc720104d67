// Pauses of the main thread, in which no call of the kernel was answered: the longest of the last minutes.
import { machineClocks } from '../system/machine-clocks.js'

/** Milliseconds between two looks. */
export const lookEvery = 250
/** Milliseconds from which a pause is told, and for which it is remembered. */
const tolerated = 1_000
const remembered = 10 * 60_000

export interface Pause {
  readonly milliseconds: number
  /** Milliseconds since its end. */
  readonly ago: number
}

export class Pauses {
  readonly #now: () => number
  #lastLook: number | undefined
  #all: { readonly milliseconds: number; readonly end: number }[] = []

  constructor(now: () => number = machineClocks.monotonic) {
    this.#now = now
  }

  /** Called each `lookEvery` by a timer, which is late by the length of a pause. */
  look(): void {
    const end = this.#now()
    const milliseconds = end - (this.#lastLook ?? end) - lookEvery
    this.#lastLook = end
    if (milliseconds >= tolerated) this.#all = [...this.#recent(), { milliseconds, end }]
  }

  longest(): Pause | undefined {
    const [longest] = this.#recent().toSorted((one, other) => other.milliseconds - one.milliseconds)
    return longest && { milliseconds: longest.milliseconds, ago: this.#now() - longest.end }
  }

  #recent() {
    return this.#all.filter(({ end }) => this.#now() - end < remembered)
  }
}
