// Rows of the fleet's table: what was found, its ratio, and the target.
import type { Counts } from '../origin/counts.js'

export interface FleetRow {
  readonly what: string
  /** The figures behind the ratio. */
  readonly found: string
  readonly ratio: string
  readonly target: string
  /** Undefined where the target names no figure. */
  readonly met: boolean | undefined
}

export type Say = (row: FleetRow) => void

export const times = (ratio: number): string => `${ratio.toFixed(ratio < 1.995 ? 3 : 2)} ×`

/** A ratio that may be this large, or has to be at least. */
export function ratioRow(
  what: string,
  found: string,
  ratio: number,
  target: { readonly most: number } | { readonly least: number },
): FleetRow {
  const met = 'most' in target ? ratio <= target.most : ratio >= target.least
  const words = 'most' in target ? `≤ ${target.most} ×` : `≥ ${target.least} ×`
  return { what, found, ratio: times(ratio), target: words, met }
}

/** Every mount shows its own right to be there: what the fleet never answers. */
const signIns = ['rest POST login', 'rest GET user/info']

/** Requests about the data, and those by which each mount signs in. */
export function requestsOf({ requests, of }: Counts): { readonly data: number; readonly signIns: number } {
  const own = signIns.reduce((sum, name) => sum + (of[name]?.requests ?? 0), 0)
  return { data: requests - own, signIns: own }
}
