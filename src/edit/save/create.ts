// Creation of a record: checked before it is sent, sent once, and looked for where the answer was lost.
import { asFailure, Failure, isA, unlessFailure } from '../../failure.js'
import { emptyObject, type JsonObject } from '../../record/json/json.js'
import { clearly } from '../../record/json/kept-digits.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyPrint } from '../../record/json/print.js'
import { isSameNumber } from '../../record/json/same-number.js'
import type { Identity, Instant, RequestContext } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import type { Draft } from '../journal/draft.js'
import {
  anotherThing,
  type DraftMeta,
  isOtherThan,
  mayBeStored,
  setApart,
  withFailure,
} from '../journal/draft-meta.js'
import type { RecordKey } from '../journal/record-key.js'
import { type TextHistory, textHash } from '../journal/text-history.js'
import { editsBetween, refuseSameNames } from './diff.js'
import { originalFailure, sentOnce } from './reconcile.js'

/** A record that is not there yet. All methods reject with a Failure. */
export interface NewRecord {
  readonly key: RecordKey
  readonly withDigitsOf: Dialect['withDigitsOf']
  /** The id in a text, as it stands there: its own, or that of the record of which it is a copy; undefined for none. */
  idOf(written: JsonObject): string | undefined
  /** The thing it is made in, as the service says now; missing where it is made in none. */
  place?(context: RequestContext): Promise<Identity>
  /** The request to send. @throws Failure 'refused' for what the service could not take */
  compose(written: JsonObject, context: RequestContext): Promise<JsonObject>
  post(body: JsonObject, context: RequestContext): Promise<string>
  /**
   * The id of the one that the service has as this body says; undefined where it has none. Missing where no operation
   * lists such records, so that it cannot be known.
   */
  readonly find?: (body: JsonObject, context: RequestContext) => Promise<string | undefined>
  /** True if the record with the number that was answered is what was sent. */
  isOf(written: JsonObject, record: JsonObject): boolean
  /** The change that the service needs beside the POST, where its record cannot show it; answers the record as it is then. */
  complete(
    id: string,
    made: { readonly written: JsonObject; readonly record: JsonObject },
    context: RequestContext,
  ): Promise<JsonObject>
  /** True if the text is about the record that says, or of which was said, what is known. */
  resembles(written: JsonObject, known: readonly JsonObject[]): boolean
  /** The record with everything in it that the writer said, under the record's own names. */
  like(written: JsonObject, record: JsonObject, context: RequestContext): Promise<JsonObject>
}

export function carriesId({ idOf }: Pick<NewRecord, 'idOf'>, written: JsonObject, id: string): boolean {
  const own = idOf(written)
  return own !== undefined && isSameNumber(id, own)
}

/**
 * True if the text is about the record of that number, or of which was said what is known. A text with another id is not, but for a
 * copy of another record, which keeps that one's id when it is saved under the same name once more.
 */
export function isAbout(
  record: NewRecord,
  written: JsonObject,
  { id, known }: { readonly id: string; readonly known: readonly JsonObject[] },
): boolean {
  if (carriesId(record, written, id)) return true
  const own = record.idOf(written)
  const isOpen = own === undefined || known.some(one => record.idOf(one) === own)
  return isOpen && record.resembles(written, known)
}

/** The new record, and the text that says what it shall be: the draft may have been written over since. */
export interface CreatedRecord {
  readonly id: string
  readonly written: JsonObject
}

export const mayBeMade = (meta: DraftMeta): boolean => meta.made !== undefined || mayBeStored(meta)

export interface Creation {
  readonly record: NewRecord
  readonly draft: Draft
  readonly history: TextHistory
  readonly now: () => Instant
  readonly context: RequestContext
}

/**
 * Makes the record that the draft describes, at most once; the id is noted in the draft before this returns.
 * @throws Failure with the draft kept: 'not-json' and 'refused' (nothing was sent), 'outcome-unknown' (it will not be
 * sent again by itself), or what the service said
 */
export async function createOnce(creation: Creation): Promise<CreatedRecord> {
  const { record, draft, history, context } = creation
  if (draft.meta.state === 'outcome-unknown')
    throw new Failure(
      'outcome-unknown',
      `this ${record.key.of} was sent before, and whether it was made is not known; it is not sent again by itself`,
    )
  let body: JsonObject
  let written: JsonObject
  const looked = creation.now()
  const isUnderWay = draft.meta.state === 'in-flight'
  try {
    const text = draft.text()
    written = await withOwnDigits(creation, parseObject(text))
    if (draft.meta.made !== undefined && (await isStillMade(creation, written)))
      return { id: draft.meta.made, written }
    refuseSameNames(emptyObject, written)
    await refuseOtherPlace(creation)
    body = await record.compose(written, context)
    await history.remember(record.key, text, 'sent')
    await draft.change({ madeOf: textHash(text) })
    const found = isUnderWay ? await record.find?.(body, context) : undefined
    if (found !== undefined) return { id: await noted(creation, found), written }
    await history.remember(record.key, prettyPrint(body), 'sent')
    await draft.commit({ state: 'sending', why: undefined })
  } catch (thrown) {
    // Creations under way before this are under way still.
    throw await withFailure(draft, asFailure(thrown), isUnderWay ? 'in-flight' : 'refused')
  }
  return { id: await noted(creation, await postOnce(creation, { body, looked, isUnderWay })), written }
}

