// What an answer holds: a text, a body to stream, only a size, or the words of a refusal.
import { Failure } from '../../failure.js'
import type { TextReader } from '../../record/json/items.js'
import { foldedFrom } from '../../record/json/parse.js'
import { weightOf } from '../../record/json/weight.js'
import type { Outgoing } from '../client/attempt.js'
import {
  collectBytes,
  type DeclaredBody,
  declaredBody,
  type FlowControl,
  tooManyBytes,
  wholePieces,
} from '../connection/body.js'
import type { IncomingResponse } from '../connection/exchange.js'
import { networkFailure } from '../connection/network-errors.js'
import {
  type Body,
  type ByteCount,
  type ByteOffset,
  byteCount,
  byteOffset,
  type ContentSize,
  type ContentVersion,
  dateOf,
} from '../remote.js'
import { redactSecrets, secretsIn } from '../secrets.js'

/** Whether a Range was honoured, and the total size if the answer states it. */
export interface RangeProbe {
  readonly honoured: boolean
  readonly size: ByteCount | undefined
  readonly version: ContentVersion | undefined
  /** The content has bytes, and this is a proper answer, but no part that states the size. */
  readonly refused: boolean
}

/** A list is parsed item by item as it arrives: it may be so many times larger than another answer. */
const listToText = 4
/** A text of many short values takes many times its length once it is understood. */
const treeToText = 16
/** …and so many times its length in print. */
const printToText = 4
/** Texts that are too short to matter are not weighed. */
const weighedFrom = 1 << 20
const page =
  'a web page came where data are due: the sign-in page of this network (a browser shows it), a proxy, or another address than that of the REST interface'
const isForeign = true

/** The text of an answer; one that only a closed connection ends may lack its last characters. */
export interface AnsweredText {
  readonly text: string
  readonly isProven: boolean
}

export const nothing = 'the service answered with nothing where data are due'

/** @throws Failure 'broken' for a page of HTML, a cut body, bytes that are no text, or a text that takes too much memory */
export async function answerText(response: IncomingResponse, flow: FlowControl): Promise<AnsweredText> {
  const declared = declaredBody(response.headers)
  if (isHtml(declared)) throw new Failure('broken', page, { isForeign })
  const { limit } = flow.text
  if (declared.length !== undefined && declared.length > limit) throw tooLong(limit)
  const expected = declared.encoding === 'none' ? declared.length : undefined
  const pieces = wholePieces(response.bytes, declared, flow)
  const bytes = await collectBytes(pieces, { limit, expected }).catch(thrown => {
    response.bytes.destroy()
    throw thrown
  })
  const text: string = decoderFor(declared.charset)(bytes).trim()
  if (text.startsWith('<')) throw new Failure('broken', page, { said: text.slice(0, 300), isForeign })
  if (bytes.length >= foldedFrom) flow.text.long(bytes.length)
  if (bytes.length > weighedFrom) {
    const { tree, print } = weightOf(text)
    if (tree > limit * treeToText || print > limit * printToText) throw tooLong(limit)
  }
  return { text, isProven: declared.ends === 'proven' }
}

function tooLong(limit: number): Failure {
  const most = `a record over ${inMiB(limit)} or a list over ${inMiB(limit * listToText)}`
  return new Failure('broken', `the answer takes more memory than calcfs allows: ${most} is not read`)
}

const inMiB = (bytes: number): string => `${bytes >> 20} MiB`

/** The reader, with the whole text of an answer taken. @throws Failure as `answerText` */
export async function readWith<Reader extends TextReader<unknown>>(
  response: IncomingResponse,
  flow: FlowControl,
  reader: Reader,
): Promise<Reader> {
  const declared = declaredBody(response.headers)
  if (isHtml(declared)) throw new Failure('broken', page, { isForeign })
  const decode = decoderFor(declared.charset)
  let begun = false
  let length = 0
  const pieces = wholePieces(response.bytes, declared, flow)
  const limit = flow.text.limit * listToText
  for await (const bytes of pieces) {
    length += bytes.length
    if (length > limit) throw tooManyBytes(limit)
    const piece: string = decode(bytes, { stream: true })
    const start: string = begun ? '' : piece.trimStart()
    if (start.startsWith('<')) throw new Failure('broken', page, { said: start.slice(0, 300), isForeign })
    begun ||= start !== ''
    reader.take(piece)
    if ((reader.held ?? 0) > limit) throw tooLong(flow.text.limit)
  }
  if (length === 0) throw new Failure('broken', nothing)
  reader.take(decode(new Uint8Array(), { stream: false }))
  if (length >= foldedFrom) flow.text.long(length)
  return reader
}

