// What a figure counts while it runs.
import type { Result } from './figure.js'

export interface Sheet {
  readonly wrong: string[]
  add(name: string, by?: number): void
  /** Counts under `most …`: the highest value counts. */
  most(name: string, value: number): void
  counted(name: string): number
  /** In the order in which the names were first counted. */
  result(): Result
}

/** @param begun names that are shown also where they stay 0 */
export function openSheet(...begun: string[]): Sheet {
  const counts: Record<string, number> = Object.fromEntries(begun.map(name => [name, 0]))
  const wrong: string[] = []
  return {
    wrong,
    add(name, by = 1) {
      counts[name] = (counts[name] ?? 0) + by
    },
    most(name, value) {
      counts[`most ${name}`] = Math.max(counts[`most ${name}`] ?? 0, Math.round(value))
    },
    counted: name => counts[name] ?? 0,
    result: () => ({ counts, wrong }),
  }
}
