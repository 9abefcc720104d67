// How long each content is, as the service told it or as it was counted: remembered for ever, for contents never change.
import { type ByteCount, byteCount } from '../remote/remote.js'
import type { Ledger } from './ledger.js'

export interface Sizes {
  /** In bytes; undefined if nobody has told it yet. */
  told(name: string): ByteCount | undefined
  remember(name: string, bytes: number): void
  forget(name: string): void
}

const room = 'size'
const form = /^(0|[1-9][0-9]{0,15})$/

export function rememberSizes(ledger: Ledger): Sizes {
  return {
    told(name) {
      const kept = ledger.get(room, name)
      return kept !== undefined && form.test(kept) ? byteCount(Number(kept)) : undefined
    },
    remember(name, bytes) {
      if (ledger.get(room, name) !== String(bytes)) ledger.set(room, name, String(bytes))
    },
    forget: name => ledger.delete(room, name),
  }
}