/** The requested bytes; without an end, all from `start` on. */
export interface RequestedRange {
  readonly start: ByteOffset
  readonly end?: ByteOffset | undefined
  /** The version they belong to: of another one the whole may come instead. */
  readonly of?: ContentVersion | undefined
}

/** The validator for a part: a weak tag proves no byte, so only the date remains. */
export function conditionOf(version: ContentVersion | undefined): string | undefined {
  return version?.tag?.startsWith('"') === true ? version.tag : version?.modified
}

/** The body as it streams in; `part` is what was requested if the answer is a part. */
export function streamedBody(
  response: IncomingResponse,
  flow: FlowControl,
  part: RequestedRange | undefined,
): Body {
  const declared = declaredBody(response.headers)
  if (declared.encoding !== 'none')
    throw new Failure('broken', `the file came packed (${declared.encoding}), which was not requested`)
  const range = part === undefined ? undefined : checkedRange(response, declared, part)
  const total = range === undefined ? declared.length : range.total
  return {
    length: total === undefined ? undefined : byteCount(total),
    start: part?.start ?? byteOffset(0),
    end: range === undefined || range.end === range.total ? undefined : byteOffset(range.end),
    ends: declared.ends,
    isPage: isHtml(declared),
    version: contentVersionOf(response),
    bytes: wholePieces(response.bytes, declared, flow),
    cancel: () => response.bytes.destroy(),
  }
}

/** The Content-Length of a HEAD; a zero is not believed, for some services send it with every HEAD. */
export function headSize(response: IncomingResponse): ContentSize | undefined {
  response.bytes.discard()
  const declared = declaredBody(response.headers)
  const believed = declared.encoding === 'none' && !isHtml(declared) && declared.length !== 0
  if (!believed || declared.length === undefined) return undefined
  return { bytes: byteCount(declared.length), modified: dateOf(contentVersionOf(response)) }
}

/** How the service answers a Range of one byte: with that, with everything, or that there is no such byte. */
export type RangeAnswer = 'part' | 'whole' | 'no part'

/** The size from the answer to a Range of one byte; `honoured`: the service answers as one with Range does. */
export async function rangeProbeOf(
  response: IncomingResponse,
  kind: RangeAnswer,
  flow: FlowControl,
): Promise<RangeProbe> {
  const declared = declaredBody(response.headers)
  const version = contentVersionOf(response)
  try {
    // A page or a packed content may hide its size from any service.
    if (isHtml(declared) || declared.encoding !== 'none')
      return { honoured: false, size: undefined, version, refused: false }
    const honoured = kind !== 'whole'
    const size = honoured ? contentRange(response)?.total : declared.length
    // An empty content has no first byte: neither everything nor "no such byte" refuses anything.
    const refused =
      kind === 'whole' ? await hasBytes(response, declared, flow) : kind === 'part' && size === undefined
    return { honoured, size: size === undefined ? undefined : byteCount(size), version, refused }
  } finally {
    response.bytes.destroy()
  }
}

/** Where no length is declared, the first piece shows whether there are bytes. */
async function hasBytes(
  { bytes }: IncomingResponse,
  declared: DeclaredBody,
  flow: FlowControl,
): Promise<boolean> {
  if (declared.length !== undefined) return declared.length > 0
  for await (const piece of wholePieces(bytes, declared, flow)) if (piece.length > 0) return true
  return false
}

/**
 * The validators of an answer (RFC 9110, section 8.8); undefined where it carries none. A date that is that of the answer
 * says when it was sent.
 */
