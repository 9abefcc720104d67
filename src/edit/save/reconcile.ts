// A change whose answer is lost: time is kept for a look, the record is read and compared, and nothing is sent twice.
import { asFailure, Failure, isA } from '../../failure.js'
import { fieldOf, type JsonObject } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { type Instant, instant, type RequestContext } from '../../remote/remote.js'
import type { Draft } from '../journal/draft.js'
import { type SaveAttempt, setApart, whyOf } from '../journal/draft-meta.js'
import { editsBetween, removed } from './diff.js'
import type { EditableRecord, RecordChange, SaveState } from './editable.js'

/** Reads the record; true if the last attempt of this draft was carried out, and the service has all that the draft says. */
export async function reconcileAttempt(
  { record, draft, history }: Pick<SaveState, 'record' | 'draft' | 'history'>,
  context: RequestContext,
): Promise<boolean> {
  const { attempt } = draft.meta
  if (attempt === undefined) return false
  const recalled = [attempt.before, attempt.whole, attempt.form]
  const [before, whole, form] = recalled.map(hash => history.recall(record.key, hash))
  if (before === undefined || whole === undefined || form === undefined) return false
  const change = changeOf(parseObject(before), parseObject(whole), attempt.edited)
  const now = await record.read(context)
  if (record.isAnother(change.before, now)) throw await setApart(draft)
  // Not every request of it may have left: what it was to say again, the titles of rows, counts as lost.
  if (record.compare(change, now, false).unstored.length > 0) {
    await draft.change({ state: 'refused', why: whyOf(notStored()) })
    // The attempt stays noted: a slow service may still carry it out.
    return false
  }
  await history.remember(record.key, whole, 'saved')
  await history.remember(record.key, form, 'saved')
  return closeAttempt(draft, attempt)
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

/** The program may have written on since: then the draft holds more than what was stored. */
async function closeAttempt(draft: Draft, { saved, form }: SaveAttempt): Promise<boolean> {
  const isAll = draft.hash() === saved
  const rest = isAll ? { state: 'editing' as const, why: undefined } : { state: 'refused' as const }
  await draft.change({ ...rest, saved, form, base: form, attempt: undefined })
  return isAll
}

function changeOf(before: JsonObject, whole: JsonObject, edited: readonly string[]): RecordChange {
  return { before, whole, edits: new Map(edited.map(name => [name, fieldOf(whole, name) ?? removed])) }
}

function notStored(): Failure {
  return new Failure('unreachable', 'the last save was cut short, and the service does not have all of it')
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
  return new Failure(failure.kind, sentence, { cause: failure, said: failure.said, place: failure.place })
}

/** A change on its way, which leaves a third of the time for reading after a lost answer. */
interface SentChange {
  /** Its request, of which a late answer is noted here. */
  readonly context: RequestContext
  /** A look has shown that it was carried out: it is no longer waited for. */
  seen(): void
}

export function sentOnce(context: RequestContext, now: Instant): SentChange {
  const late: (() => void)[] = []
  const deadline = instant(context.deadline - Math.max(0, context.deadline - now) / 3)
  return {
    context: { ...context, deadline, late: end => void late.push(end) },
    seen() {
      for (const end of late) end()
    },
  }
}
