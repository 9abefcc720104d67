// Gate: a refusal counts only while the platform answers a question that it is known to answer; a gateway in front of it may refuse everything.
import { asFailure, Failure, isA } from '../../failure.js'
import { type Clock, dueIn, withDeadline } from '../clock.js'
import { Http, type Request } from '../http/http.js'
import { aboutRecord, knownQuestion, noteAnswered, noteDeleted, noteRefused } from '../known-question.js'
import type { RequestContext } from '../remote.js'
import { SharedAnswer } from '../shared-answer.js'
import { type Capabilities, Lacking } from './lacking.js'

/** Milliseconds after which the next question is asked in the place of a record that does not answer. */
const silentMs = 1_000

/**
 * A refusal waits for one check, however many wait. Where the known question and the next one are refused, too, it is
 * 'refuses-all', where they fail otherwise 'broken': outages.
 */
export class Gate {
  /** The same service behind the gate. */
  readonly http = new Http((request, question, context) => {
    const lacks = this.lacking.refusal(request.path)
    if (lacks !== undefined) return Promise.reject(lacks)
    return this.asked.ask(request, question, context).then(
      value => {
        this.#noteAnswer(request, value === '')
        return value
      },
      thrown => this.#refused(request, asFailure(thrown), context),
    )
  })
  readonly lacking: Lacking
  /** The last answer was no answer of the platform. */
  #isFaulty = false
  readonly #confirmation

  /** `known` is updated as facts are discovered. */
  constructor(
    private readonly asked: Http,
    readonly known: Capabilities,
    private readonly clock: Clock,
  ) {
    this.lacking = new Lacking(known)
    const late = 'no other request was answered in time'
    this.#confirmation = new SharedAnswer(clock, late, context => this.#confirmed(context))
  }

  /** A captive portal answers everything with nothing: only where something is wrong already an empty file is worth a question. @throws Failure 'broken' */
  async unlessFaulty(path: string, context: RequestContext): Promise<void> {
    if (!this.#isFaulty || knownQuestion(this.known) === undefined) return
    // Its connection is taken until its bytes are read.
    const outage = await this.#confirmed({ ...context, holdsSlot: true }).then(() => undefined, asFailure)
    this.#isFaulty = outage !== undefined
    if (outage === undefined) return
    const sentence = `nothing came for GET ${path}, and nothing shows that it is the file: ${outage.message}`
    throw new Failure('broken', sentence, { said: outage.said })
  }

  #noteAnswer({ path, method }: Request, isNothing: boolean): void {
    // Its record is asked by the same path.
    if (method === 'DELETE') noteDeleted(this.known, path)
    if (method !== 'GET') return
    if (aboutRecord.test(path)) this.#isFaulty = false
    if (!isNothing) noteAnswered(this.known, path)
    this.lacking.answered(path)
  }

  async #refused({ path, method }: Request, refusal: Failure, context: RequestContext): Promise<never> {
    if (isA('outage', refusal)) this.#isFaulty = true
    // A service without HEAD refuses each one.
    if (!isA('denial', refusal) || (method === 'HEAD' && refusal.kind !== 'absent')) throw refusal
    // An earlier success proves nothing: the outage may begin at any moment.
    noteRefused(this.known, path)
    const outage =
      knownQuestion(this.known, path) === undefined
        ? this.#onlyQuestion(path, refusal)
        : await this.#outage(context)
    if (outage === undefined) {
      if (method === 'GET') this.lacking.refused(path, refusal)
      throw refusal
    }
    throw refusesAll(
      isA('denial', outage) ? 'refuses-all' : 'broken',
      `its answer to ${method} ${path}`,
      refusal,
    )
  }

  /** Where nothing else was ever answered: a record may be deleted, but what is about no thing answers while the service is there. */
  #onlyQuestion(path: string, refusal: Failure): Failure | undefined {
    return this.known.works?.includes(path.slice(1)) === true ? refusal : undefined
  }

  /** Undefined where a known question is answered. */
  #outage(context: RequestContext): Promise<Failure | undefined> {
    const confirmed = this.#confirmation.joinAnew(context, failure => isA('denial', failure))
    return confirmed.then(() => undefined, asFailure)
  }

  /** One operation may be broken, or one record deleted. @throws what the last of two questions fails with */
  async #confirmed(context: RequestContext): Promise<void> {
    const path = knownQuestion(this.known)
    if (path === undefined) return
    const first = this.#answers(path, context)
    const next = knownQuestion(this.known, path)
    if (next === undefined) return first
    try {
      await withDeadline(first, dueIn(silentMs, this.clock), this.clock, 'it is silent')
    } catch {
      // It would delay each later refusal in the same way.
      noteRefused(this.known, path)
      await this.#answers(next, context)
    }
  }

  async #answers(path: string, context: RequestContext): Promise<void> {
    const text = await this.asked.text({ method: 'GET', path }, context)
    if (text === '') throw new Failure('broken', `the service answered GET ${path} with nothing`)
  }
}

/** Nothing that the instance is known to answer is answered, so that a refusal says nothing. */
export function refusesAll(kind: 'refuses-all' | 'broken', what: string, refusal: Failure): Failure {
  const sentence = `the service refuses everything, so ${what} proves nothing: ${refusal.message}`
  return new Failure(kind, sentence, { cause: refusal, said: refusal.said })
}
