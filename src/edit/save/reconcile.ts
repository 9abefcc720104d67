// A change whose answer is lost: time is kept for a look, the record is read and compared, and nothing is sent twice.
import { asFailure, Failure, isA } from '../../failure.js'
import { type Edits, fieldOf, type JsonObject, removed, withEdits } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyPrint } from '../../record/json/print.js'
import { type Instant, instant, type RequestContext } from '../../remote/remote.js'
import { setApart, whyOf } from '../journal/draft-meta.js'
import { textHash } from '../journal/text-history.js'
import { editsBetween } from './diff.js'
import type { EditableRecord, RecordChange, SaveState } from './editable.js'

/** Reads the record; true if the last attempt of this draft was carried out, and the service has all that the draft says. */
export async function reconcileAttempt({
  record,
  draft,
  history,
  context,
}: Pick<SaveState, 'record' | 'draft' | 'history' | 'context'>): Promise<boolean> {
  const { attempt } = draft.meta
  if (attempt === undefined) return false
  const recalled = [attempt.before, attempt.whole, attempt.form]
  const [before, whole, form] = recalled.map(hash => history.recall(record.key, hash))
  if (before === undefined || whole === undefined || form === undefined) return false
  const sent = parseObject(whole)
  const edits: Edits = new Map(attempt.edited.map(name => [name, fieldOf(sent, name) ?? removed]))
  const change = { before: parseObject(before), whole: sent, edits }
  const now = await record.read(context)
  if (record.isAnother(change.before, now)) throw await setApart(draft)
  // Not every request of it may have left: what it was to say again, the titles of rows, counts as lost.
  const { unstored } = record.compare(change, now, false)
  if (unstored.length > 0) {
    await notePart({ record, draft, history }, { form, change, unstored })
    const sentence = 'the last save was cut short, and the service does not have all of it'
    await draft.change({ state: 'refused', why: whyOf(new Failure('unreachable', sentence)) })
    // The attempt stays noted: a slow service may still carry it out.
    return false
  }
  await history.remember(record.key, whole, 'saved')
  await history.remember(record.key, form, 'saved')
  // The program may have written on since: then the draft holds more than what was stored.
  const isAll = draft.hash() === attempt.saved
  const rest = isAll ? { state: 'editing' as const, why: undefined } : { state: 'refused' as const }
  const { saved, form: base } = attempt
  await draft.change({ ...rest, saved, base, attempt: undefined })
  return isAll
}

interface StoredPart {
  /** The text that was sent, in the record's form. */
  readonly form: string
  readonly change: RecordChange
  readonly unstored: readonly string[]
}

/**
 * The stored part of a failed save is its writer's own: to take it back is an edit, and so is what was not stored; another client may
 * have changed that since.
 */
export async function notePart(
  { record, draft, history, by }: Pick<SaveState, 'record' | 'draft' | 'history' | 'by'>,
  { form, change, unstored }: StoredPart,
): Promise<void> {
  if (unstored.length >= change.edits.size) return
  const kept: Edits = new Map(unstored.map(name => [name, fieldOf(change.before, name) ?? removed]))
  const text = prettyPrint(withEdits(parseObject(form), kept))
  await history.remember(record.key, text, 'saved', by)
  await draft.change({ base: textHash(text) })
}

/**
 * The draft of a save that failed may have been dropped: the one of these texts that is stored all the same, its writer's
 * own, with no more than what the service fills in.
 */
export async function storedOf(
  record: EditableRecord,
  sent: readonly string[],
  context: RequestContext,
): Promise<string | undefined> {
  const now = record.dialect.plain(await record.read(context))
  return sent.find(text => {
    const parsed = tryObject(text)
    const said = parsed && record.dialect.plain(parsed)
    const isSame = (name: string) => said !== undefined && record.saysSame?.(name, said, now) === true
    return said !== undefined && [...editsBetween(said, now).keys()].every(isSame)
  })
}

/** A text may be in other words than JSON: the record that it means was sent beside it. */
export function tryObject(text: string): JsonObject | undefined {
  try {
    return parseObject(text)
  } catch (thrown) {
    if (asFailure(thrown).kind !== 'not-json') throw thrown
    return undefined
  }
}

/** The change was taken, and what the reading after it fails of says nothing of that. */
export function unreadable(thrown: unknown): never {
  const cause = asFailure(thrown)
  if (isA('undecided', cause)) throw cause
  throw new Failure(
    'outcome-unknown',
    `the service took it, but whether it is stored cannot be seen: ${cause.message}`,
    { cause, said: cause.said },
  )
}

/** The outcome of a lost request was looked up: its failure is the better word then. */
export function originalFailure(failure: Failure): Failure {
  return failure.kind === 'outcome-unknown' && failure.cause instanceof Failure ? failure.cause : failure
}

/** The failure of a save of several requests, with what is stored all the same. */
export function partlyStored(failure: Failure, change: RecordChange, unstored: readonly string[]): Failure {
  const missing = new Set(unstored)
  const done = [...change.edits.keys()].filter(name => !missing.has(name))
  if (done.length === 0) return failure
  const sentence = `${failure.message} (stored all the same: ${done.map(name => JSON.stringify(name)).join(', ')})`
  return new Failure(failure.kind, sentence, { cause: failure, said: failure.said })
}

/** A change on its way, which leaves a third of the time for reading after a lost answer; a late answer to it is noted. */
export function sentOnce(context: RequestContext, now: Instant) {
  const late: (() => void)[] = []
  const deadline = instant(context.deadline - Math.max(0, context.deadline - now) / 3)
  return {
    context: { ...context, deadline, late: (end: () => void) => void late.push(end) },
    /** A look has shown that it was carried out: it is no longer waited for. */
    seen(): void {
      for (const end of late) end()
    },
  }
}
