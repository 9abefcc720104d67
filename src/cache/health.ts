// Health of the service: whether it answers and accepts the sign-in, derived from every request.
import { asFailure, type Failure, isA } from '../failure.js'
import { type Clock, withDeadline } from '../remote/clock.js'
import { type Instant, instant, type Remote, type RequestContext } from '../remote/remote.js'

export interface OngoingFailure {
  readonly since: Instant
  readonly failure: Failure
}

/** Milliseconds in which the question of a check is answered, whichever call has stopped waiting for it. */
const checkedFor = 10_000
/** A check may take so much longer than the one before, and than other answers. */
const longerThanUsual = 1.5

export class Health {
  /** The same service, each question of which is watched. */
  readonly remote: Remote
  /** The first refusal of the sign-in; undefined while the service takes it. */
  signedOut: OngoingFailure | undefined
  asked = 0
  /** Milliseconds that the last answer to a check took; undefined where there was none. */
  answersIn: number | undefined
  #outage: OngoingFailure | undefined
  #answers = 0
  #away = false

  /** `client` tells since when nothing at all is answered, and how many milliseconds an answer usually takes. */
  constructor(
    remote: Remote,
    private readonly clock: Clock,
    private readonly client: { readonly away: OngoingFailure | undefined; readonly usual: number },
  ) {
    const operations = Object.entries<(...asked: never[]) => Promise<unknown>>({ ...remote })
    const watched = operations.map(([name, operation]) => [
      name,
      (...asked: never[]) => this.#noted(operation, asked),
    ])
    this.remote = Object.fromEntries(watched)
  }

  /** The failure that began the present outage; undefined while the service answers. */
  get outage(): OngoingFailure | undefined {
    const silent = this.client.away
    if (silent === undefined) return this.#outage
    const since = instant(Math.min(silent.since, this.#outage?.since ?? silent.since))
    return { since, failure: silent.failure }
  }

  /** True while nothing is answered at all, or everything is refused: a question would be in vain. */
  get away(): boolean {
    return this.#away || this.client.away !== undefined
  }

  /**
   * Asks the service who the user is, so that the two are true of this moment. Never rejects. A service whose answers take
   * longer than there is time is not away as long as the question may still be answered.
   */
  async check(context: RequestContext): Promise<void> {
    const { clock } = this
    const began = clock.now()
    const before = this.#answers
    const patience = context.deadline - began
    const deadline = instant(Math.max(context.deadline, began + checkedFor))
    const answer = this.remote.user({ ...context, deadline, answerBy: context.deadline }).then(
      () => {
        this.answersIn = clock.now() - began
      },
      // The watch has taken it down.
      () => {},
    )
    await withDeadline(answer, context, clock, 'the service does not answer').catch((thrown: unknown) => {
      const usual = Math.max(this.answersIn ?? 0, this.client.usual)
      const isSlow = usual * longerThanUsual > patience
      if (!isSlow) this.#failed(asFailure(thrown), before)
    })
  }

  async #noted(question: (...asked: never[]) => Promise<unknown>, asked: never[]): Promise<unknown> {
    this.asked += 1
    const before = this.#answers
    try {
      const answer = await question(...asked)
      this.#heard()
      return answer
    } catch (thrown) {
      this.#failed(asFailure(thrown), before)
      throw thrown
    }
  }

  /** One question's failure says nothing of the service if another one was answered meanwhile. */
  #failed(failure: Failure, before: number): void {
    const answeredMeanwhile = this.#answers > before
    const since = this.clock.now()
    if (failure.kind === 'unauthenticated') {
      this.#outage = undefined
      this.#away = false
      if (!answeredMeanwhile) this.signedOut ??= { since, failure }
    } else if (isA('outage', failure)) {
      if (answeredMeanwhile) return
      this.#outage ??= { since, failure }
      this.#away ||= isA('away', failure)
    } else this.#heard()
  }

  #heard(): void {
    this.#outage = undefined
    this.signedOut = undefined
    this.#away = false
    this.#answers += 1
  }
}

export function signInEnded({ message }: Failure): string {
  const mend = message.includes('calcfs login') ? '' : '; run `calcfs login`'
  return `the sign-in has ended: ${message}${mend}`
}
