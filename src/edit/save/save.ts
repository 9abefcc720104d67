// Save pipeline, the one way from a text to the service: parse, find the base, check, compare, send, read back.
import { setImmediate } from 'node:timers/promises'
import { asFailure, Failure } from '../../failure.js'
import type { Field, JsonObject } from '../../record/json/json.js'
import { clearly } from '../../record/json/kept-digits.js'
import { foldedFrom, parseObject } from '../../record/json/parse.js'
import { prettyPrint } from '../../record/json/print.js'
import { type Instant, isAnotherThing, type RequestContext } from '../../remote/remote.js'
import type { ProcessId } from '../../system/process.js'
import type { Draft } from '../journal/draft.js'
import { withFailure } from '../journal/explain.js'
import { openKeyedQueue } from '../journal/keyed-queue.js'
import { type KnownText, type TextHistory, textHash } from '../journal/text-history.js'
import { type Candidate, chooseBase, type Written } from './base.js'
import { editsBetween, merge } from './diff.js'
import type { EditableRecord, KnownBases, RecordChange, WrittenEdit } from './editable.js'
import { isOtherThan, refuseAnother } from './other-thing.js'
import { outcomeOf } from './outcome.js'
import { type Reconciled, reconcileAttempt, reconcileSent } from './reconcile.js'
import { refuseSameNames } from './same-names.js'
import { hashesOf, type OwnText, sendChange } from './send-change.js'

/**
 * `own` is the text that the written one was made from, where bytes of it remain or its writer is a command; the only possible
 * base with `isOver`. `by` is the process that writes.
 */
export interface SaveRequest {
  readonly record: EditableRecord
  readonly draft: Draft
  readonly own?: string | undefined
  readonly isOver?: boolean | undefined
  readonly by?: ProcessId | undefined
}

/** unchanged: the text says nothing new, and nothing was sent. stored: the service has the edit; `text` shows it. */
export type SaveResult =
  | { readonly outcome: 'unchanged' }
  | {
      readonly outcome: 'stored'
      readonly text: string
      readonly record: JsonObject
      /** What the service dropped beside the edit, in a sentence. */
      readonly lost: string | undefined
    }

export interface Saver {
  /**
   * Saves what the draft holds; nothing is ever sent twice, and a save that fails leaves the draft with its why.
   * @throws Failure: 'not-json' and 'refused' (nothing was sent), 'conflict' (nothing was sent, their text lies beside
   * the draft), 'another-thing' (nothing was sent: the id stands for another thing), 'broken' (the service did not store it), 'timeout' or 'unreachable' (perhaps stored), 'no-space', or
   * what the service said
   */
  save(request: SaveRequest, context: RequestContext): Promise<SaveResult>
  /** Finds out by reading what became of a draft that was being sent when the daemon or the line broke. */
  settle(request: SaveRequest, context: RequestContext): Promise<Reconciled>
}

/** Saves of one record are serial; another mount that saves it is another client. */
export function createSaver(history: TextHistory, now: () => Instant): Saver {
  const inTurn = openKeyedQueue()
  const guarded = async <Result>(draft: Draft, work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (thrown) {
      throw await withFailure(draft, asFailure(thrown))
    }
  }
  return {
    save: (request, context) =>
      inTurn(request.record.key, () =>
        guarded(request.draft, () => saveOnce({ ...request, history, now }, context)),
      ),
    settle: (request, context) =>
      inTurn(request.record.key, () => reconcileAttempt(request.record, request.draft, { history, context })),
  }
}

interface SaveState extends SaveRequest {
  readonly history: TextHistory
  readonly now: () => Instant
}

async function saveOnce(save: SaveState, context: RequestContext): Promise<SaveResult> {
  const { draft, record, history } = save
  const text = await draft.text()
  if (draft.meta.state === 'editing' && draft.meta.saved === textHash(text)) return { outcome: 'unchanged' }
  const parsed = record.mean === undefined ? parseObject(text) : undefined
  const said = parsed && { mine: record.plain(parsed), changed: record.changedAt(parsed), by: save.by }
  const dates = parsed?.fields.filter(field => !said?.mine.fields.includes(field)) ?? []
  // What is on its way still is not in what the service shows: a text of before would count as unchanged.
  await record.answered(context)
  if (draft.meta.attempt !== undefined) await reconcileAttempt(record, draft, { history, context })
  else await reconcileSent(save, context)
  const met = await knownTexts(save)
  const written = await (said === undefined
    ? readMeaning(save, text, met, context)
    : findWritten(save, said, met, context))
  // Before anything is taken for unchanged: the text may be an old one of the thing that had this id.
  if (record.key.kind !== 'share')
    await refuseAnother(draft, isOtherThan(draft, await record.identity(written.base, context)))
  try {
    // A text whose digits were rounded is no base: what it says is.
    return await saveWritten(
      save,
      { text, dates, isAsWritten: written.mine === said?.mine },
      written,
      context,
    )
  } catch (thrown) {
    await noteBase(draft, met, written.base)
    throw thrown
  }
}

