// Confirms refusals: a gateway in front of the service may refuse everything.
import { Failure, isA } from '../../failure.js'
import type { Http, Request } from '../http/http.js'
import type { RequestContext } from '../remote.js'
import type { Capabilities } from './capabilities.js'

/** A request that every user may send and that the platform always answers. */
const userInfo = '/user/info'

/** A short answer that is not content: repeating it is cheap. */
const isRecord = (path: string, method: string): boolean =>
  method === 'GET' && /^\/(project|calculation|report)\?/.test(path)

/**
 * The same service, where a refusal counts only while the platform answers another request: the record request that succeeded
 * last, else `/user/info`, once for all refusals that wait. Where both fail it is 'broken', an outage.
 */
export function withRefusalsConfirmed(http: Http, capabilities: Capabilities): Http {
  /** The last record request that succeeded. */
  let lastWell: string | undefined
  let asking: Promise<boolean> | undefined

  /** One operation may be broken, or one record deleted: whether either of two requests succeeds. */
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
      // A service without HEAD refuses each one.
      if (method === 'HEAD' && thrown.kind !== 'absent') throw thrown
      // An earlier success proves nothing: the outage may begin at any moment.
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
