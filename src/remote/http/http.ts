// Meaning of HTTP answers: the one table from status to failure kind, and which statuses answer which request.
import { Failure, type FailureKind } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import type { TextReader } from '../../record/json/items.js'
import { describeRequest, type Outgoing, unknownOutcome } from '../client/attempt.js'
import { Client, type ClientOptions } from '../client/client.js'
import type { Subject } from '../client/late-answer.js'
import { type AttemptResult, retryAfter, withRetries } from '../client/retry.js'
import type { FlowControl } from '../connection/body.js'
import type { IncomingResponse } from '../connection/exchange.js'
import { isOtherServers, isRedirect, networkFailure } from '../connection/network-errors.js'
import type { Body, ContentSize, RequestContext } from '../remote.js'
import {
  answerText,
  conditionOf,
  headSize,
  nothing,
  originOf,
  type RangeAnswer,
  type RangeProbe,
  type RequestedRange,
  rangeProbeOf,
  readWith,
  refusalText,
  sameOrigin,
  streamedBody,
} from './answer.js'

export interface Request {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** Below the base address, with its query. */
  readonly path: string
  readonly authorization?: string | undefined
  /** JSON text. */
  readonly body?: string | undefined
  /** True where sending twice does no harm although the method writes: a log-in. */
  readonly repeatable?: boolean
  /** What a write changes: the next write of the same waits for its answer. */
  readonly subject?: Subject | undefined
}

/** How one kind of question reads its answers, and which statuses are answers to it. */
export interface Reading<Value> {
  readonly accepts: (status: number) => boolean
  readonly read: (response: IncomingResponse, flow: FlowControl) => MaybePromise<Value>
  readonly range?: string | undefined
  /** If-Range: a version of which alone the range is wanted. */
  readonly condition?: string | undefined
  readonly weight: 'question' | 'download'
  readonly accept: string
  /** Same-origin redirects that may be followed; content follows none. */
  readonly hops: number
}

/** The way of a question to its answer, which is whole, or a Failure. */
export type Ask = <Value>(
  request: Request,
  reading: Reading<Value>,
  context: RequestContext,
) => Promise<Value>

/** What may be asked, whatever lies on the way: a sign-in, a gate, the service. */
export class Http {
  constructor(readonly ask: Ask) {}

  /** The text of a metadata answer, '' for none. */
  text(request: Request, context: RequestContext): Promise<string> {
    return this.ask(request, metadata(request), context)
  }

  /** The same of a resolution, where an empty answer means that there is no such thing. */
  found(request: Request, context: RequestContext): Promise<string> {
    return this.ask(request, metadata(request, 'absent'), context)
  }

  /** The same of a record, which is never empty. */
  jsonText(request: Request, context: RequestContext): Promise<string> {
    return this.ask(request, record, context)
  }

  /** A reader that has taken the whole text of a metadata answer, however long; each attempt begins with a new one. */
  readInto<Reader extends TextReader<unknown>>(
    request: Request,
    reader: () => Reader,
    context: RequestContext,
  ): Promise<Reader> {
    return this.ask(request, readingInto(reader), context)
  }

  /** A streamed body, the requested part of it where the service honours Range. */
  content(request: Request, part: RequestedRange, context: RequestContext): Promise<Body> {
    return this.ask(request, download(part), context)
  }

  /** The size that HEAD states, if any, and the date. */
  head(request: Request, context: RequestContext): Promise<ContentSize | undefined> {
    return this.ask({ ...request, method: 'HEAD' }, size, context)
  }

  /** The size from a Range of one byte. */
  firstByte(request: Request, context: RequestContext): Promise<RangeProbe> {
    return this.ask(request, oneByte, context)
  }
}

const kinds = new Map<number, FailureKind>([
  [400, 'invalid'],
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'absent'],
  [405, 'unsupported'],
  [407, 'forbidden'],
  [408, 'timeout'],
  [409, 'conflict'],
  [410, 'absent'],
  [412, 'conflict'],
  [413, 'too-large'],
  [422, 'invalid'],
  [423, 'busy'],
  [429, 'busy'],
  [501, 'unsupported'],
  [503, 'busy'],
  [504, 'timeout'],
  [507, 'service-full'],
])
/** The same request may be answered a moment later. */
const passing = new Set([408, 423, 429, 502, 503, 504])
/** A gateway gave up waiting for the service: a write may still have been carried out. */
const lost = new Set([502, 504])
/** Too many requests (RFC 6585), and more than it can do now (RFC 9110). */
const overload = new Set([429, 503])
const ok = 200
const partial = 206
/** By a proxy on the way (RFC 9110, section 15.3.4). */
const transformed = 203
const noSuchRange = 416

/** The platform behind this address. */
export function openHttp(options: ClientOptions): Http & { readonly client: Client } {
  const base = options.base.pathname.replace(/\/$/, '')
  const client = new Client(options, overload)

  function attempt<Value>(
    outgoing: Outgoing,
    reading: Reading<Value>,
    context: RequestContext,
  ): Promise<AttemptResult<Value>> {
    let onward: string | undefined
    const sent = client.send<Value>(outgoing, context, (response, flow) => {
      if (reading.accepts(response.status))
        return readAccepted(outgoing, response, () => reading.read(response, flow))
      if (isRedirect(response.status)) onward = sameOrigin(response, outgoing, options.base)
      return refusalFailure(outgoing, response, flow, client.clock.now())
    })
    if (reading.hops === 0 || outgoing.method !== 'GET') return sent
    return sent.then(end =>
      onward === undefined
        ? end
        : attempt({ ...outgoing, path: onward }, { ...reading, hops: reading.hops - 1 }, context),
    )
  }

  const ask: Ask = (request, reading, context) => {
    const outgoing = outgoingOf(request, `${base}${request.path}`, reading)
    return withRetries(context, client.clock, () => attempt(outgoing, reading, context))
  }
  return Object.assign(new Http(ask), { client })
}