async function saveWritten(
  save: SaveState,
  { text, dates, isAsWritten }: { text: string; dates: readonly Field[]; isAsWritten: boolean },
  written: WrittenEdit,
  context: RequestContext,
): Promise<SaveResult> {
  const { draft, record } = save
  refuseSameNames(written.base, written.mine)
  // With the date that it carried: the next text of its writer carries that, too.
  const formOf = (record: JsonObject) => prettyPrint({ type: 'object', fields: [...record.fields, ...dates] })
  if (written.edits.size === 0)
    return unchanged(save, { text, form: isAsWritten ? text : formOf(written.mine) }, written, context)
  const readTheirs = () => record.read(context)
  const checked = await keepingTheirs(draft, readTheirs, () => record.check(written, context))
  const edits = editsBetween(written.base, checked)
  const own = { text, form: formOf(checked) }
  if (edits.size === 0) return unchanged(save, own, written, context)
  return applyEdits(save, own, { ...written, mine: checked, edits }, context)
}

/** A draft that is written on keeps its base, whatever else is read meanwhile. */
async function noteBase(draft: Draft, { known }: KnownTexts, base: JsonObject): Promise<void> {
  const chosen = known.find(({ record }) => record === base)
  if (chosen !== undefined && draft.meta.base === undefined)
    await draft.change({ base: textHash(chosen.text) })
}

/** Where no text of the record was ever met here, the text stands for the whole record as it is now. */
async function findWritten(
  save: SaveState,
  said: Written,
  { known, held }: KnownTexts,
  context: RequestContext,
): Promise<WrittenEdit> {
  const { mine } = said
  const kept = (base: JsonObject) => save.record.withDigitsOf(base, mine)
  const edited = (base: JsonObject) => editsBetween(base, kept(base).record)
  const readTheirs = () => save.record.read(context)
  if (held !== undefined) return { base: held, mine: clearly(kept(held)), edits: edited(held), asNear: [] }
  const compared: Candidate[] = []
  for (const met of known) {
    compared.push({ ...met, edits: edited(met.record) })
    // Every text takes its time, and the drive answers meanwhile.
    if (met.text.length >= foldedFrom) await setImmediate()
  }
  const base = await keepingTheirs(save.draft, readTheirs, async () => chooseBase(compared, said))
  if (base !== undefined) {
    const { record, edits, asNear } = base
    return { base: record, mine: clearly(kept(record)), edits, asNear }
  }
  const theirs = save.record.plain(await readTheirs())
  const [now, meant] = await Promise.all([theirs, mine].map(one => save.record.identity(one, context)))
  await refuseAnother(
    save.draft,
    now !== undefined && meant !== undefined && isAnotherThing(meant, now, 'strictly'),
  )
  const own = clearly(kept(theirs))
  return { base: theirs, mine: own, edits: editsBetween(theirs, own), asNear: [] }
}

/** A text in other words than JSON: its kind of record knows what it means. */
async function readMeaning(
  save: SaveState,
  text: string,
  met: KnownTexts,
  context: RequestContext,
): Promise<WrittenEdit> {
  const readTheirs = () => save.record.read(context)
  const written = await keepingTheirs(save.draft, readTheirs, async () =>
    save.record.mean?.(text, met, context),
  )
  if (written === undefined) throw new Failure('internal', 'what this text means is not known')
  return { ...written, edits: editsBetween(written.base, written.mine), asNear: [] }
}

interface KnownTexts extends KnownBases {
  readonly known: readonly (Candidate & Pick<KnownText, 'text'>)[]
}

async function knownTexts(save: SaveState): Promise<KnownTexts> {
  const { plain, changedAt } = save.record
  const texts = save.isOver === true ? [] : await save.history.candidates(save.record.key)
  const held = await heldBefore(save)
  const known: (Candidate & Pick<KnownText, 'text'>)[] = []
  for (const met of texts) {
    const record = parseObject(met.text)
    known.push({ ...met, record: plain(record), changed: changedAt(record) })
    // Every text takes its time, and the drive answers meanwhile.
    if (met.text.length >= foldedFrom) await setImmediate()
  }
  const sameText = known.find(met => met.text === held)
  const heldRecord = sameText?.record ?? (held === undefined ? undefined : plain(parseObject(held)))
  return { known, held: heldRecord, by: save.by }
}

