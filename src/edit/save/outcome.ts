// Outcome of a save: what the service made of the saved text is no other client's change.
import { fieldOf, type JsonObject } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyPrint } from '../../record/json/print.js'
import { editsBetween } from './diff.js'
import type { EditableRecord, RecordChange, WrittenEdit } from './editable.js'

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
  if (made.size === 0 && !isFollowed) return undefined
  const others = editsBetween(written.base, record.plain(change.before))
  // What the writer's text did not have at all the service fills in.
  const isFilledIn = (name: string) => record.follows?.(name) || fieldOf(written.base, name) === undefined
  const isOwn = (name: string) => change.edits.has(name) || !others.has(name) || isFilledIn(name)
  return [...made.keys()].every(isOwn) ? prettyPrint(stored) : undefined
}