function contentVersionOf({ headers }: IncomingResponse): ContentVersion | undefined {
  const tag = validatorHeader(headers['etag'], /^(W\/)?"[^"]*"$/)
  const date = validatorHeader(headers['last-modified'], /\d/)
  const modified = date === headers['date'] ? undefined : date
  return tag === undefined && modified === undefined ? undefined : { tag, modified }
}

function validatorHeader(header: string | string[] | undefined, form: RegExp): string | undefined {
  const text = typeof header === 'string' ? header.trim() : ''
  return form.test(text) ? text : undefined
}

/** A part must start at the requested byte, end at the requested or the very end, and have its stated size. */
function checkedRange(
  response: IncomingResponse,
  declared: DeclaredBody,
  part: RequestedRange,
): { total: number; end: number } {
  const range = contentRange(response)
  const total = range?.total
  const end = range === undefined ? 0 : range.last + 1
  const isRight =
    range?.first === part.start &&
    total !== undefined &&
    (end === total || (end === part.end && end < total)) &&
    (declared.length === undefined || declared.length === end - part.start)
  if (isRight) return { total, end }
  throw new Failure('broken', `the service sent another part than the asked one, from byte ${part.start} on`)
}

// As `bytes 5-9/10`, `bytes 5-9/*`, or for a range that does not exist `bytes */0`.
function contentRange(
  response: IncomingResponse,
): { first: number; last: number; total: number | undefined } | undefined {
  const header = String(response.headers['content-range'])
  const [, first = '-1', last = '-1', total = '*'] =
    /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/i.exec(header.trim()) ?? []
  const numbers = {
    first: Number(first),
    last: Number(last),
    total: total === '*' ? undefined : Number(total),
  }
  return header === 'undefined' ? undefined : numbers
}

const isHtml = (declared: DeclaredBody): boolean =>
  /^(text\/html|application\/xhtml\+xml)$/.test(declared.mediaType)

function decoding(charset: string) {
  const decoder = new TextDecoder(charset, { fatal: true })
  return (bytes: Uint8Array, how?: { stream: boolean }): string => decoder.decode(bytes, how)
}

function decoderFor(charset: string): (bytes: Uint8Array, how?: { stream: boolean }) => string {
  let decode: ReturnType<typeof decoding> | undefined
  return (bytes, how) => {
    try {
      decode ??= decoding(charset)
      return decode(bytes, how)
    } catch (cause) {
      throw new Failure('broken', `the answer is no text in ${charset}`, { cause })
    }
  }
}

/** No more of an error page than this is read. */
const wordsLimit = 64 * 1024

/** The first 300 characters of a refusal. They are only for messages, so a refusal whose text gets lost keeps its kind. */
export async function refusalText(
  outgoing: Outgoing,
  response: IncomingResponse,
  flow: FlowControl,
): Promise<string | undefined> {
  try {
    const bytes = await collectBytes(wholePieces(response.bytes, declaredBody(response.headers), flow), {
      limit: wordsLimit,
      expected: undefined,
    })
    const words = redactSecrets(bytes.toString(), secretsIn(outgoing.headers['authorization'])).trim()
    return words === '' ? undefined : words.slice(0, 300)
  } catch (thrown) {
    return `(its words could not be read: ${networkFailure(thrown).message})`
  } finally {
    response.bytes.destroy()
  }
}

/** Path and query of a redirect within the service's own origin: the token never goes to another one. */
export function sameOrigin(response: IncomingResponse, from: Outgoing, base: URL): string | undefined {
  const location = response.headers['location']
  if (typeof location !== 'string') return undefined
  if (!URL.canParse(location, `${base.origin}${from.path}`)) return undefined
  const target = new URL(location, `${base.origin}${from.path}`)
  return target.origin === base.origin ? `${target.pathname}${target.search}` : undefined
}

/** The target of a redirect, without path and query: these may hold anything. */
export const originOf = (location: unknown): string =>
  typeof location === 'string' && URL.canParse(location) ? new URL(location).origin : 'another place'
