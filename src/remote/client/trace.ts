// Trace of each request: a line of the log with its address, its answer and its duration, and the count of its kind.
import type { FailureKind } from '../../failure.js'
import { noop } from '../../noop.js'
import { type RequestContext, requestLogOf } from '../remote.js'
import type { Client } from './client.js'
import { describeRequest } from './outgoing.js'

export interface RequestTrace {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly priority: RequestContext['priority']
  /** From the call until its answer was read, the wait for a slot included. */
  readonly milliseconds: number
  /** Undefined where no head of an answer came. */
  readonly status: number | undefined
  /** Why it failed, if it failed. */
  readonly failure: string | undefined
}

export type TraceRequest = (request: RequestTrace) => void

/** Counts requests by endpoint and outcome. */
export interface RequestCounter {
  begin(): void
  ended(request: {
    readonly method: string
    /** Below the address of the service, without its query. */
    readonly endpoint: string
    /** The HTTP status, or the kind of failure where no head of an answer came. */
    readonly outcome: string
    readonly milliseconds: number
  }): void
}

export interface RequestObservers {
  readonly trace?: TraceRequest | undefined
  readonly counter?: RequestCounter | undefined
}

/** The client's `send`, observed. */
export const observed =
  (client: Client, { trace, counter }: RequestObservers): Client['send'] =>
  async (outgoing, context, judge) => {
    const began = client.clock.now()
    let status: number | undefined
    counter?.begin()
    const ended = requestLogOf(context)?.begin(describeRequest(outgoing)) ?? noop
    const result = await client.send(outgoing, context, (response, flow) => {
      status = response.status
      response.bytes.onClose(ended)
      return judge(response, flow)
    })
    const { method, path, endpoint = '' } = outgoing
    const milliseconds = client.clock.now() - began
    const failure = result.ended === 'badly' ? result.failure : undefined
    if (failure !== undefined) ended()
    counter?.ended({ method, endpoint, outcome: outcomeOf(status, failure?.kind), milliseconds })
    trace?.({ method, path, priority: context.priority, milliseconds, status, failure: failure?.message })
    return result
  }

const outcomeOf = (status: number | undefined, kind: FailureKind | undefined): string =>
  status === undefined ? (kind ?? 'none') : String(status)
