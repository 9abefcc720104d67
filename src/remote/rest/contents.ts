// Contents: their size without their bytes, and their bytes, by what this service is known to do; nothing that came in a file's place is taken for it.
import { derivedKindOf } from '../../content-kinds.js'
import { asFailure, Failure, isA } from '../../failure.js'
import type { RangeProbe } from '../http/answer.js'
import {
  type Body,
  type ByteOffset,
  byteOffset,
  type Content,
  type ContentFacts,
  type ContentSize,
  type ContentVersion,
  dateOf,
  type RequestContext,
} from '../remote.js'
import type { Gate } from './gate.js'
import { isItsWay, isSampled } from './lacking.js'

/** The size from HEAD; `refused`: a proper answer without a size. */
interface HeadSize {
  readonly told: ContentSize | undefined
  readonly refused: boolean
}

const beginning = byteOffset(0)
const nameOfPage = /\.x?html?$/i
/** No generated file begins with more blanks. */
const blanksAtMost = 4096

export class Contents {
  /** `pathOf` is the question for the bytes; `answers` shows that the platform itself answers now. */
  constructor(
    private readonly gate: Gate,
    private readonly pathOf: (content: Content) => string,
    private readonly answers: (content: Content, context: RequestContext) => Promise<unknown>,
  ) {}

  /** Undefined where this service does not state it. @throws Failure, 'absent' only if a GET says so: a service without HEAD may call everything absent */
  async size(content: Content, context: RequestContext): Promise<ContentSize | undefined> {
    const { of } = content
    const source = this.gate.known.sizes[of]
    if (source === undefined && this.#isAssumedUnknown(of)) return undefined
    const path = this.pathOf(content)
    const head = source === 'range' ? undefined : await this.#sizeByHead(path, context)
    if (head?.told !== undefined) {
      this.gate.known.sizes[of] = 'head'
      return this.#plausible(content, head.told)
    }
    const { honoured, size, version, refused } = await this.#firstByte(path, context)
    // A service that has stated sizes before is always asked again; an error in place of an answer proves nothing.
    if (source === undefined && honoured && size !== undefined) this.gate.known.sizes[of] = 'range'
    else if (source === undefined && head?.refused && refused) this.#countUnknownSize(of)
    if (honoured) Object.assign(this.gate.known, { ranges: true, unranged: 0 })
    // The total length also comes from the body itself, so it is no second source.
    if (!honoured || size === undefined) return undefined
    return this.#plausible(content, { bytes: size, modified: dateOf(version) })
  }

  /** The statement of each source now; discovered capabilities do not skip the request. @throws Failure as `size` */
  async facts(content: Content, context: RequestContext): Promise<ContentFacts> {
    const path = this.pathOf(content)
    const { told } = await this.#sizeByHead(path, context)
    const { honoured, size, version } = await this.#firstByte(path, context)
    if (told !== undefined || (honoured && size !== undefined && size > 0)) this.#forgetUnknownSizes(content)
    return { head: told?.bytes, range: honoured ? size : undefined, version }
  }

  /** The bytes from `start` on, as `Remote.content` says. */
  async body(
    content: Content,
    start: ByteOffset,
    context: RequestContext,
    end?: ByteOffset,
    of?: ContentVersion,
  ): Promise<Body> {
    const derived = derivedKindOf(content.of)
    const part = this.#asksForParts() ? { start, end } : { start: beginning, end: undefined }
    const condition = this.gate.known.conditions === false ? undefined : of
    const path = this.pathOf(content)
    const range = { ...part, of: condition }
    const first = await this.gate.http.content({ method: 'GET', path }, range, context).catch(thrown => {
      if ((part.start === 0 && part.end === undefined) || !mayRefuseRange(thrown)) throw thrown
    })
    if (first === undefined) return this.#unranged(content, context)
    const isSame = isVersion(first, of)
    let body = first
    if (condition !== undefined && isSame && isWholeContent(first, part)) {
      // A service that does not know the condition sends everything; without it, it may send the part.
      this.gate.known.conditions = false
      first.cancel()
      body = await this.gate.http.content({ method: 'GET', path }, part, context)
    } else if (!isUntold(first)) {
      if (body.start > 0 || body.end !== undefined) this.#forgetUnknownSizes(content)
      if (part.start > 0 && (of === undefined || isSame)) this.#noteRange(body.start === part.start)
    }
    if (isUntold(body)) {
      body.cancel()
      return this.#unranged(content, context)
    }
    if (body.length === 0) await orCancelled(body, this.gate.unlessFaulty(path, context))
    if (derived !== undefined)
      return filledBody(body, `${derived.label} ${content.title}`, derived.fewestBytes)
    if (body.isPage !== true) return body
    const ends = await orCancelled(body, this.#endsOfPage(body, content, context))
    if (ends !== 'twice' || (body.start === 0 && body.end === undefined)) return { ...body, ends }
    // A part alone cannot be compared.
    body.cancel()
    return this.body(content, beginning, context)
  }

  async #unranged(content: Content, context: RequestContext): Promise<Body> {
    const body = await this.body(content, beginning, context)
    // Where this is refused, too, it was not the Range.
    this.#noteRange(false)
    return body
  }

  /**
   * A document of HTML counts while the platform, and no other server, answers: a sign-in page, a portal's and an error look
   * the same. Under a name other than `.html` it must come twice the same.
   * @throws Failure 'broken' where nothing shows that the platform has sent it
   */
  async #endsOfPage(
    { ends }: Pick<Body, 'ends'>,
    content: Content,
    context: RequestContext,
  ): Promise<Body['ends']> {
    try {
      // Its connection may be taken until its bytes are read.
      await this.answers(content, { ...context, holdsSlot: true })
    } catch (thrown) {
      const { message, said, isForeign } = asFailure(thrown)
      const sentence = `a web page came in the place of ${content.title}, and nothing shows that it is the file: ${message}`
      throw new Failure('broken', sentence, { said, isForeign })
    }
    return nameOfPage.test(content.title) ? ends : 'twice'
  }

