// Outgoing request: what it is called in a sentence, what it changes, and what of it goes to the connection.
import { Failure } from '../../failure.js'
import type { RequestContext } from '../remote.js'
import type { Subject } from './late-answer.js'
import type { TrafficClass } from './limiter.js'

export interface Outgoing {
  readonly method: string
  /** Path and query as they are sent. */
  readonly path: string
  /** The operation: the path below the service's address as it was asked first, without its query; a redirect keeps it. */
  readonly endpoint?: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly weight: TrafficClass
  /** False for a write: if its answer is lost, the outcome is unknown. */
  readonly repeatable: boolean
  /** What a write changes. */
  readonly subject?: Subject | undefined
}

/** What a write changes; names of one project are one subject. */
export function subjectsOf({ subject }: Outgoing, { names }: RequestContext): readonly Subject[] {
  if (subject === undefined) return []
  return names === undefined ? [subject] : [subject, `names in ${names}`]
}

/** The failure of a write that may have been carried out. */
export function unknownOutcome(outgoing: Outgoing, cause: Failure): Failure {
  const sentence = `${describeRequest(outgoing)} was sent, but whether it was carried out is unknown: ${cause.message}`
  return new Failure('outcome-unknown', sentence, { cause, said: cause.said })
}

/** A request in an error's sentence. */
export const describeRequest = (outgoing: Outgoing): string =>
  `${outgoing.method} ${outgoing.path.slice(0, 300)}`

/** For the connection. */
export const wireOptions = (
  origin: string,
  outgoing: Pick<Outgoing, 'method' | 'path' | 'headers' | 'body'>,
) => ({
  origin,
  path: outgoing.path,
  method: outgoing.method,
  headers: { ...outgoing.headers },
  body: outgoing.body ?? null,
  // undici closes the connection after a HEAD unless `reset` is false.
  reset: false,
})
