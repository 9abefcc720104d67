// Own words of a saved text: one field may say what another one does not yet, and the next save of its writer is an edit of that text.
import { setImmediate } from 'node:timers/promises'
import type { JsonObject } from '../../record/json/json.js'
import { foldedFrom, parseObject } from '../../record/json/parse.js'
import { prettyPrint } from '../../record/json/print.js'
import { keyName, type RecordKey } from '../journal/record-key.js'
import type { KnownText } from '../journal/text-history.js'
import type { Candidate } from './base.js'
import { editsBetween, withEdits } from './diff.js'
import type { EditableRecord, RecordChange, WrittenEdit } from './editable.js'

/** A text that was saved, and the form in which it was. */
interface Worded {
  readonly text: JsonObject
  readonly form: string
}

export interface SavedWords {
  /** Of the last save of a record, where its text says more than its form. */
  of(key: RecordKey): Worded | undefined
  note(record: EditableRecord, checked: JsonObject, saved: { written: WrittenEdit; form: string }): void
}

/** For as long as the mount lives: after that its form alone is known. */
export function openSavedWords(): SavedWords {
  const kept = new Map<string, Worded>()
  return {
    of: key => kept.get(keyName(key)),
    note(record, checked, { written, form }) {
      const key = keyName(record.key)
      if (written.words === undefined && record.isWordedOld?.(checked, written) !== true) kept.delete(key)
      else kept.set(key, { text: written.words ?? written.mine, form })
    },
  }
}

interface Compared extends Candidate {
  /** Whether the edits lead from its writer's own words for it. */
  readonly isWorded: boolean
}

/** Long ones one by one: the drive answers meanwhile. */
export async function comparedWith(
  mine: JsonObject,
  known: readonly (Candidate & Pick<KnownText, 'text'>)[],
  worded: Worded | undefined,
): Promise<readonly Compared[]> {
  const compared: Compared[] = []
  for (const met of known) {
    const edits = editsBetween(met.record, mine)
    const own = worded?.form === met.text ? editsBetween(worded.text, mine) : undefined
    const isWorded = own !== undefined && own.size < edits.size
    compared.push({ ...met, edits: isWorded ? own : edits, isWorded })
    if (met.text.length >= foldedFrom) await setImmediate()
  }
  return compared
}

/** What is meant by a text: its edits, where it is one of own words, made in the form of these. */
export function meantBy(
  mine: JsonObject,
  { record, edits }: Required<Pick<Candidate, 'record' | 'edits'>>,
  compared: readonly Compared[],
): Pick<WrittenEdit, 'base' | 'mine' | 'words'> {
  const isWorded = compared.some(met => met.record === record && met.isWorded)
  return isWorded ? { base: record, mine: withEdits(record, edits), words: mine } : { base: record, mine }
}

/**
 * The stored record as text, where it says something else than what was saved, and all of that is what was sent or what
 * the service fills in: who reads it next reads no other client's change.
 */
export function outcomeOf(
  record: EditableRecord,
  form: string,
  { written, change, stored }: { written: WrittenEdit; change: RecordChange; stored: JsonObject },
): string | undefined {
  const made = editsBetween(record.plain(parseObject(form)), record.plain(stored))
  const isFollowed = [...change.edits.keys()].some(name => record.follows?.(name))
  if (made.size === 0 && !isFollowed && written.words === undefined) return undefined
  const others = editsBetween(written.base, record.plain(change.before))
  const isOwn = (name: string) => change.edits.has(name) || !others.has(name) || record.follows?.(name)
  return [...made.keys()].every(isOwn) ? prettyPrint(stored) : undefined
}
