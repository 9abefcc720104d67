// An answer as it goes over the wire: first as what it means, then as bytes, with what happens to the connection meanwhile.
import type { Socket } from 'node:net'

/** What a proper service would say. */
export interface Answer {
  readonly version: string
  readonly status: number
  readonly reason: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
  /** `told` claims a length without a body behind it: HEAD. */
  readonly framing: 'length' | 'chunked' | 'close' | 'none' | { readonly told: number }
}

/** The bytes of an answer, and how they are sent. */
export interface Wire {
  /** Milliseconds before the first byte. */
  readonly delay: number
  readonly interim: Buffer
  readonly head: Buffer
  readonly body: Buffer
  readonly tail: Buffer
  /** Bytes of head and body together after which something happens instead of the rest. */
  readonly cut?: { readonly at: number; readonly by: 'fin' | 'reset' | 'stall' }
  /** So many bytes, then so many milliseconds. */
  readonly pace?: { readonly bytes: number; readonly milliseconds: number }
  readonly after: 'keep' | 'fin' | 'reset'
}

/** A proper answer of a text. */
export const said = (status: number, body: string | Buffer, type = 'application/json'): Answer => ({
  version: 'HTTP/1.1',
  status,
  reason: 'OK',
  headers: [['Content-Type', type]],
  body: Buffer.from(body),
  framing: 'length',
})

export const withHeader = (answer: Answer, name: string, value: string): Answer => ({
  ...answer,
  headers: [...answer.headers, [name, value]],
})

export const withoutHeader = (answer: Answer, name: string): Answer => ({
  ...answer,
  headers: answer.headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase()),
})

/** The bytes a proper server would write; `isHead` leaves the body out. */
export function wireOf(answer: Answer, isHead: boolean): Wire {
  const { version, status, reason, headers, body, framing } = answer
  const length = typeof framing === 'object' ? framing.told : body.length
  const framed: readonly (readonly [string, string])[] =
    framing === 'chunked'
      ? [['Transfer-Encoding', 'chunked']]
      : framing === 'length' || typeof framing === 'object'
        ? [['Content-Length', String(length)]]
        : framing === 'close'
          ? [['Connection', 'close']]
          : []
  const lines = [
    `${version} ${status} ${reason}`,
    ...[...headers, ...framed].map(([name, value]) => `${name}: ${value}`),
  ]
  return {
    delay: 0,
    interim: nothing,
    head: Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
    body: isHead ? nothing : framing === 'chunked' ? chunked(body) : body,
    tail: nothing,
    after: framing === 'close' ? 'fin' : 'keep',
  }
}

export const nothing = Buffer.alloc(0)

/** A body in chunks. */
export function chunked(body: Buffer, chunkBytes = 65_536, ending = '0\r\n\r\n'): Buffer {
  const pieces: Buffer[] = []
  for (let from = 0; from < body.length; from += chunkBytes) {
    const piece = body.subarray(from, from + chunkBytes)
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
  }
  return Buffer.concat([...pieces, Buffer.from(ending)])
}

/** Sends it; resolves once everything is written or the connection is gone. */
export async function play(socket: Socket, wire: Wire): Promise<void> {
  if (wire.delay > 0) await pause(wire.delay)
  if (wire.interim.length > 0) await write(socket, wire.interim)
  let left = wire.cut?.at ?? Number.POSITIVE_INFINITY
  for (const part of [wire.head, wire.body]) {
    const sent = part.subarray(0, left)
    left -= sent.length
    await sendPaced(socket, sent, wire.pace)
    if (sent.length < part.length || left === 0) break
  }
  if (wire.cut !== undefined) return cut(socket, wire.cut.by)
  if (wire.tail.length > 0) await write(socket, wire.tail)
  if (wire.after !== 'keep') cut(socket, wire.after)
}

async function sendPaced(socket: Socket, bytes: Buffer, pace: Wire['pace']): Promise<void> {
  if (pace === undefined) return write(socket, bytes)
  for (let from = 0; from < bytes.length && socket.writable; from += pace.bytes) {
    await write(socket, bytes.subarray(from, from + pace.bytes))
    await pause(pace.milliseconds)
  }
}

function cut(socket: Socket, by: 'fin' | 'reset' | 'stall'): void {
  if (by === 'fin') socket.end()
  if (by === 'reset') socket.resetAndDestroy()
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise(wake => setTimeout(wake, milliseconds).unref())

/** A client that has gone is no failure of the server. */
function write(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise(done => {
    if (bytes.length === 0 || !socket.writable) return done()
    const end = (): void => {
      socket.off('close', end)
      done()
    }
    socket.once('close', end)
    socket.write(bytes, end)
  })
}
