// Confirms refusals: a gateway in front of the service may refuse everything.
import { asFailure, Failure, isA } from '../../failure.js'
import { type Clock, dueIn, withDeadline } from '../clock.js'
import type { Http, Request } from '../http/http.js'
import {
  type KnownQuestions,
  knownQuestion,
  noteAnswered,
  noteDeleted,
  noteRefused,
} from '../known-question.js'
import type { Body, RequestContext } from '../remote.js'
import { openSharedAnswer } from '../shared-answer.js'

/** Milliseconds after which the next question is asked in the place of a record that does not answer. */
const silentMs = 1_000

/** A short answer that is not content: repeating it is cheap. */
const isRecord = (path: string, method: string): boolean =>
  method === 'GET' && /^\/(project|calculation|report)\?/.test(path)

/** It may be answered with nothing: no thing lies under that path. */
const isResolution = (path: string): boolean => path.startsWith('/navigation/path/resolve?')

/**
 * The same service, where a refusal counts only while the platform answers a question that it is known to answer, or else the
 * next one, once for all refusals that wait. Where both are refused it is 'refuses-all', where they fail
 * otherwise 'broken': outages. So it is with an empty answer that means "not there": a captive portal may answer everything
 * with one.
 */
export function withRefusalsConfirmed(http: Http, known: KnownQuestions, clock: Clock): Http {
  /** The last answer was no answer of the platform. */
  let isFaulty = false
  const confirmation = openSharedAnswer(clock, 'no other request was answered in time', failureOfAll)

  /** One operation may be broken, or one record deleted: what the last of two requests fails with; undefined where one succeeds. */
  async function failureOfAll(context: RequestContext): Promise<Failure | undefined> {
    const path = knownQuestion(known)
    if (path === undefined) return undefined
    const first = failureOf(path, context)
    const next = knownQuestion(known, path)
    if (next === undefined) return first
    const atOnce = await withDeadline(first, dueIn(silentMs, clock), clock, 'it is silent').catch(asFailure)
    if (atOnce === undefined) return undefined
    // It would delay each later refusal in the same way.
    noteRefused(known, path)
    return failureOf(next, context)
  }

  async function failureOf(path: string, context: RequestContext): Promise<Failure | undefined> {
    try {
      const text = await http.text({ method: 'GET', path }, context)
      return text === '' ? new Failure('broken', `the service answered GET ${path} with nothing`) : undefined
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      return thrown
    }
  }

  async function outageNow(context: RequestContext): Promise<Failure | undefined> {
    const joins = confirmation.underWay
    const outage = await confirmation.join(context).catch(asFailure)
    if (outage === undefined || !joins || isA('denial', outage) || clock.now() >= context.deadline)
      return outage
    // It began before: an earlier fault says nothing about a request that is sent now.
    return confirmation.join(context).catch(asFailure)
  }

  async function resolution(request: Request, context: RequestContext): Promise<string> {
    const text = await http.text(request, context)
    if (text === '') throw new Failure('absent', 'the service finds nothing under this path')
    return text
  }

  async function unlessPortal(request: Request, context: RequestContext, body: Body): Promise<Body> {
    // Empty files are many: only where something is wrong already they are worth a question.
    const isDoubtful = isFaulty && body.length === 0
    if (!isDoubtful || knownQuestion(known) === undefined) return body
    // Its connection is taken until its bytes are read.
    const outage = await failureOfAll({ ...context, holdsSlot: true }).catch(asFailure)
    isFaulty = outage !== undefined
    if (outage === undefined) return body
    body.cancel()
    const sentence = `nothing came for GET ${request.path}, and nothing shows that it is the file: ${outage.message}`
    throw new Failure('broken', sentence, { said: outage.said })
  }

  async function checked<Value>(
    { path, method }: Request,
    context: RequestContext,
    answer: Promise<Value>,
  ): Promise<Value> {
    try {
      const value = await answer
      if (method === 'GET' && value !== '') noteAnswered(known, path)
      if (isRecord(path, method)) isFaulty = false
      // Its record is asked by the same path.
      if (method === 'DELETE') noteDeleted(known, path)
      return value
    } catch (thrown) {
      if (thrown instanceof Failure && isA('outage', thrown)) isFaulty = true
      if (!(thrown instanceof Failure) || !isA('denial', thrown)) throw thrown
      // A service without HEAD refuses each one.
      if (method === 'HEAD' && thrown.kind !== 'absent') throw thrown
      // An earlier success proves nothing: the outage may begin at any moment.
      noteRefused(known, path)
      if (knownQuestion(known, path) === undefined) throw thrown
      const outage = await outageNow(context)
      if (outage === undefined) throw thrown
      const kind = isA('denial', outage) ? 'refuses-all' : 'broken'
      const sentence = `the service refuses everything, so its answer to ${method} ${path} proves nothing: ${thrown.message}`
      throw new Failure(kind, sentence, { cause: thrown, said: thrown.said })
    }
  }

  return {
    text: (request, context) =>
      checked(
        request,
        context,
        isResolution(request.path) ? resolution(request, context) : http.text(request, context),
      ),
    jsonText: (request, context) => checked(request, context, http.jsonText(request, context)),
    readInto: (request, reader, context) =>
      checked(request, context, http.readInto(request, reader, context)),
    content: async (request, start, context, end, of) =>
      unlessPortal(
        request,
        context,
        await checked(request, context, http.content(request, start, context, end, of)),
      ),
    head: (request, context) => checked(request, context, http.head(request, context)),
    firstByte: (request, context) => checked(request, context, http.firstByte(request, context)),
    answered: http.answered,
    get guesses() {
      return http.guesses
    },
    get away() {
      return http.away
    },
    close: http.close,
  }
}
