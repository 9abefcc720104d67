// A way in which an answer is odd: it changes what the answer means, or its bytes; two of them make a third.
import type { Chance } from '../chance.js'
import type { Answer, Wire } from './answer.js'
import { wireOf } from './answer.js'
import type { Asked, Spoil } from './origin.js'

/** What an odd answer is made from. */
export interface Making {
  readonly pick: Chance
  readonly asked: Asked
  /** The address of an origin that must never be asked. */
  readonly elsewhere: string
}

export interface Kind {
  readonly name: string
  /** A well-formed answer with another content: only a second source can show it. */
  readonly lies?: true
  readonly change?: (answer: Answer, making: Making) => Answer
  readonly wire?: (wire: Wire, making: Making, answer: Answer) => Wire
}

/** Applies the kinds one after another to each answer. */
export const spoiledBy =
  (kinds: readonly Kind[], making: Omit<Making, 'asked'>): Spoil =>
  (_, proper, asked) => {
    const with_ = { ...making, asked }
    const answer = kinds.reduce((changed, { change }) => change?.(changed, with_) ?? changed, proper)
    const wire = wireOf(answer, asked.method === 'HEAD')
    return kinds.reduce((changed, kind) => kind.wire?.(changed, with_, answer) ?? changed, wire)
  }

export interface OnWire {
  readonly wire: (wire: Wire) => Wire
}

/** The same answer with these bytes as its head, line by line. */
export const headed = (wire: Wire, change: (lines: string[]) => string[], ends = '\r\n'): Wire => {
  const lines = wire.head.toString('latin1').trimEnd().split('\r\n')
  return { ...wire, head: Buffer.from(change(lines).join(ends) + ends + ends, 'latin1') }
}

/** A header line more, before the others. */
export const line = (text: string): OnWire => ({
  wire: wire => headed(wire, ([status = '', ...rest]) => [status, text, ...rest]),
})

/** Another status line. */
export const statusLine = (text: string): OnWire => ({
  wire: wire => headed(wire, ([, ...rest]) => [text, ...rest]),
})

/** The framing headers are these instead. */
export const framed = (...headers: string[]): OnWire => ({
  wire: wire =>
    headed(wire, lines => [
      ...lines.filter(text => !/^(content-length|transfer-encoding):/i.test(text)),
      ...headers,
    ]),
})
