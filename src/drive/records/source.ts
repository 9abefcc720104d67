// Source of one record: its text, how an edit of it is sent, and what one open file sees of it.
import type { Draft } from '../../edit/journal/draft.js'
import type { Failure } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import type { Instant, RequestContext } from '../../remote/remote.js'
import type { ProcessId } from '../../system/process.js'
import type { Place } from '../nodes/place.js'

export interface TextSnapshot {
  readonly bytes: Uint8Array
  readonly mtime: Instant
  /** A program's words that the service does not have. */
  readonly isUnsent?: boolean
}

/** The text that a draft was made from, where that is known, and the process that wrote it. */
export interface Writing {
  readonly base?: Uint8Array | undefined
  readonly process?: ProcessId | undefined
  /** It is to take the place of `base`, the present text: no other one says what it leaves out. */
  readonly isOver?: boolean | undefined
}

export interface RecordSource {
  readonly key: string
  /** Opening it for writing alone succeeds although its text is gone: the save says what a text there makes then. */
  readonly outlivesText: boolean
  produce(context: RequestContext): MaybePromise<TextSnapshot>
  /** A program opened it: what is known by having been opened is remembered. */
  opened(): void
  /** Why it cannot be changed; undefined where nothing that is known here forbids it. */
  refusal(): Failure | undefined
  /** A draft with this text, made from `base` where that is known. */
  begin(base: Uint8Array | undefined, text: Uint8Array): Promise<Draft>
  /** A program has read this text: an edit may be based on it. */
  noteRead(text: Uint8Array, by: ProcessId | undefined): void
  /** Keeps as history a text that another program's bytes have replaced before it was saved. */
  keep(text: Uint8Array): MaybePromise<void>
  /**
   * Sends what the draft means. On failure the draft stays, with its why. Answers the failure of another draft that the
   * text has become part of: then this one has done its work.
   */
  save(draft: Draft, written: Writing, context: RequestContext): Promise<Failure | undefined>
}

/** The view of one handle: the text it was opened on, or the bytes that were saved through its node since. */
export interface HandleView {
  bytes: Uint8Array
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
export interface Replacement extends Omit<Writing, 'isOver'> {
  readonly text: Uint8Array
  /** It is moved back as it was moved away: that proves nothing about what its mover has seen. */
  readonly isUnread?: boolean | undefined
}

export const freshView = (
  node: Place,
  shown: Pick<HandleView, 'bytes' | 'mtime' | 'isUnsent' | 'process'>,
): HandleView => ({ ...shown, node, read: undefined, wrote: false, gone: 'no' })

/** Saves a text of its own, by an explicit wish; a draft that waits here is not touched. `over`: it takes the place of its base. */
export async function saveBeside(
  source: RecordSource,
  { base, text, isOver }: Pick<Replacement, 'text'> & Pick<Writing, 'base' | 'isOver'>,
  context: RequestContext,
): Promise<void> {
  refuseReadOnly(source)
  const draft = await source.begin(base, text)
  try {
    const handedOver = await source.save(draft, { base, isOver }, context)
    if (handedOver !== undefined) throw handedOver
  } finally {
    // Its text is history, whatever became of it.
    await draft.discard()
  }
}

/** A program has read what its handle shows: an edit may be based on it. */
export function noteRead(source: RecordSource, view: HandleView): void {
  if (view.isUnsent || view.read === view.bytes) return
  view.read = view.bytes
  if (source.refusal() === undefined) source.noteRead(view.bytes, view.process)
}

/** @throws Failure: why this record cannot be changed */
export function refuseReadOnly(source: RecordSource): void {
  const refusal = source.refusal()
  if (refusal !== undefined) throw refusal
}
