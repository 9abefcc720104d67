// Handle view: what one open file sees of a record, and what may take the record's place.
import type { LeasedText } from './text-lease.js'

/** What one handle sees: the text it was opened on, or the bytes it has saved since. */
export interface HandleView {
  bytes: Uint8Array
  /** The text this handle's program has read; the base of what it writes. */
  base: Uint8Array | undefined
  wrote: boolean
  /** What keeps the kernel's size that of `bytes`; none while the file shows a draft. */
  held: LeasedText | undefined
  /**
   * The path this handle was opened by leads to another file now. Moved: its bytes lie under another name, as on any
   * file system. Replaced: what it wrote and did not save is history, and close(2) says so.
   */
  gone: 'no' | 'moved' | 'replaced'
}

/** What a new draft holds, and the text that its writer had read. */
export interface DraftStart {
  readonly bytes: Uint8Array
  readonly base?: Uint8Array | undefined
}

/** A finished text, and the one it was made from, where that is known. */
export interface Replacement {
  readonly text: Uint8Array
  readonly base?: Uint8Array | undefined
  /** It is moved back as it was moved away: that proves nothing about what its mover has seen. */
  readonly isUnread?: boolean | undefined
}

/** What a handle sees that has neither read nor written. */
export function freshView(bytes: Uint8Array, held?: LeasedText): HandleView {
  return { bytes, base: undefined, wrote: false, held, gone: 'no' }
}
