// Note of a draft on disk: its owner, the state of its save, the seal of its text, and why it still exists, also in a user's words.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { adviceForText, troubleOf } from '../../advice.js'
import { Failure, type FailureKind, looksAgain } from '../../failure.js'
import { type Identity, identityForm, isAnotherThing } from '../../remote/remote.js'
import { isMissing } from '../../system/error-code.js'
import type { Owner } from './lock.js'
import { type RecordKey, recordPhrase } from './record-key.js'
import { textHash } from './text-history.js'

/**
 * editing: not saved yet. refused: the last save failed and nothing of it is on its way. sending: a request is about
 * to leave or has left. in-flight: sent, and whether it was stored could not be seen. outcome-unknown: a new record
 * may or may not have been made.
 */
const states = ['editing', 'refused', 'sending', 'in-flight', 'outcome-unknown'] as const
export type DraftState = (typeof states)[number]

/** Kinds of failure in which the service itself has said no. */
const answeredNo: ReadonlySet<string> = new Set([
  'invalid',
  'forbidden',
  'absent',
  'too-large',
  'busy',
  'unsupported',
  'service-full',
  'broken',
] satisfies FailureKind[])

/** The state for people and scripts: 'refused' only where the service was reached and said no, else 'not-saved' or 'conflict'. */
export function stateWord({ state, why }: Pick<DraftMeta, 'state' | 'why'>): string {
  if (state !== 'refused' || why === undefined) return state
  if (why.kind === 'conflict') return 'conflict'
  return answeredNo.has(why.kind) ? state : 'not-saved'
}

export const mayBeStored = ({ state }: Pick<DraftMeta, 'state'>): boolean =>
  /^(sending|in-flight|outcome-unknown)$/.test(state)

const whySchema = z.object({
  kind: z.string(),
  sentence: z.string(),
  said: z.string().optional(),
})

/** Why a draft was not saved, for `calcfs why`; `kind` is that of `troubleOf`. */
export type DraftReason = z.infer<typeof whySchema>

const recordKinds = z.enum(['project', 'calculation', 'report', 'share'])
const place = { id: z.string(), project: z.string().optional() }

/** Takes no more of a node than names its record. */
export const keySchema = z.object({ kind: z.enum(['record', 'new', 'order']), of: recordKinds, ...place })

const metaSchema = z.object({
  key: keySchema.optional(),
  owner: z.object({ pid: z.number(), started: z.string() }),
  state: z.enum(states),
  base: z.string().optional(),
  saved: z.string().optional(),
  made: z.string().optional(),
  madeOf: z.string().optional(),
  thing: identityForm.optional(),
  apart: z.boolean().optional(),
  unread: z.boolean().optional(),
  sealed: z.object({ hash: z.string(), length: z.number() }).optional(),
  emptied: z.string().optional(),
  attempt: z
    .object({
      saved: z.string(),
      form: z.string(),
      before: z.string(),
      whole: z.string(),
      edited: z.array(z.string()),
    })
    .optional(),
  created: z.number(),
  changed: z.number(),
  written: z.number().optional(),
  why: whySchema.optional(),
})

/**
 * `key` is missing where the note was damaged. `base` is the hash of the text that the writing program had read; `saved` that
 * of the draft's own text which the service took last. `attempt` is what was put on the wire last: the text, its `form` with
 * ids for paths, the record just before, the whole record sent, and the names of the edited fields. `made` is the id of the
 * record that a POST has made, `madeOf` the hash of the text that it was made of. `thing` is what the record (of a share: its
 * project) was when the draft was begun; `apart` is set once its id stands for another thing, in whose place the text is not
 * shown. `unread` is set while the text is one that was moved away from the record and back, and that no program has read
 * between. `sealed` is the checksum of the draft's text while nothing is written to it; `emptied` the hash of the one that
 * waited before a program wrote on it. `changed` is when the note or the text was changed last, `written` when the text was.
 * Times are in milliseconds since 1970.
 */
export type DraftMeta = z.infer<typeof metaSchema>

export type MetaChange = {
  [Part in keyof Omit<DraftMeta, 'owner' | 'created' | 'changed' | 'written' | 'sealed' | 'emptied'>]?:
    | DraftMeta[Part]
    | undefined
}

/** The note in this file; undefined where it is damaged or missing: the text beside it is what counts then. */
export function readMeta(path: string): DraftMeta | undefined {
  try {
    return metaSchema.parse(unsealed(readFileSync(path, 'utf8')))
  } catch (thrown) {
    if (thrown instanceof SyntaxError || thrown instanceof z.ZodError || isMissing(thrown)) return undefined
    throw thrown
  }
}

/** With a checksum of its own, so that no damaged note sends a text to another record. */
export function printMeta(meta: DraftMeta): string {
  return `${JSON.stringify({ ...meta, checksum: checksumOf(meta) }, null, 2)}\n`
}

const checksumOf = (meta: unknown): string =>
  createHash('sha256').update(JSON.stringify(meta)).digest('hex').slice(0, 16)

/** @throws SyntaxError where the checksum is another */
function unsealed(text: string): unknown {
  const { checksum, ...meta } = z.object({ checksum: z.string() }).loose().parse(JSON.parse(text))
  if (checksum !== checksumOf(meta)) throw new SyntaxError('a damaged note')
  return meta
}

