// When a refusal is believed: a gateway in the place of a service, or before it, refuses everything.
import { Failure, isA } from '../../failure.js'
import type { Http, Request } from '../http/http.js'
import type { RequestContext } from '../remote.js'
import type { Capabilities } from './capabilities.js'

/** What every user may ask of the platform, and what it has always an answer to. */
const userInfo = '/user/info'

/** A short answer that is not content: asked once more it costs little. */
const isRecord = (path: string, method: string): boolean =>
  method === 'GET' && /^\/(project|calculation|report)\?/.test(path)

/**
 * The same service, where a refusal counts only while the platform answers anything well: after each one it is asked what it has
 * answered last, and who the user is, once for all that wait for that. Where it tells neither, the failure is 'broken', an outage.
 */
export function withRefusalsConfirmed(http: Http, capabilities: Capabilities): Http {
  /** A question of records that was answered well last. */
  let lastWell: string | undefined
  let asking: Promise<boolean> | undefined

  /** One operation may be ill by itself, and one thing gone: whether either of two is answered. */
  async function answersAny(context: RequestContext): Promise<boolean> {
    return (lastWell !== undefined && (await answers(lastWell, context))) || answers(userInfo, context)
  }

  async function answers(path: string, context: RequestContext): Promise<boolean> {
    try {
      await http.text({ method: 'GET', path }, context)
      return true
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      return false
    }
  }

  function isThere({ deadline, priority }: RequestContext): Promise<boolean> {
    asking ??= answersAny({ deadline, priority }).finally(() => {
      asking = undefined
    })
    return asking
  }

  async function checked<Value>(
    { path, method }: Request,
    context: RequestContext,
    answer: Promise<Value>,
  ): Promise<Value> {
    try {
      const value = await answer
      if (path === userInfo) capabilities.tellsUser = true
      else if (isRecord(path, method)) lastWell = path
      return value
    } catch (thrown) {
      if (!(thrown instanceof Failure) || !isA('denial', thrown)) throw thrown
      // A service without HEAD says so of each.
      if (method === 'HEAD' && thrown.kind !== 'absent') throw thrown
      // What was answered well before it says nothing: the next moment may be the first of an outage.
      if (lastWell === path) lastWell = undefined
      if (capabilities.tellsUser !== true || (await isThere(context))) throw thrown
      const sentence = `the service refuses everything, so that it says nothing of ${method} ${path}: ${thrown.message}`
      throw new Failure('broken', sentence, { cause: thrown, said: thrown.said })
    }
  }

  return {
    text: (request, context) => checked(request, context, http.text(request, context)),
    jsonText: (request, context) => checked(request, context, http.jsonText(request, context)),
    readInto: (request, reader, context) =>
      checked(request, context, http.readInto(request, reader, context)),
    content: (request, name, start, context, end, of) =>
      checked(request, context, http.content(request, name, start, context, end, of)),
    head: (request, context) => checked(request, context, http.head(request, context)),
    firstByte: (request, context) => checked(request, context, http.firstByte(request, context)),
    answered: http.answered,
    get guesses() {
      return http.guesses
    },
    close: http.close,
  }
}
