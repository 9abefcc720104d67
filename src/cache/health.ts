// Health of the service: whether it answers and accepts the sign-in, derived from every request.
import { asFailure, type Failure, isA } from '../failure.js'
import { type Clock, withDeadline } from '../remote/clock.js'
import { type Instant, instant, type Remote, type RequestContext } from '../remote/remote.js'

/** A failure that lasts, and since when. */
export interface OngoingFailure {
  readonly since: Instant
  readonly failure: Failure
}

export interface Health {
  /** The failure that began the present outage; undefined while the service answers. */
  readonly outage: OngoingFailure | undefined
  /** The first refusal of the sign-in; undefined while the service takes it. */
  readonly signedOut: OngoingFailure | undefined
  readonly asked: number
  /** Milliseconds that the last answer to a check took; undefined where there was none. */
  readonly answersIn: number | undefined
  /** True while nothing is answered at all, or everything is refused: a question would be in vain. */
  readonly away: boolean
  /**
   * Asks the service who the user is, so that the two are true of this moment. Never rejects. A service whose answers take
   * longer than there is time is not away as long as the question may still be answered.
   */
  check(context: RequestContext): Promise<void>
}

/** Milliseconds in which the question of a check is answered, whichever call has stopped waiting for it. */
const checkedFor = 10_000
/** A check may take so much longer than the one before. */
const longerThanLast = 1.5

/** The same remote, each question of which goes through `around`. */
function aroundEach(
  remote: Remote,
  around: <Answer>(question: () => Promise<Answer>) => Promise<Answer>,
): Remote {
  const operations = Object.entries<(...asked: never[]) => Promise<unknown>>({ ...remote })
  const watched = operations.map(
    ([name, operation]) => [name, (...asked: never[]) => around(() => operation(...asked))] as const,
  )
  return Object.fromEntries(watched) as unknown as Remote
}

/** The same remote, watched. `silence`: since when nothing at all is answered. */
export function withHealth(
  remote: Remote,
  clock: Clock,
  silence: () => OngoingFailure | undefined,
): { remote: Remote; health: Health } {
  const { now } = clock
  let outage: OngoingFailure | undefined
  let signedOut: OngoingFailure | undefined
  let asked = 0
  let heardAt = instant(Number.NEGATIVE_INFINITY)
  let away = false
  let answersIn: number | undefined

  /** What one question failed with says nothing of the service if another one was answered meanwhile. */
  function failed(failure: Failure, began: Instant): void {
    const answeredMeanwhile = heardAt > began
    if (failure.kind === 'unauthenticated') {
      outage = undefined
      away = false
      if (!answeredMeanwhile) signedOut ??= { since: now(), failure }
    } else if (isA('outage', failure)) {
      if (answeredMeanwhile) return
      outage ??= { since: now(), failure }
      away ||= isA('away', failure)
    } else heard()
  }

  function heard(): void {
    outage = undefined
    signedOut = undefined
    away = false
    heardAt = now()
  }

  async function note<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    asked += 1
    const began = now()
    try {
      const answer = await question()
      heard()
      return answer
    } catch (thrown) {
      failed(asFailure(thrown), began)
      throw thrown
    }
  }

  async function check(context: RequestContext): Promise<void> {
    const began = now()
    const patience = context.deadline - began
    const deadline = instant(Math.max(context.deadline, began + checkedFor))
    let isWaitedFor = true
    const answer = watching.user({ ...context, deadline, answerBy: context.deadline }).then(
      () => {
        answersIn = now() - began
      },
      // The watch has taken it down.
      () => {},
    )
    const sentence = 'the service does not answer'
    const known = answer.finally(() => {
      isWaitedFor = false
    })
    await withDeadline(known, context, clock, sentence).catch((thrown: unknown) => {
      const isSlow = (answersIn ?? 0) * longerThanLast > patience
      if (isWaitedFor && !isSlow) failed(asFailure(thrown), began)
    })
  }

  const watching = aroundEach(remote, note)
  return {
    remote: watching,
    health: {
      get outage() {
        const silent = silence()
        if (silent === undefined) return outage
        return {
          since: instant(Math.min(silent.since, outage?.since ?? silent.since)),
          failure: silent.failure,
        }
      },
      get signedOut() {
        return signedOut
      },
      get asked() {
        return asked
      },
      get away() {
        return away || silence() !== undefined
      },
      get answersIn() {
        return answersIn
      },
      check,
    },
  }
}

/** For a person whose sign-in the service does not take any more. */
export function signInEnded({ message }: Failure): string {
  const mend = message.includes('calcfs login') ? '' : '; run `calcfs login`'
  return `the sign-in has ended: ${message}${mend}`
}
