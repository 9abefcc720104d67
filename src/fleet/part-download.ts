// Part download: a body of the service on its way to its reader; each whole part of it is put into the fleet.
import type { Body } from '../remote/remote.js'
import { partBytes } from './content-part.js'
import type { Lease } from './lease.js'

export interface PartDownloadPorts {
  readonly body: Body
  /** Of the part that the body begins with; undefined where nothing is shared. */
  readonly lease: Lease | undefined
  /** Where the wanted bytes begin and end; the body may begin earlier and end later. */
  readonly from: number
  readonly to: number
  put(lease: Lease, bytes: Buffer, length: number): void
  /** The lease of the part that begins there; 'elsewhere' where another daemon has it, undefined where nothing is shared. */
  follow(base: number): Promise<Lease | 'elsewhere' | undefined>
}

export class PartDownload {
  private readonly ports: PartDownloadPorts
  private lease: Lease | undefined
  /** The part's bytes so far. */
  private pieces: Buffer[] = []
  private gathered = 0

  constructor(ports: PartDownloadPorts) {
    this.ports = ports
    this.lease = ports.lease
  }

  /** The wanted bytes; returns how far they went: less where another daemon has the next part. */
  async *bytes(): AsyncGenerator<Uint8Array, number> {
    const { body, from, to } = this.ports
    let position: number = body.start
    try {
      for await (const piece of body.bytes) {
        for (let rest = piece; rest.length > 0; ) {
          const room = partBytes - this.gathered
          // The body is longer than it said.
          if (room === 0) this.giveUp()
          const now = this.lease === undefined ? rest : rest.subarray(0, room)
          rest = rest.subarray(now.length)
          // A piece is its reader's as soon as it is given.
          this.gather(now)
          const begin = position
          position += now.length
          const isWhole = this.gathered === partBytes && position !== body.length
          // Its reader may want no more.
          if (isWhole) this.put()
          if (position > from && begin < to) yield now.subarray(Math.max(0, from - begin), to - begin)
          if (isWhole && !(await this.goesOn(position))) return position
        }
        // The part that was begun is finished for the others.
        if (position >= to && this.lease === undefined) return position
      }
      // That nothing follows is known only now.
      if (position === (body.length ?? position)) this.put(position)
      return position
    } finally {
      this.cancel()
    }
  }

  /** Safe at any time. */
  cancel(): void {
    this.lease?.release()
    this.ports.body.cancel()
  }

  private gather(piece: Uint8Array): void {
    if (this.lease === undefined) return
    this.pieces.push(Buffer.from(piece))
    this.gathered += piece.length
  }

  private giveUp(): void {
    this.lease?.release()
    this.lease = undefined
  }

  /** What has been gathered is a whole part; a content of unknown length is shared only where it is a single one. */
  private put(length: number | undefined = this.ports.body.length): void {
    if (this.lease !== undefined && length !== undefined)
      this.ports.put(this.lease, Buffer.concat(this.pieces), length)
    this.giveUp()
    this.pieces = []
    this.gathered = 0
  }

  /** Whether the body is read on: not where it ends, nor where what follows is another daemon's. */
  private async goesOn(position: number): Promise<boolean> {
    const { body, to } = this.ports
    if (body.length === undefined) return true
    if (position >= to || position === body.end) return false
    const next = await this.ports.follow(position)
    this.lease = next === 'elsewhere' ? undefined : next
    return next !== 'elsewhere'
  }
}
