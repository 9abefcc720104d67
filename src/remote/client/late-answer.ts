// Late answers: the next change of a subject waits for an unanswered one, and after a wait the base of a change is read again.
import { Failure } from '../../failure.js'
import { type Clock, sleep, withDeadline } from '../clock.js'
import { lateAtMost } from '../connection/connections.js'
import type { Exchange } from '../connection/exchange.js'
import { type Instant, instant, type RequestContext } from '../remote.js'

/** The subject of a change, such as `report 42`; the kind for a creation; the containing project for a name. */
export type Subject = string

/** State shared with other mounts and later processes: until when the answer to an earlier change of a subject may come. */
export interface UnansweredChanges {
  until(subject: Subject): Instant | undefined
  note(subject: Subject, until: Instant): void
  answered(subject: Subject): void
  /** When the last one was answered or abandoned, if that is not long ago. */
  ended(subject: Subject): Instant | undefined
}

interface LateWrite {
  readonly subjects: readonly Subject[]
  /** Resolves when it is answered or abandoned. */
  readonly end: Promise<void>
  giveUp(): void
}

/** The wait for a late answer: so many times the allowed time, and at most so many milliseconds. */
const lateTimes = 4
const lateAtMostMs = 60_000

const notAnswered = 'an earlier change of it was sent and is not answered yet: nothing is sent before that'

export class LateWrites {
  readonly #late = new Map<Exchange, LateWrite>()
  #ending = false

  constructor(
    private readonly clock: Clock,
    private readonly unanswered: UnansweredChanges | undefined,
  ) {}

  /**
   * Resolves when no earlier change of these subjects is unanswered: true if one was, now or since the read that the next
   * change is based on. @throws Failure 'timeout' at the deadline
   */
  async settled(subjects: readonly Subject[], context: RequestContext): Promise<boolean> {
    const before = [...this.#late.values()]
      .filter(one => one.subjects.some(subject => subjects.includes(subject)))
      .map(({ end }) => end)
    if (before.length > 0) await withDeadline(Promise.all(before), context, this.clock, notAnswered)
    const until = subjects.flatMap(subject => this.unanswered?.until(subject) ?? [])
    if (until.length > 0) await this.#passed(Math.max(...until), context)
    return before.length > 0 || until.length > 0 || this.#hasEndedSince(context, subjects)
  }

  /** The base of a change that comes behind earlier ones. @throws as `settled` */
  async freshLook(
    subjects: readonly Subject[],
    context: RequestContext,
    usual: () => number,
  ): Promise<FreshLook> {
    const hasWaited = await this.settled(subjects, context)
    return new FreshLook(hasWaited ? lookedLongAgo(context) : context, this.clock, usual)
  }

  /** The connections are about to be closed: late writes do not count as ended. */
  end(): void {
    this.#ending = true
  }

  /** Its caller is told `late`, while the exchange goes on; `allowed` are the milliseconds that its answer was allowed to take. */
  keep(
    exchange: Exchange,
    sent: Pick<LateWrite, 'subjects'> & { context: RequestContext; allowed: number; late: Failure },
  ): void {
    const { subjects, context, allowed, late } = sent
    const { clock, unanswered } = this
    const [oldest] = this.#late.size < lateAtMost ? [] : this.#late.values()
    oldest?.giveUp()
    const patience = Math.min(lateAtMostMs, lateTimes * allowed)
    for (const subject of subjects) unanswered?.note(subject, instant(clock.now() + patience))
    let isSettled = () => {}
    const end = new Promise<void>(resolve => {
      isSettled = resolve
    })
    const over = (isAnswered: boolean): void => {
      if (!this.#late.delete(exchange)) return
      callOff()
      if (isAnswered) for (const subject of subjects) unanswered?.answered(subject)
      isSettled()
    }
    const giveUp = (): void => exchange.abort(late)
    const callOff = clock.after(patience, giveUp)
    exchange.listener = {
      head() {
        over(true)
        giveUp()
      },
      piece() {},
      ended() {},
      // An abandoned change may still be carried out; one that the service ended is over.
      failed: reason => over(!this.#ending && reason !== late),
    }
    this.#late.set(exchange, { subjects, end, giveUp })
    context.late?.(() => {
      over(true)
      giveUp()
    })
  }

  /** Of an earlier process, of another mount, or abandoned: only its time limit ends it. */
  async #passed(until: number, context: RequestContext): Promise<void> {
    if (until >= context.deadline) throw new Failure('timeout', notAnswered)
    await sleep(this.clock, until - this.clock.now())
  }

  /** It may have been carried out after the read began. */
  #hasEndedSince({ look }: RequestContext, subjects: readonly Subject[]): boolean {
    if (look === undefined) return false
    return subjects.some(subject => (this.unanswered?.ended(subject) ?? Number.NEGATIVE_INFINITY) >= look.at)
  }
}

/** The same request after a wait in which its target may have changed: its base is read again. */
export function lookedLongAgo(context: RequestContext): RequestContext {
  const { look } = context
  return look === undefined
    ? context
    : { ...context, look: { at: instant(0), again: within => look.again(within) } }
}

/** Milliseconds between the read that a change is based on and the first byte of the change; at a slow service four of its answers. */
const freshMs = 1_000
const answersOfLook = 4

/** The failure of a change that was not sent because its base had become old. */
export const outdated = new Failure('busy', 'it waited too long for its connection')

/** The base of a change that holds its place; without one it is always fresh. */
export class FreshLook {
  #at: Instant | undefined

  /** @param usual milliseconds of an answer */
  constructor(
    private readonly context: RequestContext,
    private readonly clock: Clock,
    private readonly usual: () => number,
  ) {
    this.#at = context.look?.at
  }

  get #isOld(): boolean {
    const limit = Math.max(freshMs, answersOfLook * this.usual())
    return this.#at !== undefined && this.clock.now() - this.#at >= limit
  }

  /** Why the change must not be sent now. */
  readonly refusal = (): Failure | undefined => (this.#isOld ? outdated : undefined)

  /** Reads the base again where it is old. @throws Failure of `Look.again`: nothing is to be sent */
  async renew(): Promise<void> {
    const { look, ...rest } = this.context
    if (look === undefined || !this.#isOld) return
    await look.again({ ...rest, holdsSlot: true })
    this.#at = this.clock.now()
  }
}
