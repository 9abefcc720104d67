// What an answer holds: a text, a body to stream, only a size, or the words of a refusal.
import { Failure } from '../../failure.js'
import type { TextReader } from '../../record/json/items.js'
import { weightOf } from '../../record/json/walk.js'
import type { AnswerHead, Reading, Sink } from '../client/outgoing.js'
import { BodyStream, CollectedBytes, type DeclaredBody, tooManyBytes } from '../connection/body.js'
import type { Exchange } from '../connection/exchange.js'
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

/** The answer to a Range: honoured or not, and the total size if it is stated. */
export interface RangeProbe {
  readonly honoured: boolean
  readonly size: ByteCount | undefined
  readonly version: ContentVersion | undefined
  /** The content has bytes, and this is a proper answer, but no part that states the size. */
  readonly refused: boolean
}

/** The limit in bytes of an answer that is not content. */
export const mostOfAnswer = 16 << 20
/** A list is parsed item by item as it arrives: it may be so long. */
const mostOfList = 64 << 20
/** A text of many short values takes many times its length once it is understood, and in print. */
const [mostAsTree, mostInPrint] = [256 << 20, 64 << 20]
/** Texts that are too short to matter are not weighed. */
const weighedFrom = 1 << 20
const page =
  'a web page came where data are due: the sign-in page of this network (a browser shows it), a proxy, or another address than that of the REST interface'
const isForeign = true

export const nothing = 'the service answered with nothing where data are due'

const tooLong = (): Failure =>
  new Failure(
    'broken',
    'the answer takes more memory than calcfs allows: a record over 16 MiB or a list over 64 MiB is not read',
  )

/** @throws Failure 'broken' for what cannot be data */
function unlessData(declared: DeclaredBody): void {
  if (isHtml(declared)) throw new Failure('broken', page, { isForeign })
  if (declared.packed !== undefined) throw packed('answer', declared)
}

const packed = (what: string, declared: DeclaredBody): Failure =>
  new Failure('broken', `the ${what} came packed (${declared.packed}), which was not requested`)

/** The whole text of an answer; `isProven`: it lacks no character at its end, as one that only a closed connection ends may. */
export class TextSink implements Sink<string> {
  readonly #bytes = new CollectedBytes()

  /** @throws Failure 'broken' for a page of HTML, a packed or too long answer */
  constructor(
    private readonly declared: DeclaredBody,
    private readonly read: (text: string, isProven: boolean) => string,
  ) {
    unlessData(declared)
    if ((declared.length ?? 0) > mostOfAnswer) throw tooLong()
  }

