// Untold body: one whose length is known at its end; put into the fleet where that is short.
import type { Body } from '../../remote/remote.js'
import { partBytes } from './content-part.js'
import type { PartLease } from './part-lease.js'

export function untoldBody(body: Body, lease: PartLease, sealed: (bytes: Buffer) => Buffer): Body {
  let pieces: Buffer[] = []
  let bytes = 0

  function keep(piece: Uint8Array): void {
    bytes += piece.length
    if (bytes <= partBytes) {
      lease.moved()
      pieces.push(Buffer.from(piece))
      return
    }
    // The others need not wait for it.
    lease.release()
    pieces = []
  }

  return {
    ...body,
    bytes: (async function* () {
      try {
        for await (const piece of body.bytes) {
          keep(piece)
          yield piece
        }
        if (bytes <= partBytes) lease.put(sealed(Buffer.concat(pieces)))
      } finally {
        lease.release()
      }
    })(),
    cancel() {
      lease.release()
      body.cancel()
    },
  }
}
