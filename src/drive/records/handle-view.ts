// Handle view: what one open file sees of a record, and what may take the record's place.
import type { Instant } from '../../remote/remote.js'
import type { ProcessId } from '../../system/process.js'
import type { Place } from '../nodes/place.js'

/** The view of one handle: the text it was opened on, or the bytes that were saved through its node since. */
export interface HandleView {
  bytes: Uint8Array
  /** The time of these bytes. */
  mtime: Instant
  /** The kernel's node of the file: handles of one node share its bytes, also while they are written. */
  readonly node: Place
  /** It was opened on an unsaved text, which is no base. */
  readonly isUnsent: boolean
  /** Who opened it: the texts that it has read or stored are the candidates for the base of what it writes. */
  readonly process: ProcessId | undefined
  /** The text that was noted as read by its program. */
  read: Uint8Array | undefined
  wrote: boolean
  /**
   * The path this handle was opened by leads to another file now. Moved: its bytes lie under another name, as on any
   * file system. Replaced: what it wrote and did not save is history, and close(2) says so.
   */
  gone: 'no' | 'moved' | 'replaced'
}

/** A finished text, and the one it was made from, where that is known. */
export interface Replacement {
  readonly text: Uint8Array
  readonly base?: Uint8Array | undefined
  /** It is moved back as it was moved away: that proves nothing about what its mover has seen. */
  readonly isUnread?: boolean | undefined
  readonly process?: ProcessId | undefined
}

/** The view of a handle that has neither read nor written. */
export const freshView = (
  node: Place,
  shown: Pick<HandleView, 'bytes' | 'mtime' | 'isUnsent' | 'process'>,
): HandleView => ({ ...shown, node, read: undefined, wrote: false, gone: 'no' })
