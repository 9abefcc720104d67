// Capabilities of one service instance: what it can do, and which questions it is known to answer.
import type { ContentKindName } from '../../content-kinds.js'
import type { KnownQuestions } from '../known-question.js'

/** Discovered facts about a service; the owner may store them as JSON. */
export interface Capabilities extends KnownQuestions {
  /** How the size of such a content can be found without its bytes. */
  sizes: Partial<Record<ContentKindName, SizeSource>>
  /** Where no method is known yet: how many contents in a row, none empty, had neither, each properly refused. */
  untold?: Partial<Record<ContentKindName, number>>
  /** Whether a download can start in the middle. */
  ranges?: boolean
  /** How many requests for a part in a row were answered with the whole. */
  unranged?: number
  /** Whether a part may be requested on the condition that the version is unchanged. */
  conditions?: boolean
  /** GET endpoints that have answered here, over restarts: one of them is never taken for lacking. */
  works?: readonly string[]
  /** Under which of its two documented names the report types live. */
  reportTypes?: 'report/types' | 'report-type'
}
export type SizeSource = 'head' | 'range'

/** One unusual answer is an accident: so many in a row are this service's behaviour… */
const often = 3
/** …but one request in so many is still sent: else a wrong conclusion would never be corrected. */
const sampledEvery = 64

/** Whether so many unusual answers in a row count as this service's behaviour. */
export const isItsWay = (inARow: number): boolean => inARow >= often

/** Whether the request after so many skipped or unusual ones is sent all the same. */
export const isSampled = (count: number): boolean => count % sampledEvery === 0