/** As many digits as a double may have lost some of. */
const longNumber = /[0-9]{16}|[0-9.]{17}/

/** A program that copies a record may round its numbers: the known text that is nearest has their digits. */
async function withOwnDigits(
  { record: { key, idOf, withDigitsOf }, history }: Creation,
  written: JsonObject,
): Promise<JsonObject> {
  const id = idOf(written)
  // A copy whose id was taken out is one of any record here; only long numbers can have lost digits.
  if (id === undefined && !longNumber.test(prettyPrint(written))) return written
  const known = history.numbered(key.of).filter(number => id === undefined || isSameNumber(number, id))
  const texts = await Promise.all(
    known.map(number => history.known({ kind: 'record', of: key.of, id: number })),
  )
  const near = texts
    .flatMap(({ candidates }) => candidates)
    .map(({ text }) => {
      const base = parseObject(text)
      const kept = withDigitsOf(base, written)
      return { kept, distance: editsBetween(base, kept.record).size }
    })
  const [nearest] = near.toSorted((one, other) => one.distance - other.distance)
  return nearest === undefined ? written : clearly(nearest.kept)
}

/** @throws Failure 'another-thing' where what it is to be made in is another thing than when the draft was begun */
async function refuseOtherPlace({ record, draft, context }: Creation): Promise<void> {
  if (record.place === undefined) return
  // A creation refused as not meant is not sent by a later try of the same text.
  if (draft.meta.apart === true) throw anotherThing(draft.key)
  if (draft.meta.thing === undefined) return
  const place = await record.place(context).catch(async (thrown: unknown) => {
    if (asFailure(thrown).kind === 'another-thing') await setApart(draft)
    throw thrown
  })
  if (isOtherThan(draft, place)) throw await setApart(draft)
}

/** The draft may hold another text than the one that the record was made of: then it has made nothing yet. */
async function isStillMade({ record, draft, history }: Creation, written: JsonObject): Promise<boolean> {
  const { made = '', madeOf } = draft.meta
  const before = madeOf === undefined ? undefined : history.recall(record.key, madeOf)
  const known = before === undefined ? [] : [parseObject(before)]
  if (isAbout(record, written, { id: made, known })) return true
  await draft.change({ made: undefined, madeOf: undefined })
  return false
}

/** The answer to its POST gave a number, and nothing was read under that: a list or a copy of the service may be late. */
export function notShownYet({ of }: RecordKey, id: string, cause: Failure): Failure {
  return new Failure(
    'broken',
    `the service took it as ${of} ${id}, but does not show that yet: it is not sent again, and the next save looks again`,
    { cause, said: cause.said },
  )
}

/** Where the disk does not take the number, the note of before is there: what was sent is looked for, and not sent again. */
async function noted({ draft }: Creation, id: string): Promise<string> {
  try {
    await draft.change({ state: 'editing', why: undefined, made: id })
    return id
  } catch (thrown) {
    const cause = asFailure(thrown)
    const sentence = `it was made with the number ${id}, which could not be noted: ${cause.message}`
    throw await withFailure(draft, new Failure(cause.kind, sentence, { cause }), 'refused')
  }
}

/** A failure may hide a success: where such records are listed, the list tells. Nothing is sent a second time. */
async function postOnce(
  creation: Creation,
  { body, looked, isUnderWay }: { body: JsonObject; looked: Instant; isUnderWay: boolean },
): Promise<string> {
  const { record, draft, now, context } = creation
  let ours: string | undefined
  let isThere = false
  const again = async (within: RequestContext): Promise<void> => {
    await refuseOtherPlace({ ...creation, context: within })
    const found = await record.find?.(body, within)
    if (found === undefined) return
    // The answer to an earlier try of this draft may have been waited for.
    if (isUnderWay) ours = found
    isThere = true
    throw new Failure('conflict', 'another client has made such a one while this one waited to be sent')
  }
  const late = sentOnce({ ...context, look: { at: looked, again } }, now())
  try {
    return await record.post(body, late.context)
  } catch (thrown) {
    if (ours !== undefined) return ours
    const failure = asFailure(thrown)
    // Of the one that was met the next try is an edit: it may be this user's own, sent by another mount.
    if (!isA('undecided', failure)) throw await withFailure(draft, failure, isThere ? 'in-flight' : 'refused')
    if (record.find === undefined) throw await withFailure(draft, outcomeUnknown(failure), 'outcome-unknown')
    const found = await record.find(body, context).catch(unlessFailure)
    if (found !== undefined) {
      late.seen()
      return found
    }
    throw await withFailure(draft, originalFailure(failure), 'in-flight')
  }
}

function outcomeUnknown(cause: Failure): Failure {
  const sentence = `it was sent, and whether it was made is not known: ${cause.message}`
  return new Failure('outcome-unknown', sentence, { cause, said: cause.said })
}
