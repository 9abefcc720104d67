// Trace of each request in the log, one line: its address, its answer, and its duration.
import type { RequestContext } from '../remote.js'
import type { RequestPipeline } from './request-pipeline.js'

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

/** The pipeline's `send`, traced. */
export const traced =
  ({ send, clock }: RequestPipeline, trace: TraceRequest): RequestPipeline['send'] =>
  async (outgoing, context, judge) => {
    const began = clock.now()
    let status: number | undefined
    const result = await send(outgoing, context, (response, flow) => {
      status = response.status
      return judge(response, flow)
    })
    trace({
      method: outgoing.method,
      path: outgoing.path,
      priority: context.priority,
      milliseconds: clock.now() - began,
      status,
      failure: result.ended === 'badly' ? result.failure.message : undefined,
    })
    return result
  }
