// How a new record is made: checked before it is sent, sent once, and looked for where the answer was lost.
import { asFailure, Failure } from '../failure.js'
import type { JsonObject } from '../record/json.js'
import { parseObject } from '../record/parse.js'
import { prettyPrint } from '../record/print.js'
import type { Ask, Instant } from '../remote/remote.js'
import type { Draft } from './draft.js'
import { withFailureAs } from './explain.js'
import type { RecordKey } from './key.js'
import { onePerKey } from './one-per-key.js'
import { withReserve } from './reserve.js'
import { refuseSameNames } from './same-names.js'
import { asItWas, isUndecided } from './settle.js'
import type { Texts } from './texts.js'

/** A record that is not there yet. All methods reject with a Failure. */
export interface NewRecord {
  readonly key: RecordKey
  /** What is to be sent. @throws Failure 'refused' for what the service could not take */
  compose(written: JsonObject, ask: Ask): Promise<JsonObject>
  /** Sends it; answers the new id. */
  post(body: JsonObject, ask: Ask): Promise<string>
  /**
   * The id of the one that the service has as this body says; undefined where it has none. Missing where no operation
   * lists such records, so that nobody can know.
   */
  readonly find?: (body: JsonObject, ask: Ask) => Promise<string | undefined>
  /** What the service must be told beside the POST, where its record cannot show it; answers the record as it is then. */
  complete(
    id: string,
    made: { readonly written: JsonObject; readonly record: JsonObject },
    ask: Ask,
  ): Promise<JsonObject>
  /** The record with everything in it that the writer said, under the record's own names. */
  like(written: JsonObject, record: JsonObject, ask: Ask): Promise<JsonObject>
}

export interface Creator {
  /**
   * Makes the record that the draft describes, at most once; the id is noted in the draft before this returns.
   * @throws Failure with the draft kept: 'not-json' and 'refused' (nothing was sent), 'outcome-unknown' (it will not be
   * sent again by itself), or what the service said
   */
  create(record: NewRecord, draft: Draft, ask: Ask): Promise<string>
}

export function openCreator(texts: Texts, now: () => Instant): Creator {
  const inTurn = onePerKey()
  return {
    create: (record, draft, ask) => inTurn(record.key, () => create({ record, draft, texts, now }, ask)),
  }
}

const nothingYet: JsonObject = { type: 'object', fields: [] }

interface Creation {
  readonly record: NewRecord
  readonly draft: Draft
  readonly texts: Texts
  readonly now: () => Instant
}

async function create(creation: Creation, ask: Ask): Promise<string> {
  const { record, draft, texts } = creation
  const { made, state } = draft.meta
  if (made !== undefined) return made
  if (state === 'outcome-unknown') throw sentBefore(record.key)
  let body: JsonObject
  try {
    const written = parseObject(await draft.text())
    refuseSameNames(nothingYet, written)
    body = await record.compose(written, ask)
    const found = state === 'in-flight' ? await record.find?.(body, ask) : undefined
    if (found !== undefined) return await noted(draft, found)
    await texts.remember(record.key, prettyPrint(body), 'sent')
    await draft.sync()
    await draft.change({ state: 'sending', why: undefined })
  } catch (thrown) {
    // What was under way before this is under way still.
    throw await withFailureAs(state === 'in-flight' ? state : 'refused', draft, asFailure(thrown))
  }
  return noted(draft, await postOnce(creation, body, ask))
}

async function noted(draft: Draft, id: string): Promise<string> {
  await draft.change({ state: 'editing', made: id, why: undefined })
  return id
}

/** A failure may hide a success: where such records are listed, the list tells. Nothing is sent a second time. */
async function postOnce({ record, draft, now }: Creation, body: JsonObject, ask: Ask): Promise<string> {
  try {
    return await record.post(body, withReserve(ask, now()))
  } catch (thrown) {
    const failure = asFailure(thrown)
    if (!isUndecided(failure)) throw await withFailureAs('refused', draft, failure)
    if (record.find === undefined) throw await withFailureAs('outcome-unknown', draft, nobodyKnows(failure))
    const found = await record.find(body, ask).catch(unknownYet)
    if (found !== undefined) return found
    throw await withFailureAs('in-flight', draft, asItWas(failure))
  }
}

function nobodyKnows(cause: Failure): Failure {
  return new Failure(
    'outcome-unknown',
    `it was sent, and whether it was made is not known: ${cause.message}`,
    {
      cause,
      said: cause.said,
    },
  )
}

function sentBefore({ kind, id }: RecordKey): Failure {
  return new Failure(
    'outcome-unknown',
    `this ${kind} was sent before, and whether it was made is not known; it is not sent again by itself: look on the platform, then write \`calcfs drafts drop ${id}\` if it is there, or \`calcfs drafts send --again ${id}\` if it is not`,
  )
}

/** The first failure is the one to tell; the next save looks again before it sends. */
function unknownYet(thrown: unknown): undefined {
  asFailure(thrown)
}
