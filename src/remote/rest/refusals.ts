// When a refusal is believed: a gateway in the place of a service, or before it, refuses everything.
import { Failure, type FailureKind } from '../../failure.js'
import type { Clock } from '../clock.js'
import type { Http, Request } from '../http/http.js'
import type { RequestContext } from '../remote.js'
import type { Capabilities } from './capabilities.js'

/** What every user may ask of the platform, and what it has always an answer to. */
const userInfo = '/user/info'
/** Milliseconds for which an answer that was well says that the platform is there. */
const wellFor = 1_000

/** What would say something of the thing that was asked for. */
const refusals = new Set<FailureKind>(['absent', 'invalid', 'forbidden', 'unsupported'])

/**
 * The same service, where a refusal counts only while the platform answers anything well: else it is asked who the user is, once
 * for all that wait for that, and where it cannot tell, which it could before, the failure is 'broken', an outage.
 */
export function withRefusalsConfirmed(
  http: Http,
  { clock, capabilities }: { readonly clock: Clock; readonly capabilities: Capabilities },
): Http {
  let well = Number.NEGATIVE_INFINITY
  let asking: Promise<boolean> | undefined

  async function tellsUser(context: RequestContext): Promise<boolean> {
    try {
      await http.text({ method: 'GET', path: userInfo }, context)
      well = clock.now()
      return true
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      return false
    }
  }

  function isThere({ deadline, priority }: RequestContext): Promise<boolean> {
    asking ??= tellsUser({ deadline, priority }).finally(() => {
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
      well = clock.now()
      if (path === userInfo) capabilities.tellsUser = true
      return value
    } catch (thrown) {
      if (!(thrown instanceof Failure) || !refusals.has(thrown.kind)) throw thrown
      const isDoubtful = capabilities.tellsUser === true && clock.now() - well >= wellFor
      if (!isDoubtful || (await isThere(context))) throw thrown
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
