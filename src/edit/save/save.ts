// Save, the one way from a text to the service: parse, find the base, check, read, merge, send, read back.
import { setImmediate } from 'node:timers/promises'
import { asFailure, Failure, isAbsent } from '../../failure.js'
import { hasSameTokens } from '../../record/json/equal.js'
import { fieldOf, type JsonObject } from '../../record/json/json.js'
import { clearly } from '../../record/json/kept-digits.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyBytes, prettyPrint } from '../../record/json/print.js'
import { foldedFrom } from '../../record/json/walk.js'
import { type Instant, isAnotherThing, type RequestContext } from '../../remote/remote.js'
import type { Draft } from '../journal/draft.js'
import { isOtherThan, setApart, withFailure } from '../journal/draft-meta.js'
import { Turns } from '../journal/lock.js'
import { keyName } from '../journal/record-key.js'
import { type KnownText, type TextHistory, textHash } from '../journal/text-history.js'
import type { TextUser } from '../journal/text-marks.js'
import { type Candidate, chooseBase } from './base.js'
import { type CreatedRecord, createOnce, type NewRecord } from './create.js'
import { editsBetween, merge, refuseSameNames } from './diff.js'
import type {
  EditableRecord,
  KnownBases,
  RecordChange,
  SaveRequest,
  SaveState,
  WrittenEdit,
} from './editable.js'
import { reconcileAttempt, storedOf } from './reconcile.js'
import { type OwnText, ownText, quoted, sendChange } from './send-change.js'

/** unchanged: the text says nothing new, and nothing was sent. stored: the service has the edit; `text` shows it. */
export type SaveResult =
  | { readonly outcome: 'unchanged' }
  | {
      readonly outcome: 'stored'
      readonly text: Uint8Array
      readonly record: JsonObject
      /** The service's losses beside the edit, in a sentence. */
      readonly lost: string | undefined
    }

/** Saves and creations of one record are serial; another mount that saves it is another client. */
export class Saver {
  readonly #turns = new Turns()

  constructor(
    private readonly history: TextHistory,
    private readonly now: () => Instant,
  ) {}

  /**
   * Saves what the draft holds; nothing is ever sent twice, and a save that fails leaves the draft with its why.
   * @throws Failure: 'not-json' and 'refused' (nothing was sent), 'conflict' (nothing was sent, their text lies beside
   * the draft), 'another-thing' (nothing was sent: the id stands for another thing), 'broken' (the service did not store it), 'timeout' or 'unreachable' (perhaps stored), 'no-space', or
   * what the service said
   */
  save(request: SaveRequest, context: RequestContext): Promise<SaveResult> {
    const { history, now } = this
    return this.#turns.take(keyName(request.record.key), async () => {
      try {
        return await saveOnce({ ...request, history, now, context })
      } catch (thrown) {
        throw await withFailure(request.draft, asFailure(thrown))
      }
    })
  }

  /** Finds out by reading what became of a draft that was being sent when the daemon or the line broke: true if it is stored. */
  settle({ record, draft }: SaveRequest, context: RequestContext): Promise<boolean> {
    const { history } = this
    return this.#turns.take(keyName(record.key), () => reconcileAttempt({ record, draft, history, context }))
  }

  create(record: NewRecord, draft: Draft, context: RequestContext): Promise<CreatedRecord> {
    const { history, now } = this
    return this.#turns.take(keyName(record.key), () => createOnce({ record, draft, history, now, context }))
  }
}

