// Meaning of HTTP answers: the one table from status to failure kind, and which statuses answer which request.
import { Failure, type FailureKind } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import type { TextReader } from '../../record/json/items.js'
import type { JsonText } from '../../record/json/parse.js'
import { Client, type ClientOptions } from '../client/client.js'
import type { Subject } from '../client/late-answer.js'
import { describeRequest, type Outgoing, unknownOutcome } from '../client/outgoing.js'
import { type AttemptResult, retryAfter, withRetries } from '../client/retry.js'
import { observed, type RequestObservers } from '../client/trace.js'
import type { FlowControl } from '../connection/body.js'
import type { IncomingResponse } from '../connection/exchange.js'
import { networkFailure } from '../connection/network-errors.js'
import { firstQuestion } from '../known-question.js'
import { isOtherServers, isRedirect } from '../other-server.js'
import type { Body, ByteOffset, ContentSize, ContentVersion, RequestContext } from '../remote.js'
import {
  type AnswerText,
  answerJsonText,
  answerText,
  conditionOf,
  headSize,
  type RangeAnswer,
  type RangeProbe,
  type RequestedRange,
  rangeProbeOf,
  readWith,
  streamedBody,
} from './answer.js'
import { originOf, refusalText, sameOrigin } from './refusal.js'

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

/** All answers are whole or a Failure; nothing else is ever thrown. */
export interface Http {
  /** The text of a metadata answer, '' for none. */
  text(request: Request, context: RequestContext): Promise<string>
  /** The same of a record, which may be long. */
  jsonText(request: Request, context: RequestContext): Promise<JsonText>
  /** A reader that has taken the whole text of a metadata answer, however long; each attempt begins with a new one. */
  readInto<Reader extends TextReader<unknown>>(
    request: Request,
    reader: () => Reader,
    context: RequestContext,
  ): Promise<Reader>
  /** A streamed body, the requested part of it where the service honours Range. */
  content(
    request: Request,
    start: ByteOffset,
    context: RequestContext,
    end?: ByteOffset,
    of?: ContentVersion,
  ): Promise<Body>
  /** The size that HEAD states, if any, and the date. */
  head(request: Request, context: RequestContext): Promise<ContentSize | undefined>
  /** The size from a Range of one byte. */
  firstByte(request: Request, context: RequestContext): Promise<RangeProbe>
  /** Resolves when no earlier change of it is on its way unanswered. */
  answered(subject: Subject, context: RequestContext): Promise<void>
  /** How many background requests may be in flight now. */
  readonly guesses: number
  /** Since when nothing at all is answered, while requests fail without being sent. */
  readonly away: Client['away']
  /** Ends every connection; what is under way fails. */
  close(): Promise<void>
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
/** Too many requests (RFC 6585), and more than it can do now (RFC 9110). */
const overload = new Set([429, 503])
/** A gateway gave up waiting for the service: a write may still have been carried out. */
const lost = new Set([502, 504])
const ok = 200
const partial = 206
/** By a proxy on the way (RFC 9110, section 15.3.4). */
const transformed = 203
const noSuchRange = 416

/** How one kind of question reads its answers, and which statuses are answers to it. */
interface ResponseReader<Value> {
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

export interface HttpOptions extends ClientOptions, RequestObservers {
  /** The path of a question that the service is known to answer, if one is known. */
  readonly question?: (() => string) | undefined
}

/** The platform behind this address. */
export function openHttp(options: HttpOptions): Http {
  const base = options.base.pathname.replace(/\/$/, '')
  const way = new Client(options, {
    tooMuch: overload,
    probe: () => `${base}${options.question?.() ?? firstQuestion}`,
  })
  const send = observed(way, options)

  function question<Value>(
    request: Request,
    reading: ResponseReader<Value>,
    context: RequestContext,
  ): Promise<Value> {
    const outgoing = outgoingOf(request, `${base}${request.path}`, reading)
    return withRetries(context, way.clock, () => attempt(outgoing, reading, context))
  }

  function attempt<Value>(
    outgoing: Outgoing,
    reading: ResponseReader<Value>,
    context: RequestContext,
  ): Promise<AttemptResult<Value>> {
    let onward: string | undefined
    const sent = send(outgoing, context, (response, flow) => {
      if (reading.accepts(response.status))
        return readAccepted(outgoing, response, () => reading.read(response, flow))
      if (isRedirect(response.status)) onward = sameOrigin(response, outgoing, options.base)
      return refusalFailure(outgoing, response, flow, way.clock.now())
    })
    if (reading.hops === 0 || outgoing.method !== 'GET') return sent
    return sent.then(end =>
      onward === undefined
        ? end
        : attempt({ ...outgoing, path: onward }, { ...reading, hops: reading.hops - 1 }, context),
    )
  }

  return {
    text: (request, context) => askAgainIfDoubtful(request, () => question(request, metadata, context)),
    jsonText: (request, context) => question(request, record, context),
    readInto: (request, reader, context) => question(request, readingInto(reader), context),
    content: (request, start, context, end, of) => question(request, download({ start, end, of }), context),
    head: (request, context) => question({ ...request, method: 'HEAD' }, size, context),
    firstByte: (request, context) => question(request, oneByte, context),
    answered: way.answered,
    get guesses() {
      return way.guesses
    },
    get away() {
      return way.away
    },
    close: way.close,
  }
}

/** A doubtful number is requested twice and must be the same; a write cannot be repeated. */
async function askAgainIfDoubtful(request: Request, ask: () => Promise<AnswerText>): Promise<string> {
  const first = await ask()
  if (!first.doubtful) return first.text
  const kind = request.method === 'GET' ? 'broken' : 'outcome-unknown'
  if (request.method === 'GET' && (await ask()).text === first.text) return first.text
  throw new Failure(kind, `nothing proves that the answer "${first.text}" is whole: it came without a length`)
}

const success = (status: number): boolean => status >= 200 && status < 300

/** "Accepted", a part and "no content" are no record and no list: an empty one may have an effect, as `rmdir` has. */
const whole = (status: number): boolean => status === ok || status === transformed

const json = 'application/json'
const anyBytes = 'application/octet-stream, */*'

const metadata: ResponseReader<AnswerText> = {
  accepts: success,
  read: answerText,
  accept: json,
  weight: 'question',
  hops: 5,
}

const record: ResponseReader<JsonText> = { ...metadata, accepts: whole, read: answerJsonText }

const readingInto = <Reader extends TextReader<unknown>>(reader: () => Reader): ResponseReader<Reader> => ({
  ...metadata,
  accepts: whole,
  read: (response, flow) => readWith(response, flow, reader()),
})

const size: ResponseReader<ContentSize | undefined> = {
  accepts: status => status === ok,
  read: headSize,
  accept: anyBytes,
  weight: 'question',
  hops: 0,
}

const rangeAnswer = (status: number): RangeAnswer =>
  status === partial ? 'part' : status === noSuchRange ? 'no part' : 'whole'

const oneByte: ResponseReader<RangeProbe> = {
  accepts: status => status === ok || status === partial || status === noSuchRange,
  read: (response, flow) => rangeProbeOf(response, rangeAnswer(response.status), flow),
  range: 'bytes=0-0',
  accept: anyBytes,
  weight: 'question',
  hops: 0,
}

function download(part: RequestedRange): ResponseReader<Body> {
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

function outgoingOf(request: Request, path: string, reading: ResponseReader<unknown>): Outgoing {
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
