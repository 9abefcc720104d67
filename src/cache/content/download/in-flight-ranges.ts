// In-flight ranges: the bytes of one content that are present or requested already, so that none is requested twice.
import type { Failure } from '../../../failure.js'
import type { Body, RequestContext } from '../../../remote/remote.js'
import type { IntervalSet } from './interval-set.js'

/** A stretch on its way, from `from` on: `position` is the next byte to come, `end` the one that is not wanted any more. */
export interface InFlightRange {
  from: number
  position: number
  end: number
  readonly priority: RequestContext['priority']
  body: Body | undefined
  stopped: Failure | undefined
  /** Ends it although its body may hang. */
  abort: (reason: Failure) => void
}

/** What is known of a byte, all in bytes from the start of the content. */
export interface InFlightRanges {
  /** The request that brings this byte. */
  bringing(offset: number): InFlightRange | undefined
  /** Where the bytes that are there or on their way from here on end. */
  claimed(offset: number): number
  /** The first byte behind this one that is there or on its way, or the end of the content. */
  barrier(offset: number): number
}

export function inFlightRanges(
  segments: ReadonlySet<InFlightRange>,
  arrived: IntervalSet,
  total: () => number,
): InFlightRanges {
  const bringing = (offset: number): InFlightRange | undefined => {
    for (const one of segments) if (one.position <= offset && offset < one.end) return one
    return undefined
  }

  function claimed(offset: number): number {
    for (let end = offset; ; ) {
      const next = Math.max(arrived.reach(end), bringing(end)?.end ?? 0)
      if (next <= end || next >= total()) return Math.max(end, next)
      end = next
    }
  }

  function barrier(offset: number): number {
    const hole = arrived.firstGap(offset, total())
    let next = hole?.end ?? total()
    for (const one of segments) if (one.position > offset) next = Math.min(next, one.position)
    return next
  }

  return { bringing, claimed, barrier }
}

export function inFlightRange(
  from: number,
  end: number,
  priority: RequestContext['priority'],
): InFlightRange {
  return { from, position: from, end, priority, body: undefined, stopped: undefined, abort: () => {} }
}
