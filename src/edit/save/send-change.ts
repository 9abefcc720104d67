// Sending of one change: noted on disk before it leaves, sent once, and read back whatever the answer.
import { asFailure, Failure, isA } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyBytes, prettyPrint } from '../../record/json/print.js'
import { type Instant, instant, type Look, type RequestContext } from '../../remote/remote.js'
import type { MetaChange } from '../journal/draft-meta.js'
import { textHash } from '../journal/text-history.js'
import { editsBetween } from './diff.js'
import type { EditableRecord, Following, RecordChange, SaveState } from './editable.js'
import { notePart, partlyStored, sentOnce, tryObject } from './reconcile.js'

/** A program's text, and the same in the form the service has it in (with ids for paths), as a base must be. */
export interface OwnText {
  readonly text: string
  readonly form: string
  readonly hashes: { readonly saved: string; readonly form: string }
}

export function ownText(text: string, form: string): OwnText {
  const saved = textHash(text)
  return { text, form, hashes: { saved, form: text === form ? saved : textHash(form) } }
}

export interface SendContext extends SaveState {
  readonly said: OwnText
  /** When the reading of the record began into which the edits were brought. */
  readonly readAt: Instant
}

/**
 * Sends the change and reads the record again: a failure may hide a success, and only the record itself can tell. Nothing is sent a
 * second time. Answers the record as it is now, and what the service dropped beside the edit, in a sentence.
 * @throws Failure 'broken' for a 200 that was not stored, or why it could not be sent; the draft's state tells which
 */
export async function sendChange(
  passage: SendContext,
  change: RecordChange,
): Promise<{ readonly stored: JsonObject; readonly lost: string | undefined }> {
  const { record, draft, said, now, readAt, context } = passage
  const lookFrom = (at: Instant, base: Pick<RecordChange, 'before' | 'whole'>): Look => ({
    at,
    async again(within) {
      await context.look?.again(within)
      await refuseChanged(record, base, within)
    },
  })
  await noteAttempt(passage, change)
  const readFirst = instant(Math.min(readAt, context.look?.at ?? readAt))
  const late = sentOnce({ ...context, look: lookFrom(readFirst, change) }, now())
  const following: Following = () => {
    const at = now()
    return next => ({ ...late.context, look: lookFrom(at, next) })
  }
  let failure: Failure | undefined
  let stored: JsonObject
  try {
    stored = await record.send(change, late.context, following)
  } catch (thrown) {
    failure = asFailure(thrown)
    stored = await readBack(passage, failure)
  }
  const { unstored, lost } = record.compare(change, stored, failure === undefined)
  if (unstored.length === 0) {
    if (failure !== undefined) late.seen()
    return { stored, lost }
  }
  await notePart(passage, { form: said.form, change, unstored })
  if (failure?.kind === 'conflict') await draft.keepTheirs(prettyPrint(stored))
  if (failure?.kind !== 'timeout') await draft.change(failure ? notUnderWay(failure) : { state: 'refused' })
  throw failure ? partlyStored(failure, change, unstored) : notAllTaken(change, unstored)
}

function notAllTaken({ edits }: RecordChange, unstored: readonly string[]): Failure {
  const taken = [...edits.keys()].filter(name => !unstored.includes(name))
  const ignored =
    taken.length === 0
      ? `ignored the change of ${quoted(unstored)}`
      : `took the change of ${quoted(taken)} and ignored that of ${quoted(unstored)}`
  return new Failure('broken', `the server ${ignored}; if it is read-only, drop the draft`)
}

export const quoted = (names: readonly string[]): string => names.map(name => JSON.stringify(name)).join(', ')

/** On disk before the first request leaves: whatever happens then, the next mount can tell what was tried. */
async function noteAttempt(
  { record, draft, history, said, by }: SendContext,
  change: RecordChange,
): Promise<void> {
  const before = prettyBytes(change.before)
  const whole = prettyPrint(change.whole)
  const texts = saysOtherwise(record, said) ? [said.form, whole] : [said.text, said.form, whole]
  const sent = [...new Set(texts)].map(text => ({ text, how: 'sent' as const, by }))
  await history.rememberAll(record.key, [{ text: before, how: 'replaced' }, ...sent])
  const hashes = { ...said.hashes, before: textHash(before), whole: textHash(whole) }
  const attempt = { ...hashes, edited: [...change.edits.keys()] }
  const earlier = draft.meta.attempt
  await draft.commit({ state: 'sending', attempt, why: undefined }).catch(thrown => {
    // Nothing has left.
    draft.noteLater({ state: 'refused', attempt: earlier })
    throw thrown
  })
}

/** Digits that were rounded, or a path for an id: what its form says is sent, and the draft has the text. */
function saysOtherwise(record: EditableRecord, { text, form }: OwnText): boolean {
  const said = text === form ? undefined : tryObject(text)
  return (
    said !== undefined &&
    editsBetween(record.dialect.plain(said), record.dialect.plain(parseObject(form))).size > 0
  )
}

/** A change in between would be overwritten. @throws Failure 'conflict' or 'another-thing' */
async function refuseChanged(
  record: EditableRecord,
  { before, whole }: Pick<RecordChange, 'before' | 'whole'>,
  context: RequestContext,
): Promise<void> {
  const now = await record.read(context)
  if (record.isAnother(before, now))
    throw new Failure('another-thing', 'another thing has its number since it was looked at')
  const [meant, there] = [record.dialect.plain(whole), record.dialect.plain(now)]
  // A part of the change may be stored already, and filled in.
  const notOurs = editsBetween(meant, there)
  const isTheirs = (name: string) => notOurs.has(name) && record.saysSame?.(name, meant, there) !== true
  const theirs = [...editsBetween(record.dialect.plain(before), there).keys()].filter(isTheirs)
  if (theirs.length === 0) return
  throw new Failure(
    'conflict',
    `another client has changed ${quoted(theirs)} while the change waited to be sent: save it again`,
  )
}

async function readBack({ record, draft, context }: SendContext, failure: Failure): Promise<JsonObject> {
  try {
    return await record.read(context)
  } catch {
    // The first failure is the one to tell; that the record cannot be read either is what 'in-flight' says.
    if (!isA('undecided', failure)) await draft.change(notUnderWay(failure))
    throw failure
  }
}

/** A clear refusal needs no second look; anything else may still be carried out late. */
function notUnderWay(failure: Failure): MetaChange {
  return isA('undecided', failure) ? { state: 'refused' } : { state: 'refused', attempt: undefined }
}