async function saveOnce(save: SaveState): Promise<SaveResult> {
  const { draft, record, history, context } = save
  const text = draft.text()
  if (draft.meta.state === 'editing' && draft.meta.saved === textHash(text)) return { outcome: 'unchanged' }
  const parsed = record.mean === undefined ? parseObject(text) : undefined
  // A change on its way is not in the service's text yet: a text of before would count as unchanged.
  await record.answered(context)
  const isTried = draft.meta.attempt !== undefined
  if (isTried) await reconcileAttempt(save)
  let texts = await history.known(record.key)
  const stored =
    isTried || texts.unsettled.length === 0 ? undefined : await storedOf(record, texts.unsettled, context)
  if (stored !== undefined) {
    await history.remember(record.key, stored, 'saved')
    texts = await history.known(record.key)
  }
  const met = await knownTexts(save, texts.candidates)
  let written: WrittenEdit | undefined
  let before: JsonObject | undefined
  let isSent = false
  try {
    const meant = await (parsed ? findWritten(save, parsed, met) : readMeaning(save, text, met))
    // Before anything is taken for unchanged: the text may be an old one of the thing that had this id.
    if (isAnotherNow(save, meant.base)) throw await setApart(draft)
    written = meant
    refuseSameNames(written.base, written.mine)
    // A text whose digits were rounded is no base: what it says is.
    const mine = await (written.edits.size === 0 ? written.mine : record.check(written, context))
    const own = ownText(text, formOf(record, mine, text, parsed))
    const edits = mine === written.mine ? written.edits : editsBetween(written.base, mine)
    const checked = { ...written, mine, edits }
    if (checked.edits.size === 0) return await unchanged(save, own, checked)
    // The project tells whose share it is, and is asked by itself: before the record, so that nothing comes in between.
    if (draft.meta.thing !== undefined && record.home !== undefined)
      if (isOtherThan(draft, await record.home(context))) throw await setApart(draft)
    const readAt = save.now()
    before = await record.read(context)
    if (record.isAnother(written.base, before) || isAnotherNow(save, before)) throw await setApart(draft)
    const change = mergeEdits(record, checked, before)
    isSent = change.edits.size > 0
    const { stored: now, lost } = isSent
      ? await sendChange({ ...save, said: own, readAt }, change)
      : { stored: before, lost: undefined }
    const outcome = outcomeOf(record, own.form, { written: checked, before, stored: now })
    if (isSent || draft.meta.unread !== true)
      await history.rememberAll(record.key, [
        { text: own.form, how: 'saved', by: save.by },
        ...(outcome === undefined ? [] : [{ text: outcome, how: 'outcome' as const }]),
      ])
    const { saved, form: base } = own.hashes
    draft.noteLater({ state: 'editing', saved, base, attempt: undefined, why: undefined })
    return { outcome: 'stored', text: prettyBytes(now), record: now, lost }
  } catch (thrown) {
    if (written !== undefined) await noteBase(draft, met, written.base)
    // A conflict leaves their text beside the draft, for a person to compare; of a request its sender has left it.
    if (!isSent && asFailure(thrown).kind === 'conflict')
      await draft.keepTheirs(prettyPrint(before ?? (await record.read(context))))
    throw thrown
  }
}

/** With the date that the text carried: the next text of its writer carries that, too. */
function formOf({ dialect }: EditableRecord, mine: JsonObject, text: string, parsed?: JsonObject): string {
  if (parsed === undefined) return prettyPrint(mine)
  const said = dialect.plain(parsed)
  if (hasSameTokens(mine, said)) return text
  const dates = parsed.fields.filter(field => !said.fields.includes(field))
  return prettyPrint({ type: 'object', fields: [...mine.fields, ...dates] })
}

/** A draft that is written on keeps its base, whatever else is read meanwhile. */
async function noteBase(draft: Draft, { known }: KnownBases, base: JsonObject): Promise<void> {
  const chosen = known.find(({ record }) => record === base)
  if (chosen !== undefined && draft.meta.base === undefined)
    await draft.change({ base: textHash(chosen.text) })
}

/** Where no text of the record was ever met here, the text stands for the whole record as it is now. */
async function findWritten(save: SaveState, parsed: JsonObject, met: KnownBases): Promise<WrittenEdit> {
  const { known, held, isOpened } = met
  const { plain, changedAt, withDigitsOf, facts } = save.record.dialect
  const mine = plain(parsed)
  const editOf = (base: JsonObject) => {
    const kept = withDigitsOf(base, mine)
    return { kept, edits: editsBetween(base, kept.record) }
  }
  const editFrom = (base: JsonObject, { kept, edits } = editOf(base)): WrittenEdit => ({
    ...{ base, mine: clearly(kept), edits, ...besides(save, met, base) },
  })
  const waited = held && editFrom(held)
  if (waited !== undefined && (waited.edits.size > 0 || isOpened)) return waited
  const compared: (Candidate & ReturnType<typeof editOf>)[] = []
  for (const one of known) {
    compared.push({ ...one, ...editOf(one.record) })
    // Every text takes its time, and the drive answers meanwhile.
    if (one.text.length >= foldedFrom) await setImmediate()
  }
  const base = chooseBase(compared, { mine, changed: changedAt(parsed), by: save.by })
  if (base !== undefined) {
    const edit = editFrom(base.one.record, base.one)
    return { ...edit, asNear: [...base.asNear, ...edit.asNear] }
  }
  if (waited !== undefined) return waited
  const theirs = plain(await save.record.read(save.context))
  if (save.record.home === undefined && isAnotherThing(facts(mine), facts(theirs), 'strictly'))
    throw await setApart(save.draft)
  return editFrom(theirs)
}

/** A save that was not read since is known to its writer in its own words alone; a text that waited may be older than its base. */
function besides(
  save: SaveState,
  { known, held, isOpened }: KnownBases,
  base: JsonObject,
): Pick<WrittenEdit, 'asNear' | 'earlier'> {
  const { saved, read = saved } = known.find(({ record }) => record === base) ?? {}
  const others = known.filter(({ record }) => record !== base)
  const isOwn = ({ process, read }: TextUser) => read !== undefined && process.group === save.by?.group
  const own = others.filter(({ users }) => users.some(isOwn))
  const earlier = own.length > 0 ? own : others.filter(one => one.read !== undefined)
  if (isOpened || (held ?? saved) === undefined) return { asNear: [], earlier: [] }
  return saved !== undefined && read !== undefined && read <= saved
    ? { asNear: [], earlier: earlier.map(({ record }) => record) }
    : { asNear: others.map(({ record }) => record), earlier: [] }
}

