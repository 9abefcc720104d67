// Meaning of HTTP answers: the one table from status to failure kind, and which statuses answer which request.
import { Failure, type FailureKind } from '../../failure.js'
import type { TextReader } from '../../record/json/items.js'
import { Client, type ClientOptions } from '../client/client.js'
import type { Subject } from '../client/late-answer.js'
import {
  type AttemptResult,
  describeRequest,
  type Outgoing,
  type Question,
  unknownOutcome,
} from '../client/outgoing.js'
import { pathBelow } from '../connection/connections.js'
import type { Head } from '../connection/exchange.js'
import { isOtherServers, isRedirect } from '../connection/network-errors.js'
import type { Body, ContentSize, RequestContext } from '../remote.js'
import {
  conditionOf,
  headSize,
  ListSink,
  nothing,
  originOf,
  type RangeAnswer,
  type RangeProbe,
  type RequestedRange,
  rangeProbeOf,
  streamedBody,
  TextSink,
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

/** The way of a question to its answer, which is whole, or a Failure. */
export type Ask = <Value>(
  request: Request,
  question: Question<Value>,
  context: RequestContext,
) => Promise<Value>

/** What may be asked, whatever lies on the way: a sign-in, a gate, the service. */
export class Http {
  constructor(readonly ask: Ask) {}

  /** The text of a metadata answer, '' for none; of a resolution an empty answer means that there is no such thing. */
  text(request: Request, context: RequestContext, empty?: 'absent'): Promise<string> {
    return this.ask(request, metadata(request, empty), context)
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

const success = (status: number): boolean => status >= 200 && status < 300

/** "Accepted", a part and "no content" are no record and no list: an empty one may have an effect, as `rmdir` has. */
const whole = (status: number): boolean => status === ok || status === transformed

const json = ['accept', 'application/json', 'accept-encoding', 'identity'] as const
const anyBytes = ['accept', 'application/octet-stream, */*', 'accept-encoding', 'identity'] as const

function questionOf<Value>(
  accepts: (status: number) => boolean,
  read: Question<Value>['read'],
  headers: readonly string[] = json,
): Question<Value> {
  return { accepts, read, headers, weight: 'question' }
}

/** A doubtful number is requested twice and must be the same; a write cannot be repeated. */
function metadata({ method }: Request, empty?: 'absent'): Question<string> {
  let before: string | undefined
  const read = (text: string, isProven: boolean): string => {
    if (!isProven && text !== before && /^-?\d+$/.test(text)) {
      const isFirst = before === undefined
      before = text
      const sentence = `nothing proves that the answer "${text}" is whole: it came without a length`
      throw new Failure('broken', sentence, method === 'GET' && isFirst ? { cause: askAgain } : {})
    }
    if (text === '' && empty === 'absent')
      throw new Failure('absent', 'the service finds nothing under this path')
    return text
  }
  return questionOf(success, ({ declared }) => ({ sink: new TextSink(declared, read) }))
}

const askAgain = new Error('asked once more')

const record = questionOf(whole, ({ declared }) => ({ sink: new TextSink(declared, unlessEmpty) }))

function unlessEmpty(text: string): string {
  if (text === '') throw new Failure('broken', nothing)
  return text
}

const readingInto = <Reader extends TextReader<unknown>>(reader: () => Reader): Question<Reader> =>
  questionOf(whole, ({ declared }) => ({ sink: new ListSink(declared, reader()) }))

const size = questionOf(status => status === ok, headSize, anyBytes)

const rangeAnswer = (status: number): RangeAnswer =>
  status === partial ? 'part' : status === noSuchRange ? 'no part' : 'whole'

const oneByte = questionOf(
  status => status === ok || status === partial || status === noSuchRange,
  answer => rangeProbeOf(answer, rangeAnswer(answer.status)),
  [...anyBytes, 'range', 'bytes=0-0'],
)

function download(part: RequestedRange): Question<Body> {
  const isPart = part.start > 0 || part.end !== undefined
  const range = `bytes=${part.start}-${part.end === undefined ? '' : part.end - 1}`
  const condition = isPart ? conditionOf(part.of) : undefined
  return {
    accepts: status => status === ok || (status === partial && isPart),
    read: (answer, exchange) => streamedBody(answer, exchange, answer.status === partial ? part : undefined),
    headers: [
      ...anyBytes,
      ...(isPart ? ['range', range] : []),
      ...(condition === undefined ? [] : ['if-range', condition]),
    ],
    weight: 'download',
  }
}

export function openHttp(options: ClientOptions): Http & { readonly client: Client } {
  const client = new Client(options, { isOverload: status => overload.has(status), refused })
  const ask: Ask = (request, question, context) => {
    const outgoing = outgoingOf(request, pathBelow(options.base, request.path), question)
    return client.ask(outgoing, context, question)
  }
  return Object.assign(new Http(ask), { client })
}

function outgoingOf(request: Request, path: string, question: Question<unknown>): Outgoing {
  const { method, authorization, body, subject } = request
  const headers = [...question.headers]
  if (authorization !== undefined) headers.push('authorization', authorization)
  if (body !== undefined) headers.push('content-type', 'application/json')
  const query = request.path.indexOf('?')
  return {
    method,
    path,
    headers,
    body,
    endpoint: query === -1 ? request.path : request.path.slice(0, query),
    authorization,
    subject,
    weight: question.weight,
    repeatable: request.repeatable === true || method === 'GET' || method === 'HEAD',
  }
}

function refused(
  outgoing: Outgoing,
  head: Head,
  said: string | undefined,
  now: number,
): AttemptResult<never> {
  const { status, headers } = head
  const target = isRedirect(status)
    ? `, a redirect to ${originOf(headers['location'])} that is not followed`
    : ''
  const sentence = `the service answered ${status} to ${describeRequest(outgoing)}${target}`
  const isForeign = isOtherServers(status)
  const failure = new Failure(kinds.get(status) ?? 'broken', sentence, { said, isForeign })
  if (!outgoing.repeatable && mayHaveHappened(outgoing, head))
    return { ended: 'badly', failure: unknownOutcome(outgoing, failure), again: false }
  const again = outgoing.repeatable && passing.has(status)
  return { ended: 'badly', failure, again, after: retryAfter(headers['retry-after'], now) }
}

/** Not every POST can be checked afterwards: a 503 without Retry-After may be a gateway's. */
function mayHaveHappened({ method }: Outgoing, { status, headers }: Head): boolean {
  return lost.has(status) || (method === 'POST' && status === 503 && headers['retry-after'] === undefined)
}

/** Milliseconds of a Retry-After header (seconds or an HTTP date); undefined for none or an invalid one. */
export function retryAfter(header: unknown, now: number): number | undefined {
  if (typeof header !== 'string') return undefined
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