  /** True if a part is requested at all. */
  #asksForParts(): boolean {
    if (this.gate.known.ranges !== false) return true
    this.gate.known.unranged = (this.gate.known.unranged ?? 0) + 1
    return isSampled(this.gate.known.unranged)
  }

  /** The whole content may come in place of a part. */
  #noteRange(honoured: boolean): void {
    this.gate.known.unranged = honoured ? 0 : (this.gate.known.unranged ?? 0) + 1
    if (honoured || isItsWay(this.gate.known.unranged)) this.gate.known.ranges = honoured
  }

  /** After several contents in a row without a size this service counts as one without HEAD and Range for them. */
  #isAssumedUnknown(of: Content['of']): boolean {
    const timesUnknown = this.gate.known.untold?.[of] ?? 0
    if (!isItsWay(timesUnknown)) return false
    this.#countUnknownSize(of)
    return !isSampled(timesUnknown)
  }

  #countUnknownSize(of: Content['of']): void {
    this.gate.known.untold = { ...this.gate.known.untold, [of]: (this.gate.known.untold?.[of] ?? 0) + 1 }
  }

  /** A part came, or a length was stated after all: what was concluded about the service is dropped. */
  #forgetUnknownSizes({ of }: Content): void {
    if (this.gate.known.untold?.[of] !== undefined)
      this.gate.known.untold = { ...this.gate.known.untold, [of]: 0 }
  }

  /** A smaller length than a generated file has is no length of the file. */
  #plausible({ of }: Content, told: ContentSize): ContentSize | undefined {
    return told.bytes < (derivedKindOf(of)?.fewestBytes ?? 0) ? undefined : told
  }

  #firstByte(path: string, context: RequestContext): Promise<RangeProbe> {
    return this.gate.http.firstByte({ method: 'GET', path }, context).catch((thrown: unknown) => {
      if (!mayRefuseRange(thrown)) throw thrown
      // A 400 may be about this file alone.
      const refused = asFailure(thrown).kind === 'unsupported'
      return { honoured: false, size: undefined, version: undefined, refused }
    })
  }

  /** Only a failure that every other request would meet is thrown. */
  async #sizeByHead(path: string, context: RequestContext): Promise<HeadSize> {
    try {
      return { told: await this.gate.http.head({ method: 'HEAD', path }, context), refused: true }
    } catch (failure) {
      const refusesHead = failure instanceof Failure && (isA('denial', failure) || failure.kind === 'broken')
      if (!refusesHead) throw failure
      return { told: undefined, refused: failure.kind !== 'broken' }
    }
  }
}

/** 400, 405 and 501 may refuse the Range alone, in the place of ignoring it: without it the content is asked for once more. */
const mayRefuseRange = (thrown: unknown): boolean => /^(invalid|unsupported)$/.test(asFailure(thrown).kind)

const isVersion = ({ version }: Body, other: ContentVersion | undefined): boolean =>
  other !== undefined && version?.tag === other.tag && version?.modified === other.modified

/** A part that does not say how long the whole is: it cannot be told from a cut one. */
const isUntold = ({ end, length }: Body): boolean => end !== undefined && length === undefined

/** A part was requested, and the whole comes. */
function isWholeContent(
  body: Body,
  part: { readonly start: ByteOffset; readonly end: ByteOffset | undefined },
): boolean {
  if (part.start > 0) return body.start !== part.start
  return part.end !== undefined && body.end === undefined && (body.length ?? part.end + 1) > part.end
}

/** The body of a generated file: a page, or an empty, blank or `null` answer under status 200 is an error, never a file. */
function filledBody(body: Body, file: string, fewestBytes: number): Body {
  const wrong =
    body.isPage === true
      ? new Failure('broken', `a web page came in the place of the ${file}`)
      : body.start === 0 && body.length !== undefined && body.length < fewestBytes
        ? nothing(file)
        : undefined
  if (wrong !== undefined) {
    body.cancel()
    throw wrong
  }
  return body.start > 0 ? body : { ...body, bytes: filled(body.bytes, file) }
}

/** Yields nothing before a non-blank byte, so that an error is not taken for the rest. @throws Failure 'broken' while iterated */
async function* filled(pieces: Body['bytes'], file: string): AsyncGenerator<Uint8Array> {
  const held: Uint8Array[] = []
  let bytes = 0
  let start = ''
  for await (const piece of pieces) {
    if (!isNothing(start)) {
      yield piece
      continue
    }
    held.push(piece)
    bytes += piece.length
    start += Buffer.from(piece).toString().trim()
    if (!isNothing(start)) yield* held
    else if (bytes > blanksAtMost) break
  }
  if (isNothing(start)) throw nothing(file)
}

/** The same, or the body is cancelled. */
async function orCancelled<Value>({ cancel }: Body, proof: Promise<Value>): Promise<Value> {
  try {
    return await proof
  } catch (thrown) {
    cancel()
    throw thrown
  }
}

const nothing = (file: string): Failure =>
  new Failure('broken', `the service answered with nothing in the place of the ${file}`)

const isNothing = (start: string): boolean => start === '' || 'null'.startsWith(start)
