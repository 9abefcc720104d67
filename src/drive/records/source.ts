// Source of one record: its text, and how an edit of it is sent.

import type { Draft } from '../../edit/journal/draft.js'
import { Failure } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import type { Instant, RequestContext } from '../../remote/remote.js'
import type { ProcessId } from '../../system/process.js'
import type { HandleView } from './handle-view.js'

/** A text as it is shown: its bytes and its time. */
export interface TextSnapshot {
  readonly bytes: Uint8Array
  readonly mtime: Instant
  /** A program's words that the service does not have. */
  readonly isUnsent?: boolean
}

/** One record as the drive needs it; the drive knows which of them may be edited. */
export interface RecordSource {
  readonly key: string
  /** The record's present text. */
  produce(context: RequestContext): MaybePromise<TextSnapshot>
  /** Undefined where this record cannot be changed, with the failure that says why. */
  readonly editing: Editing | Failure
  /** Opening it for writing alone succeeds although its text is gone: the save says what a text there makes then. */
  readonly outlivesText: boolean
  /** A program opened it: what is known by having been opened is remembered. */
  opened(): void
  /** A program wrote the record at that time; whatever wording is shown next has that time. */
  written(at: Instant): void
}

/** The text that a draft was made from, where that is known, and the process that wrote it. */
export interface Writing {
  readonly base?: Uint8Array | undefined
  readonly process?: ProcessId | undefined
}

/** How a record's edits go out; made of the edit room's parts by `editable-files.ts`. */
export interface Editing {
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
  /** The same for a text that is to take the place of `now`, the present one: no other text is its base. */
  saveOver(draft: Draft, now: Uint8Array, context: RequestContext): Promise<Failure | undefined>
}

/** A program has read what its handle shows: an edit may be based on it. */
export function noteRead(source: RecordSource, view: HandleView): void {
  if (view.isUnsent || view.read === view.bytes) return
  view.read = view.bytes
  const { editing } = source
  if (!(editing instanceof Failure)) editing.noteRead(view.bytes, view.process)
}

/** @throws Failure: why this record cannot be changed */
export function editingOf({ editing }: RecordSource): Editing {
  if (editing instanceof Failure) throw editing
  return editing
}
