// Contents on their way: one `Arriving` for each that somebody asked for and that is not open yet.
import type { Content } from '../../../remote/remote.js'
import { type Arriving, type ArrivingPorts, openArriving } from './content-entry.js'
import type { Ranges } from './range-scheduler.js'

export interface Arrivals {
  of(content: Content, name: string): Arriving
  /** The bytes at once where they came a moment ago, else undefined. */
  readNow(name: string, offset: number, into: Uint8Array): number | undefined
  /** Something of it is under way that needs its file to stay. */
  isBusy(name: string): boolean
  /** Somebody is bringing its bytes just now. */
  isComing(name: string): boolean
  /** How much has arrived, from 0 to 1. */
  fraction(name: string): number
  forget(name: string): Promise<void>
  /** Stops what is stalled or abandoned and forgets what is at rest. */
  tend(): void
  close(): Promise<void>
  readonly downloads: number
}

export function openArrivals(ports: Omit<ArrivingPorts, 'ranges'>): Arrivals {
  const all = new Map<string, Arriving>()
  const shared = { ...ports, ranges: rangesOfService() }

  return {
    of(content, name) {
      const known = all.get(name)
      if (known !== undefined) return known
      const arriving = openArriving(shared, content, name)
      all.set(name, arriving)
      return arriving
    },
    readNow: (name, offset, into) => all.get(name)?.readNow(offset, into),
    isComing: name => all.get(name)?.downloading === true,
    isBusy: name => all.get(name)?.busy === true,
    fraction: name => all.get(name)?.fraction() ?? 0,
    async forget(name) {
      const arriving = all.get(name)
      all.delete(name)
      await arriving?.stop('the content was forgotten while it was downloaded')
    },
    tend() {
      for (const [name, arriving] of all) {
        arriving.tend()
        if (arriving.atRest()) all.delete(name)
      }
    },
    async close() {
      const stopped = [...all.values()].map(arriving => arriving.stop('the drive is being closed'))
      await Promise.all(stopped)
      all.clear()
    },
    get downloads() {
      return [...all.values()].filter(arriving => arriving.downloading).length
    },
  }
}

/** One answer of another kind is an accident: so many in a row are the service's way. */
const refusedOften = 3

/** A service is tried until it answers a Range with the whole several times in a row; that holds for this process. */
function rangesOfService(): Ranges {
  let refusals = 0
  return {
    get possible() {
      return refusals < refusedOften
    },
    refuse() {
      refusals += 1
    },
    honour() {
      refusals = 0
    },
  }
}