  take(piece: Uint8Array): undefined {
    this.#bytes.add(piece)
    if (this.#bytes.length > mostOfAnswer) throw tooManyBytes(mostOfAnswer)
  }

  /** @throws Failure 'broken' for a page of HTML, bytes that are no text, or a text that takes too much memory */
  end(): string {
    const { declared } = this
    const text = wholeTextIn(this.#bytes.bytes, declared.charset).trim()
    if (text.startsWith('<')) throw new Failure('broken', page, { said: text.slice(0, 300), isForeign })
    if (this.#bytes.length > weighedFrom) {
      const { tree, print } = weightOf(text)
      if (tree > mostAsTree || print > mostInPrint) throw tooLong()
    }
    return this.read(text, declared.ends === 'proven')
  }
}

/** A list, parsed as it arrives; its value is the reader that has taken all of it. */
export class ListSink<Reader extends TextReader<unknown>> implements Sink<Reader> {
  readonly #decoder: Decoder
  #hasBegun = false
  #length = 0

  constructor(
    declared: DeclaredBody,
    private readonly reader: Reader,
  ) {
    unlessData(declared)
    this.#decoder = decoderFor(declared.charset)
  }

  take(bytes: Uint8Array): undefined {
    this.#length += bytes.length
    if (this.#length > mostOfList) throw tooManyBytes(mostOfList)
    const piece = textIn(bytes, this.#decoder, { stream: true })
    const start = this.#hasBegun ? '' : piece.trimStart()
    if (start.startsWith('<')) throw new Failure('broken', page, { said: start.slice(0, 300), isForeign })
    this.#hasBegun ||= start !== ''
    this.reader.take(piece)
    if ((this.reader.held ?? 0) > mostOfList) throw tooLong()
  }

  end(): Reader {
    if (this.#length === 0) throw new Failure('broken', nothing)
    this.reader.take(textIn(new Uint8Array(), this.#decoder, { stream: false }))
    return this.reader
  }
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
  answer: AnswerHead,
  exchange: Exchange,
  part: RequestedRange | undefined,
): Reading<Body> {
  const { declared } = answer
  if (declared.packed !== undefined) throw packed('file', declared)
  const range = part && checkedRange(answer, part)
  const total = range === undefined ? declared.length : range.total
  const bytes = new BodyStream(exchange)
  const value = {
    length: total === undefined ? undefined : byteCount(total),
    start: part?.start ?? byteOffset(0),
    end: range === undefined || range.end === range.total ? undefined : byteOffset(range.end),
    ends: declared.ends,
    isPage: isHtml(declared),
    version: contentVersionOf(answer),
    bytes,
    cancel: () => bytes.cancel(),
  }
  return { value, rest: bytes }
}

/** The Content-Length of a HEAD; a zero is not believed, for some services send it with every HEAD. */
export function headSize(answer: AnswerHead): Reading<ContentSize | undefined> {
  const { length, packed: encoding } = answer.declared
  const isBelieved = encoding === undefined && !isHtml(answer.declared) && length !== undefined && length > 0
  const value = isBelieved
    ? { bytes: byteCount(length), modified: dateOf(contentVersionOf(answer)) }
    : undefined
  return { value, rest: 'discarded' }
}

/** How the service answers a Range of one byte: with that, with everything, or that there is no such byte. */
export type RangeAnswer = 'part' | 'whole' | 'no part'

/** The size from the answer to a Range of one byte; `honoured`: the service answers as one with Range does. */
export function rangeProbeOf(answer: AnswerHead, kind: RangeAnswer): Reading<RangeProbe> {
  const { declared } = answer
  const version = contentVersionOf(answer)
  // A page or a packed content may hide its size from any service.
  if (isHtml(declared) || declared.packed !== undefined)
    return { value: { honoured: false, size: undefined, version, refused: false }, rest: 'ended' }
  const honoured = kind !== 'whole'
  const total = honoured ? contentRange(answer)?.total : declared.length
  const size = total === undefined ? undefined : byteCount(total)
  const told = (refused: boolean): RangeProbe => ({ honoured, size, version, refused })
  // An empty content has no first byte: neither everything nor "no such byte" refuses anything.
  if (kind !== 'whole') return { value: told(kind === 'part' && size === undefined), rest: 'ended' }
  if (declared.length !== undefined) return { value: told(declared.length > 0), rest: 'ended' }
  // Where no length is declared, the first piece shows whether there are bytes.
  let hasBytes = false
  return {
    sink: {
      take({ length }) {
        hasBytes = length > 0
        return hasBytes
      },
      end: () => told(hasBytes),
    },
  }
}

/** The validators of an answer (RFC 9110, section 8.8). A date that is that of the answer says when it was sent. */
function contentVersionOf({ headers }: AnswerHead): ContentVersion | undefined {
  const tag = validatorHeader(headers['etag'], /^(W\/)?"[^"]*"$/)
  const date = validatorHeader(headers['last-modified'], /\d/)
  const modified = date === headers['date'] ? undefined : date
  return tag === undefined && modified === undefined ? undefined : { tag, modified }
}

function validatorHeader(header: string | string[] | undefined, form: RegExp): string | undefined {
  const text = typeof header === 'string' ? header.trim() : ''
  return form.test(text) ? text : undefined
}

/** A part must start at the requested byte, end at the requested or the very end where that is stated, and have its stated size. */
function checkedRange(answer: AnswerHead, part: RequestedRange): { total: number | undefined; end: number } {
  const range = contentRange(answer)
  const { declared } = answer
  const total = range?.total
  const end = range === undefined ? 0 : range.last + 1
  const isRight =
    range?.first === part.start &&
    (total === undefined || end === total || (end === part.end && end < total)) &&
    (declared.length === undefined || declared.length === end - part.start)
  if (isRight) return { total, end }
  throw new Failure('broken', `the service sent another part than the asked one, from byte ${part.start} on`)
}

// As `bytes 5-9/10`, `bytes 5-9/*`, or for a range that does not exist `bytes */0`.
function contentRange({ headers }: AnswerHead) {
  const header = headers['content-range']
  if (header === undefined) return undefined
  const [, first = '-1', last = '-1', total] =
    /^bytes (?:(\d+)-(\d+)|\*)\/(?:(\d+)|\*)$/i.exec(String(header).trim()) ?? []
  return {
    first: Number(first),
    last: Number(last),
    total: total === undefined ? undefined : Number(total),
  }
}

const isHtml = (declared: DeclaredBody): boolean =>
  /^(text\/html|application\/xhtml\+xml)$/.test(declared.mediaType)

type Decoder = InstanceType<typeof TextDecoder>

/** @throws Failure 'broken' where it is none */
function textIn(bytes: Uint8Array, decoder: Decoder, how?: { stream: boolean }): string {
  try {
    return decoder.decode(bytes, how)
  } catch (cause) {
    throw new Failure('broken', `the answer is no text in ${decoder.encoding}`, { cause })
  }
}

function decoderFor(charset: string): Decoder {
  try {
    return new TextDecoder(charset, { fatal: true })
  } catch (cause) {
    throw new Failure('broken', `the answer is no text in ${charset}`, { cause })
  }
}

/** Of whole texts, one after the other; a decoder takes long to make. */
let wholeTexts = { charset: 'utf-8', decoder: decoderFor('utf-8') }

function wholeTextIn(bytes: Uint8Array, charset: string): string {
  if (wholeTexts.charset !== charset) wholeTexts = { charset, decoder: decoderFor(charset) }
  return textIn(bytes, wholeTexts.decoder)
}

/** The target of a redirect, without path and query: these may hold anything. */
export const originOf = (location: unknown): string =>
  typeof location === 'string' && URL.canParse(location) ? new URL(location).origin : 'another place'
