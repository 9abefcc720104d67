// Slow calls of the kernel: what each one waited for, in words and in milliseconds.
import { waitWords } from '../waits.js'
import type { KernelCall } from './kernel-calls.js'

/** Milliseconds from which a call is slow. */
export const slowMs = 1_000

export interface SlowCall {
  readonly sentence: string
  readonly about: Readonly<Record<string, unknown>>
}

/** Verbs that only write on this machine: what they do not wait for otherwise is the disk. */
const localVerbs: ReadonlySet<string> = new Set(['write', 'fsync', 'ftruncate', 'statfs'])
/** Milliseconds of a remainder that are worth a word. */
const worthMs = 1
/** Milliseconds of a wait that are worth a word of the sentence: `0.0 s` explains nothing, and would make two lines of one cause. */
const saidMs = 50

/** Undefined for a call that is not slow. */
export function slowCallOf(
  { verb, path, began, waits }: KernelCall,
  milliseconds: number,
  errno: number,
): SlowCall | undefined {
  if (milliseconds < slowMs) return undefined
  const ended = began + milliseconds
  const known = waits.between(began, ended).filter(({ milliseconds: ms }) => ms >= worthMs)
  const rest = waits.unexplained(began, ended)
  const own = localVerbs.has(verb) ? waitWords.disk : 'calcfs itself'
  const waited = [
    ...known.map(({ cause, milliseconds: ms }) => [waitWords[cause], ms] as const),
    ...(rest < worthMs ? [] : [[own, rest] as const]),
  ].toSorted(([, one], [, other]) => other - one)
  const words = waited.filter(([, ms]) => ms >= saidMs).map(([what, ms]) => `${inSeconds(ms)} ${what}`)
  return {
    sentence: `a slow call: ${verb} took ${inSeconds(milliseconds)} (${words.join(', ')})`,
    about: {
      verb,
      path,
      ms: Math.round(milliseconds),
      errno,
      waited: Object.fromEntries(waited.map(([what, ms]) => [what, Math.round(ms)])),
      requests: [...new Set(known.flatMap(({ about }) => about))],
    },
  }
}

const inSeconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`