const success = (status: number): boolean => status >= 200 && status < 300

/** "Accepted", a part and "no content" are no record and no list: an empty one may have an effect, as `rmdir` has. */
const whole = (status: number): boolean => status === ok || status === transformed

const json = 'application/json'
const anyBytes = 'application/octet-stream, */*'

const short = { accepts: success, accept: json, weight: 'question', hops: 5 } as const

/** A doubtful number is requested twice and must be the same; a write cannot be repeated. */
function metadata({ method }: Request, empty?: 'absent'): Reading<string> {
  let before: string | undefined
  return {
    ...short,
    async read(response, flow) {
      const { text, isProven } = await answerText(response, flow)
      if (!isProven && text !== before && /^-?\d+$/.test(text)) {
        const isFirst = before === undefined
        before = text
        const sentence = `nothing proves that the answer "${text}" is whole: it came without a length`
        throw new Failure('broken', sentence, method === 'GET' && isFirst ? { cause: askAgain } : {})
      }
      if (text === '' && empty === 'absent')
        throw new Failure('absent', 'the service finds nothing under this path')
      return text
    },
  }
}

const askAgain = new Error('asked once more')

const record: Reading<string> = {
  ...short,
  accepts: whole,
  async read(response, flow) {
    const { text } = await answerText(response, flow)
    if (text === '') throw new Failure('broken', nothing)
    return text
  },
}

const readingInto = <Reader extends TextReader<unknown>>(reader: () => Reader): Reading<Reader> => ({
  ...short,
  accepts: whole,
  read: (response, flow) => readWith(response, flow, reader()),
})

const size: Reading<ContentSize | undefined> = {
  accepts: status => status === ok,
  read: headSize,
  accept: anyBytes,
  weight: 'question',
  hops: 0,
}

const rangeAnswer = (status: number): RangeAnswer =>
  status === partial ? 'part' : status === noSuchRange ? 'no part' : 'whole'

const oneByte: Reading<RangeProbe> = {
  accepts: status => status === ok || status === partial || status === noSuchRange,
  read: (response, flow) => rangeProbeOf(response, rangeAnswer(response.status), flow),
  range: 'bytes=0-0',
  accept: anyBytes,
  weight: 'question',
  hops: 0,
}

function download(part: RequestedRange): Reading<Body> {
  const isPart = part.start > 0 || part.end !== undefined
  return {
    accepts: status => status === ok || (status === partial && isPart),
    read: (response, flow) => streamedBody(response, flow, response.status === partial ? part : undefined),
    range: isPart ? `bytes=${part.start}-${part.end === undefined ? '' : part.end - 1}` : undefined,
    condition: isPart ? conditionOf(part.of) : undefined,
    accept: anyBytes,
    weight: 'download',
    hops: 0,
  }
}

function outgoingOf(request: Request, path: string, reading: Reading<unknown>): Outgoing {
  const { authorization, body, subject } = request
  return {
    method: request.method,
    subject,
    path,
    endpoint: request.path.replace(/\?.*/s, ''),
    headers: {
      accept: reading.accept,
      'accept-encoding': 'identity',
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(reading.range === undefined ? {} : { range: reading.range }),
      ...(reading.condition === undefined ? {} : { 'if-range': reading.condition }),
    },
    body,
    weight: reading.weight,
    repeatable: request.repeatable === true || request.method === 'GET' || request.method === 'HEAD',
  }
}

/** Not every POST can be checked afterwards: a 503 without Retry-After may be a gateway's. */
function mayHaveHappened({ method }: Outgoing, { status, headers }: IncomingResponse): boolean {
  return lost.has(status) || (method === 'POST' && status === 503 && headers['retry-after'] === undefined)
}

/** An accepted answer that cannot be read: a read may be repeated, a write was carried out all the same. */
function readAccepted<Value>(
  outgoing: Outgoing,
  response: IncomingResponse,
  read: () => MaybePromise<Value>,
): MaybePromise<AttemptResult<Value>> {
  const well = (value: Value): AttemptResult<Value> => ({ ended: 'well', value })
  const unreadable = (thrown: unknown): AttemptResult<Value> => {
    response.bytes.destroy()
    const failure = networkFailure(thrown)
    if (!outgoing.repeatable)
      return { ended: 'badly', failure: unknownOutcome(outgoing, failure), again: false }
    // With a cause the connection failed; without one the answer itself is wrong and a retry will not help.
    return { ended: 'badly', failure, again: failure.cause !== undefined && failure.kind !== 'timeout' }
  }
  try {
    const value = read()
    return value instanceof Promise ? value.then(well, unreadable) : well(value)
  } catch (thrown) {
    return unreadable(thrown)
  }
}

async function refusalFailure(
  outgoing: Outgoing,
  response: IncomingResponse,
  flow: FlowControl,
  now: number,
): Promise<AttemptResult<never>> {
  const { status, headers } = response
  const said = await refusalText(outgoing, response, flow)
  const target = isRedirect(status)
    ? `, a redirect to ${originOf(headers['location'])} that is not followed`
    : ''
  const sentence = `the service answered ${status} to ${describeRequest(outgoing)}${target}`
  const isForeign = isOtherServers(status)
  const failure = new Failure(kinds.get(status) ?? 'broken', sentence, { said, isForeign })
  if (!outgoing.repeatable && mayHaveHappened(outgoing, response)) {
    return { ended: 'badly', failure: unknownOutcome(outgoing, failure), again: false }
  }
  const again = outgoing.repeatable && passing.has(status)
  return { ended: 'badly', failure, again, after: retryAfter(headers['retry-after'], now) }
}