/** A text in other words than JSON: its kind of record knows what it means. */
async function readMeaning(
  { record, context }: SaveState,
  text: string,
  met: KnownBases,
): Promise<WrittenEdit> {
  const meant = await record.mean?.(text, met, context)
  if (meant === undefined) throw new Failure('internal', 'what this text means is not known')
  return { ...meant, edits: editsBetween(meant.base, meant.mine), asNear: [], earlier: [] }
}

async function knownTexts(save: SaveState, candidates: readonly KnownText[]): Promise<KnownBases> {
  const { plain, changedAt } = save.record.dialect
  const held = heldBefore(save)
  const known: Candidate[] = []
  for (const met of save.isOver === true ? [] : candidates) {
    const record = parseObject(met.text)
    known.push({ ...met, record: plain(record), changed: changedAt(record) })
    // Every text takes its time, and the drive answers meanwhile.
    if (met.text.length >= foldedFrom) await setImmediate()
  }
  const same = known.find(met => met.text === held)
  return {
    known,
    held: same?.record ?? (held === undefined ? undefined : plain(parseObject(held))),
    isOpened: held !== undefined && held === save.own,
    by: save.by,
  }
}

/** A text that was not stored is no base: the next save keeps that of the failed one, over the end of the daemon too. */
function heldBefore({ record, draft, history, own }: SaveState): string | undefined {
  const { base } = draft.meta
  return (base === undefined ? undefined : history.recall(record.key, base)) ?? own
}

/**
 * Remembered all the same, if a program has had it: the next text may be an edit of this one. A share is looked at: its number may be another
 * person's by now, and "saved" would say that the person who is named has the permission.
 */
async function unchanged(
  { record, draft, history, by, context }: SaveState,
  own: OwnText,
  { base, earlier }: WrittenEdit,
): Promise<SaveResult> {
  if (record.key.of === 'share') {
    // A text that says nothing new needs no service that answers.
    const now = await record.read(context).catch(thrown => {
      if (isAbsent(thrown)) throw thrown
    })
    if (now !== undefined && record.isAnother(base, now)) throw await setApart(draft)
  }
  // Its own save in its own words once more: the form of that was not read.
  const isKnown = earlier.length > 0 && own.form !== own.text
  if (draft.meta.unread !== true && !isKnown) await history.remember(record.key, own.form, 'read', by)
  await draft.change({ state: 'editing', saved: own.hashes.saved, why: undefined })
  return { outcome: 'unchanged' }
}

/** True if the id stands for another thing than when the draft was begun. */
const isAnotherNow = ({ record, draft }: SaveState, one: JsonObject): boolean =>
  record.home === undefined && draft.meta.thing !== undefined && isOtherThan(draft, record.dialect.facts(one))

/** @throws Failure 'conflict' where both changed one field, or what the kind of record does not allow */
function mergeEdits(record: EditableRecord, written: WrittenEdit, before: JsonObject): RecordChange {
  const { base, mine } = written
  const { whole, edits, conflicts } = merge(base, written.edits, before, {
    isOurs: name => record.saysSame?.(name, base, before) === true,
    isThere: name => record.saysSame?.(name, mine, before) === true,
  })
  if (conflicts.length > 0)
    throw new Failure(
      'conflict',
      `${quoted(conflicts)} was changed meanwhile, by another client or another text of this mount: nothing was sent`,
    )
  const change = { before, whole, edits }
  return record.allow?.(written, change) ?? change
}

/**
 * The stored record as text, where it says something else than what was saved, and all of that is what was sent or what
 * the service fills in: who reads it next reads no other client's change.
 */
function outcomeOf(
  record: EditableRecord,
  form: string,
  { written, before, stored }: { written: WrittenEdit; before: JsonObject; stored: JsonObject },
): string | undefined {
  const made = editsBetween(record.dialect.plain(parseObject(form)), record.dialect.plain(stored))
  const isFollowed = [...written.edits.keys()].some(name => record.follows?.(name))
  if (made.size === 0 && !isFollowed) return undefined
  const others = editsBetween(written.base, record.dialect.plain(before))
  // Fields that the writer's text did not have the service fills in.
  const isFilledIn = (name: string) => record.follows?.(name) || fieldOf(written.base, name) === undefined
  const isOwn = (name: string) => written.edits.has(name) || !others.has(name) || isFilledIn(name)
  return [...made.keys()].every(isOwn) ? prettyPrint(stored) : undefined
}
