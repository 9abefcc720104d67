// Text of a new file, compared with the record made of it: all names of that record share what was saved here.

import { type TextHistory, textHash } from '../../edit/journal/text-history.js'
import type { NewRecord } from '../../edit/save/create.js'
import { editsBetween, removed, withEdits } from '../../edit/save/diff.js'
import { asFailure, type Failure, isA } from '../../failure.js'
import { type JsonObject, withoutField } from '../../record/json/json.js'
import { clearly } from '../../record/json/kept-digits.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyPrint } from '../../record/json/print.js'
import type { Dialect, RequestContext } from '../../remote/remote.js'
import type { MadeNames } from '../names/made-names.js'
import type { NewNode, RecordNode } from '../nodes/node.js'
import type { EditingParts } from './editable-files.js'
import { recordKeyOf } from './node-key.js'

/** What the name of a new file stands for, and what was written under it. */
export interface NewFileAlias {
  readonly target: RecordNode
  /** The record as it was made. */
  readonly record: JsonObject
  /** What was written under this name last, whatever became of it. */
  readonly written: JsonObject
  /** The text under this name that was stored last; undefined where a later one may be stored in part. */
  readonly stored: JsonObject | undefined
  /** The record's text as it was then. */
  readonly form: JsonObject
}

/** The record as a text means it, and the text that it is an edit of; undefined where the texts that were met tell. */
export interface MeantText {
  readonly form: JsonObject
  readonly base: JsonObject | undefined
}

/** With the digits of the record, and of what was written under this name before. @throws Failure 'refused' in doubt */
export function writtenUnder(
  dialect: Dialect,
  { form, written }: NewFileAlias,
  text: JsonObject,
): JsonObject {
  return dialect.withDigitsOf(written, clearly(dialect.withDigitsOf(form, text))).record
}

interface MeaningParts {
  readonly dialect: Dialect
  readonly history: Pick<TextHistory, 'lastSaved' | 'candidates'>
}

/**
 * What differs from the last text under this name is an edit of what was saved last under any name of the record. A text
 * that says nothing new takes back what was saved since under another one. A text with the record's id stands for itself.
 */
export async function meaningOf(
  parts: MeaningParts,
  { alias, like }: { alias: NewFileAlias; like: NewRecord['like'] },
  written: JsonObject,
  context: RequestContext,
): Promise<MeantText> {
  const { dialect } = parts
  const { target, stored } = alias
  const isWhole = (record: JsonObject) =>
    (target.of === 'share' ? dialect.shareId(record) : dialect.facts(record).id) === target.id
  if (isWhole(written)) return { form: written, base: undefined }
  const latest = await latestOf(parts, alias)
  if (stored === undefined) return { form: await like(written, latest, context), base: undefined }
  const edits = editsBetween(stored, written)
  const changed = written.fields.filter(({ name }) => edits.has(name))
  // A part of the record that is written after the whole of it takes nothing away.
  const gone = isWhole(stored) ? [] : [...edits].filter(([, edit]) => edit === removed)
  const edited = async (record: JsonObject): Promise<JsonObject> => {
    const said =
      changed.length === 0 ? record : await like({ type: 'object', fields: changed }, record, context)
    return gone.reduce((whole, [name]) => withoutField(whole, name), said)
  }
  const form = await edited(alias.form)
  const since = editsBetween(alias.form, latest)
  if (!isSame(form, alias.form)) return { form: since.size === 0 ? form : await edited(latest), base: latest }
  if (since.size === 0) return { form, base: undefined }
  const all = editsBetween(latest, await like(written, latest, context))
  const back = new Map([...all].filter(([name]) => since.has(name)))
  // A program that has read the record since may be this writer: then the texts that were met tell.
  return { form: withEdits(latest, back), base: (await isReadSince(parts, alias)) ? undefined : latest }
}

/** Whether programs here have read the record since it was saved last. */
async function isReadSince({ history }: MeaningParts, { target }: NewFileAlias): Promise<boolean> {
  const known = await history.candidates(recordKeyOf(target))
  const saved = Math.max(...known.map(text => text.saved ?? 0))
  return known.some(({ read }) => read !== undefined && read > saved)
}

/** What was saved of another thing that had the number is no text of this one. */
async function latestOf(
  { dialect, history }: MeaningParts,
  { target, record, form }: NewFileAlias,
): Promise<JsonObject> {
  const saved = await history.lastSaved(recordKeyOf(target))
  const latest = saved === undefined ? form : parseObject(saved)
  return target.of === 'report' && dialect.isAnother(record, latest) ? form : latest
}

const isSame = (one: JsonObject, other: JsonObject): boolean => editsBetween(one, other).size === 0

/** What the next text is compared with, once it is known what became of this one. */
export function aliasAfter(
  alias: NewFileAlias,
  { form }: MeantText,
  failure: Failure | undefined,
): NewFileAlias {
  if (failure === undefined) return { ...alias, stored: alias.written, form }
  return isA('unsent', failure) ? alias : { ...alias, stored: undefined }
}

/** A daemon that is killed leaves to the next one what was stored under the name last. */
export async function noteStored(
  { history, log, madeNames }: Pick<EditingParts, 'history' | 'log'> & { readonly madeNames: MadeNames },
  node: NewNode,
  { target, record, written }: NewFileAlias,
): Promise<void> {
  if (madeNames.of(node) === undefined) return
  const text = prettyPrint(written)
  try {
    await history.remember(recordKeyOf(node), text, 'sent')
    madeNames.note(node, {
      id: target.id,
      madeOf: textHash(text),
      base: textHash(prettyPrint(record)),
    })
  } catch (thrown) {
    log('what was saved under a new name could not be noted', { cause: asFailure(thrown) })
  }
}

/** True where nothing of the form is left to be stored. */
export function isSameRecordText(
  { dialect }: Pick<EditingParts, 'dialect'>,
  stored: JsonObject,
  form: JsonObject,
): boolean {
  return editsBetween(dialect.plain(stored), dialect.plain(form)).size === 0
}
