// Slow calls of the kernel: the requests that each one waited for, with their milliseconds.
import type { KernelCall } from './kernel-calls.js'

/** Milliseconds from which a call is slow. */
export const slowMs = 1_000
/** Requests that one line names, the slowest first. */
const namedAtMost = 10

export interface SlowCall {
  readonly sentence: string
  readonly about: Readonly<Record<string, unknown>>
}

/** Undefined for a call that is not slow. */
export function slowCallOf(
  { verb, path, began, requests }: KernelCall,
  milliseconds: number,
  errno: number,
): SlowCall | undefined {
  if (milliseconds < slowMs) return undefined
  const ended = began + milliseconds
  const waited = requests
    .since(began)
    .map(one => ({ request: one.request, ms: Math.round((one.ended ?? ended) - one.began) }))
    .toSorted((one, other) => other.ms - one.ms)
  return {
    sentence: `a slow call: ${verb} took ${(milliseconds / 1000).toFixed(1)} s, for ${count(waited.length)}`,
    about: { verb, path, ms: Math.round(milliseconds), errno, requests: waited.slice(0, namedAtMost) },
  }
}

const count = (requests: number): string =>
  requests === 0 ? 'no request' : requests === 1 ? 'one request' : `${requests} requests`