/** A text that was not stored is no base: the next save keeps that of the failed one, over the end of the daemon too. */
async function heldBefore({ record, draft, history, own }: SaveState): Promise<string | undefined> {
  const { base } = draft.meta
  return (base === undefined ? undefined : await history.recall(record.key, base)) ?? own
}

/**
 * Remembered all the same, if a program has had it: the next text may be an edit of this one. A share is looked at: its number may be another
 * person's by now, and "saved" would say that the person who is named has the permission.
 */
async function unchanged(
  save: SaveState,
  own: OwnText,
  { base }: WrittenEdit,
  context: RequestContext,
): Promise<SaveResult> {
  const { record, draft, history } = save
  if (record.key.kind === 'share') {
    const now = await record.read(context).catch(unlessGone)
    if (now !== undefined) await refuseAnother(draft, record.isAnother(base, now))
  }
  if (draft.meta.unread !== true) await history.remember(record.key, own.form, 'read', save.by)
  await draft.change({ state: 'editing', ...hashesOf(own), why: undefined })
  return { outcome: 'unchanged' }
}

/** Brings the edits into the record as it is now. */
async function applyEdits(
  save: SaveState,
  own: OwnText,
  written: WrittenEdit,
  context: RequestContext,
): Promise<SaveResult> {
  const { record, draft } = save
  // Whose share it is says its project, which is asked for by itself: before the record, so that nothing comes in between.
  const isInProject = record.key.kind === 'share'
  if (isInProject) await refuseOtherThing(save, written.base, context)
  const readAt = save.now()
  const before = await record.read(context)
  await refuseAnother(draft, record.isAnother(written.base, before))
  if (!isInProject) await refuseOtherThing(save, before, context)
  const readTheirs = async () => before
  const change = await keepingTheirs(draft, readTheirs, async () => mergeEdits(record, written, before))
  if (change.edits.size === 0) {
    if (draft.meta.unread !== true) await save.history.remember(record.key, own.form, 'saved', save.by)
    return finishSave(save, own, before, undefined)
  }
  const { stored, lost } = await sendChange({ ...save, own, readAt }, change, context)
  await save.history.remember(record.key, own.form, 'saved', save.by)
  const outcome = outcomeOf(record, own.form, { written, change, stored })
  if (outcome !== undefined) await save.history.remember(record.key, outcome, 'outcome')
  return finishSave(save, own, stored, lost)
}

/** @throws Failure 'another-thing' where the id stands for another thing than when the draft was begun */
async function refuseOtherThing(
  { record, draft }: SaveState,
  one: JsonObject,
  context: RequestContext,
): Promise<void> {
  if (draft.meta.thing !== undefined)
    await refuseAnother(draft, isOtherThan(draft, await record.identity(one, context)))
}

/** @throws Failure 'conflict' where both changed one field, or what the kind of record does not allow */
function mergeEdits(record: EditableRecord, written: WrittenEdit, before: JsonObject): RecordChange {
  const { base, mine } = written
  const { whole, edits, conflicts } = merge(base, written.edits, before, {
    isOurs: name => record.saysSame?.(name, base, before) === true,
    isThere: name => record.hasAlready?.(name, mine, before) === true,
  })
  if (conflicts.length > 0) {
    const fields = conflicts.map(name => JSON.stringify(name)).join(', ')
    throw new Failure('conflict', `another client has changed ${fields} meanwhile: nothing was sent`)
  }
  const change = { before, whole, edits }
  record.allow(written, change)
  return change
}

/** A conflict leaves their text beside the draft, for a person to compare. */
async function keepingTheirs<Result>(
  draft: Draft,
  readTheirs: () => Promise<JsonObject>,
  decide: () => Promise<Result>,
): Promise<Result> {
  try {
    return await decide()
  } catch (thrown) {
    if (asFailure(thrown).kind === 'conflict') await draft.keepTheirs(prettyPrint(await readTheirs()))
    throw thrown
  }
}

/** A text that says nothing new needs no service that answers. */
function unlessGone(thrown: unknown): undefined {
  const failure = asFailure(thrown)
  if (failure.kind === 'absent') throw failure
}

async function finishSave(
  save: SaveState,
  own: OwnText,
  stored: JsonObject,
  lost: string | undefined,
): Promise<SaveResult> {
  const saved = hashesOf(own)
  await save.draft.change({
    state: 'editing',
    ...saved,
    base: saved.form,
    attempt: undefined,
    why: undefined,
  })
  return { outcome: 'stored', text: prettyPrint(stored), record: stored, lost }
}
