// Contradiction of two answers about one content: the first one means that it was replaced, one more at once is an error.
import { Failure } from '../../../failure.js'
import { openRecentMap } from '../../../recent-map.js'
import { type Instant, instant } from '../../../remote/remote.js'

/** Another length than was told, or than came before; `sent` undefined: more than that. */
export class OtherLength extends Error {
  override readonly message: string

  constructor(told: number, sent: number | undefined) {
    super()
    this.message = `the service told ${told} bytes and sends ${sent ?? `more than ${told}`}`
  }
}

/** Another version than the one before. */
export class OtherVersion extends Error {
  override readonly message = 'the service sends another version of the file than before'

  /** `isOneLength`: nothing but its validator differs. */
  constructor(readonly isOneLength: boolean) {
    super()
  }
}

export type Contradiction = OtherLength | OtherVersion

export const isContradiction = (thrown: unknown): thrown is Contradiction =>
  thrown instanceof OtherLength || thrown instanceof OtherVersion

export interface Contradictions {
  /** What readers hear: 'replaced', or 'broken' where the last one of this content was less than a minute ago. */
  found(name: string, what: Contradiction): Failure
  /** A moment ago its answers contradicted each other: a body alone does not tell its length. */
  isRecent(name: string): boolean
  /** A body begins to be read. */
  met(name: string): void
  /** Whether parts of several answers may be put together: not where its validator has changed within a minute at one length. */
  mayJoin(name: string): boolean
}

const soonMs = 60_000
const namesAtMost = 1000

/** For all contents of a mount. */
export function openContradictions(now: () => Instant): Contradictions {
  const last = openRecentMap<Instant>(namesAtMost)
  const firstMet = openRecentMap<Instant>(namesAtMost)
  const unsteady = openRecentMap<true>(namesAtMost)
  const isSoon = (before: Instant | undefined): boolean => before !== undefined && now() - before < soonMs

  return {
    found(name, what) {
      const isAgain = isSoon(last.get(name))
      last.set(name, now())
      if (what instanceof OtherVersion && what.isOneLength && isSoon(firstMet.get(name)))
        unsteady.set(name, true)
      firstMet.delete(name)
      if (!isAgain) return replacedFailure()
      return new Failure('broken', `${what.message}; neither is believed, and nothing of it is kept`)
    },
    isRecent: name => isSoon(last.get(name)),
    met(name) {
      if (firstMet.get(name) === undefined) firstMet.set(name, instant(now()))
    },
    mayJoin: name => unsteady.get(name) === undefined,
  }
}

/** A reader that has a part of the old version, or knows its length, must begin again. */
export const replacedFailure = (): Failure =>
  new Failure('replaced', 'the service holds another version of the file now: open it again to read that one')
