// Interface of an editable kind of record, implemented once for each kind.
import type { MaybePromise } from '../../maybe-promise.js'
import type { Edits, JsonObject } from '../../record/json/json.js'
import type { Identity, Instant, RequestContext } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import type { ProcessId } from '../../system/process.js'
import type { Draft } from '../journal/draft.js'
import type { RecordKey } from '../journal/record-key.js'
import type { TextHistory } from '../journal/text-history.js'
import type { Candidate } from './base.js'

export interface WrittenEdit {
  readonly base: JsonObject
  readonly mine: JsonObject
  readonly edits: Edits
  /** Other texts that the program may have had before as well. */
  readonly asNear: readonly JsonObject[]
  /** Where the base is the program's own save, which it knows in its own words alone: all that it has read. */
  readonly earlier: readonly JsonObject[]
}

/** The change to make on the service: `whole` is `before` with the edits in it. */
export interface RecordChange {
  readonly before: JsonObject
  readonly whole: JsonObject
  readonly edits: Edits
}

export interface ChangeResult {
  /** Edited fields that the service does not have as they were sent. */
  readonly unstored: readonly string[]
  /** The unedited fields that the service dropped all the same, in a sentence. */
  readonly lost: string | undefined
}

/** The possible bases of a text: the records met here, the latest first; or the one it was made from, if that is known. */
export interface KnownBases {
  readonly known: readonly Candidate[]
  readonly held: JsonObject | undefined
  /** Bytes of the text that its handle has opened remain in it. */
  readonly isOpened: boolean
  readonly by: ProcessId | undefined
}

/** A record with an id, as it is edited. All methods reject or throw with a Failure. */
export interface EditableRecord {
  readonly key: RecordKey
  readonly dialect: Dialect
  /**
   * Where the text is no JSON of the record: the record that is meant by it, and the one it was made from.
   * @throws Failure 'refused', or 'conflict' where it is in doubt what it was made from
   */
  mean?(
    text: string,
    meant: KnownBases,
    context: RequestContext,
  ): Promise<{ base: JsonObject; mine: JsonObject }>
  /** Resolves when no earlier change of it is on its way unanswered: until then a reading tells little. */
  answered(context: RequestContext): Promise<void>
  /** The record as it is now, never from a cache. */
  read(context: RequestContext): Promise<JsonObject>
  /** True if two records that had this key are of different things. */
  isAnother(before: JsonObject, now: JsonObject): boolean
  /** The thing it was made in, as the service says now, where only that tells them apart: a share's project. */
  readonly home?: (context: RequestContext) => Promise<Identity>
  /**
   * The written record in the form the service has it in (a path becomes an id).
   * @throws Failure 'refused' for what the service could not take, 'conflict' where it is in doubt what is meant
   */
  check(written: WrittenEdit, context: RequestContext): MaybePromise<JsonObject>
  /** True if the service fills this field in from others, whatever a PUT says there. */
  readonly follows?: (name: string) => boolean
  /** True if a field that differs in the two says the same: a service fills in what a writer has left out, or gives places other numbers. */
  readonly saysSame?: (name: string, ours: JsonObject, theirs: JsonObject) => boolean
  /** A last look at the merged record: the change as it is sent. @throws Failure 'refused' or 'conflict' where the parts do not go together */
  allow?(written: WrittenEdit, change: RecordChange): RecordChange
  /** The fewest requests that carry out the change; answers the record as read afterwards. */
  send(change: RecordChange, context: RequestContext, following: Following): Promise<JsonObject>
  /** `isSaid` is false where a request of the change has failed, or may not have left. */
  compare(change: RecordChange, stored: JsonObject, isSaid: boolean): ChangeResult
}

/** Called before the record is read between two requests of a change: answers the context of the second, whose base is that record. */
export type Following = () => (next: Pick<RecordChange, 'before' | 'whole'>) => RequestContext

/**
 * `own` is the text that the written one was made from, where bytes of it remain or its writer is a command; the only text that
 * counts with `isOver`. `by` is the process that writes.
 */
export interface SaveRequest {
  readonly record: EditableRecord
  readonly draft: Draft
  readonly own?: string | undefined
  readonly isOver?: boolean | undefined
  readonly by?: ProcessId | undefined
}

export interface SaveState extends SaveRequest {
  readonly history: TextHistory
  readonly now: () => Instant
  readonly context: RequestContext
}