export const newMeta = (owner: Owner, now: number): DraftMeta => ({
  owner,
  state: 'editing',
  created: now,
  changed: now,
})

/** In one line of a list: with what the service said, which is the reason where it has refused the text. */
export const shortWhy = ({ sentence, said }: DraftReason): string =>
  said === undefined || sentence.includes(said) ? sentence : `${sentence} (the service said: ${said})`

/** A failure in the words of a note, which is read later: a save that failed is never sent again by itself. */
export function whyOf(failure: Failure): DraftReason {
  const sentence = failure.message.replaceAll(looksAgain, '')
  return { kind: troubleOf(failure), sentence, said: failure.said }
}

/** The advice for a text of this name; undefined while nothing is wrong. */
export function whatToDo(
  { meta, damage }: { readonly meta: Pick<DraftMeta, 'state' | 'why'>; readonly damage: string | undefined },
  name: string,
): string | undefined {
  const { state, why } = meta
  if (why === undefined) return undefined
  const trouble = state === 'outcome-unknown' ? state : why.kind
  return adviceForText(damage === undefined ? trouble : 'lost', name)
}

/** Seal of a draft: length and checksum in its note, which show whether the text is still the one that was written. */
export const sealOf = (bytes: Uint8Array): NonNullable<DraftMeta['sealed']> => ({
  hash: textHash(bytes),
  length: bytes.length,
})

/**
 * The damage of a text by the disk, in a sentence; undefined where it is whole. Without a checksum (a kill cut the
 * draft short) only a text of nothing but zeros is known to be lost: no program writes one.
 */
export function damageOf(directory: string, { sealed }: DraftMeta, bytes: Uint8Array): string | undefined {
  const left = `what is left lies in ${directory}/text`
  if (sealed === undefined) {
    const isLost = bytes.length > 0 && bytes.every(byte => byte === 0)
    return isLost
      ? `the disk has lost this text, ${bytes.length} zeros stand in its place: ${left}`
      : undefined
  }
  if (bytes.length === sealed.length && textHash(bytes) === sealed.hash) return undefined
  const lengths = `${sealed.length} bytes were written, and ${bytes.length} are there, not all of them the same`
  return `the disk has lost bytes of this text (${lengths}): ${left}`
}

export const lossWhy = (sentence: string): DraftReason => ({ kind: 'broken', sentence })

/**
 * Writes the failure down beside the draft and answers the one to throw. Where it is not known what became of the request, one
 * that may have been carried out leaves the draft 'in-flight', everything else 'refused'.
 */
export async function withFailure(
  draft: { readonly meta: DraftMeta; commit(part: MetaChange): Promise<void> },
  failure: Failure,
  state: DraftState = /^(sending|in-flight)$/.test(draft.meta.state) ? 'in-flight' : 'refused',
): Promise<Failure> {
  try {
    // "Your text is kept" holds over a power cut as well. Where the disk refuses that, the state holds in memory all the same.
    await draft.commit({ state, why: whyOf(failure) })
    return failure
  } catch (thrown) {
    const sentence = `${failure.message}; this could not be written down beside the draft`
    const cause = new AggregateError([failure, thrown])
    return new Failure(failure.kind, sentence, { cause, said: failure.said })
  }
}

/** Keeps the draft apart from what has its id now, to which it is never sent; answers the failure to throw. */
export async function setApart(draft: {
  readonly meta: DraftMeta
  change(part: MetaChange): Promise<void>
}): Promise<Failure> {
  if (draft.meta.apart !== true) await draft.change({ apart: true })
  return anotherThing(draft.meta.key)
}

/** True if this is another thing than the draft was begun for; false where it was not noted. */
export function isOtherThan({ meta }: { readonly meta: DraftMeta }, now: Identity): boolean {
  return meta.thing !== undefined && isAnotherThing(meta.thing, now, 'loosely')
}

export function anotherThing(key: RecordKey | undefined): Failure {
  const place = key?.of === 'share' ? ' (or its project)' : ''
  return new Failure(
    'another-thing',
    `the id of ${recordWords(key)}${place} stands for another thing on the service than when this text was begun: nothing is sent`,
  )
}

/** For `calcfs why`: what was tried, what the service said, what to do; undefined while nothing is wrong. */
export function explain(
  draft: { readonly directory: string; readonly meta: DraftMeta; readonly damage: string | undefined },
  name: string,
): string | undefined {
  const { why, key, state } = draft.meta
  if (why === undefined) return undefined
  const lines = [`${capital(recordWords(key))} was not saved: ${why.sentence}.`]
  if (state === 'in-flight')
    lines.push('It was sent, and whether the service has stored it could not be seen.')
  if (why.said !== undefined) lines.push(`The service said: ${why.said}`)
  const last = [whatToDo(draft, name), `The draft: ${name}`, `The text: ${draft.directory}/text`]
  return `${[...lines, ...last].join('\n')}\n`
}

export function recordWords(key: RecordKey | undefined): string {
  if (key === undefined) return 'a record'
  return `the ${key.kind === 'new' ? 'new ' : ''}${recordPhrase(key)}`
}

export const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)
