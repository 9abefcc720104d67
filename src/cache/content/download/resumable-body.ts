// Resumable body: a connection lost halfway is resumed at the lost byte, if the service honours Range.
import { type Body, type ByteOffset, byteOffset } from '../../../remote/remote.js'
import { isContradiction } from '../versions/contradiction.js'

export interface BodyTransfer {
  /** Asks for the bytes from there on. */
  readonly begin: (start: ByteOffset) => Promise<Body>
  /** Where the next piece belongs. */
  readonly position: () => number
  /** The next piece is pulled when this one was taken; false where no more is wanted. */
  readonly take: (piece: Uint8Array) => Promise<boolean> | boolean
}

/** A link that breaks more often than this within one file is not worth the requests. */
const cutsAtMost = 64
/** Of bodies that bring nothing at all, one is taken for an accident. */
const inVainAtMost = 1

/** Rejects with what `take` throws, or with why the body was lost. */
export async function readResumably(first: Body, transfer: BodyTransfer): Promise<void> {
  let body = first
  let inVain = 0
  for (let cuts = 0; ; cuts += 1) {
    const before = transfer.position()
    try {
      return await readPieces(body, transfer)
    } catch (error) {
      if (!(error instanceof BodyLost)) throw error
      inVain = transfer.position() === before ? inVain + 1 : 0
      if (cuts === cutsAtMost || inVain > inVainAtMost || body.ends !== 'proven') throw error.reason
      body = await resumeBody(error.reason, transfer)
    }
  }
}

/** Whatever goes wrong here, the first loss is what the reader should hear of, save that the rest is no rest of this. */
async function resumeBody(reason: unknown, transfer: BodyTransfer): Promise<Body> {
  const start = byteOffset(transfer.position())
  const body = await transfer.begin(start).catch((thrown: unknown) => {
    throw isContradiction(thrown) ? thrown : reason
  })
  if (body.start === start && body.ends === 'proven') return body
  body.cancel()
  throw reason
}

async function readPieces(body: Body, transfer: BodyTransfer): Promise<void> {
  const pieces = body.bytes[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await pieces.next().catch(asBodyLost)
      if (next.done === true) return
      const more = transfer.take(next.value)
      if (!(typeof more === 'boolean' ? more : await more)) return
    }
  } finally {
    body.cancel()
  }
}

/** The service's side failed, not ours. */
class BodyLost {
  constructor(readonly reason: unknown) {}
}

function asBodyLost(reason: unknown): never {
  throw new BodyLost(reason)
}
