// What is known of a record while it is open: its draft, how far that has come, and what each handle sees.
import type { Draft } from '../../edit/journal/draft.js'
import type { Instant } from '../../remote/remote.js'
import type { LeasedText } from './text-lease.js'

/** A record that is or was open here. */
export interface RecordState {
  draft: Draft | undefined
  /** A draft that was taken away before its outcome was known: what is written under its name is its next text. */
  aside: { readonly draft: Draft; takenUp?: Promise<Draft> } | undefined
  /** When the draft's bytes changed last. */
  changed: Instant
  /** The text of a kept draft that a program has emptied; it is the draft again where nothing is written after that. */
  emptied: Uint8Array | undefined
  /** The text that was saved last, if it is short: the kernel may count on its size while a program empties the file. */
  saved: Uint8Array | undefined
  /** Counts the changes, each before and after it happens: a save must not end a draft that is being written. */
  revision: number
  /** The revision whose text the service was found to have after a restart: the draft ends once no file shows it. */
  storedRevision: number | undefined
  /** Whether the kernel was told the draft's size since the last write, and may count on it for a moment. */
  told: boolean
  awayUntil: number
  saving: Promise<void>
  /** A finished text is taking the draft's place. */
  swap: Promise<void>
  handles: Set<HandleView>
}

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

/** The draft's bytes change. */
export function touchDraft(state: RecordState, now: Instant): void {
  state.changed = now
  state.revision += 1
  state.told = false
}
