// What one instance turned out to be able to do: found out once, kept by whoever owns this value.
import type { ContentKindName } from '../../content-kinds.js'

/** What was found out about a service and need not be found out again; its owner may keep it as JSON. */
export interface Capabilities {
  /** How the size of a content of this kind can be known without its bytes. */
  sizes: Partial<Record<ContentKindName, SizeSource>>
  /** Where no way is known yet: how many contents in a row, none of them empty, had neither, each refused in due form. */
  untold?: Partial<Record<ContentKindName, number>>
  /** Whether a download can start in the middle. */
  ranges?: boolean
  /** How many answers in a row were the whole where a part was asked for. */
  unranged?: number
  /** Whether a part may be asked for on the condition that the version is still the same. */
  conditions?: boolean
  /** Under which of its two documented names the report types live. */
  reportTypes?: 'report/types' | 'report-type'
  /** Whether it has told who the user is. */
  tellsUser?: boolean
}
export type SizeSource = 'head' | 'range'

/** One odd answer is an accident: so many in a row are the service's way… */
const often = 3
/** …but one question in so many is still asked: a service that is taken wrongly would never be known better. */
const sampledEvery = 64

/** Whether so many odd answers in a row are taken for the way of the service. */
export const isItsWay = (inARow: number): boolean => inARow >= often

/** Whether the question after so many spared or odd ones is asked all the same. */
export const isSampled = (count: number): boolean => count % sampledEvery === 0
