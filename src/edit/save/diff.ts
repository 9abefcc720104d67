// Edit: the top-level fields in which a program's text differs from the text it had, and their merge.
import { Failure } from '../../failure.js'
import { equalJson } from '../../record/json/equal.js'
import {
  type Edit,
  type Edits,
  fieldOf,
  type Json,
  type JsonObject,
  removed,
  textOf,
  withEdits,
} from '../../record/json/json.js'
import { isSpelling } from '../../spelling.js'

/** The edits that lead from `base` to `mine`; spelling, white space and the order of fields are none. A long history is compared at each save. */
export function editsBetween(base: JsonObject, mine: JsonObject): Edits {
  const edits = new Map<string, Edit>()
  if (base === mine) return edits
  const [before, after] = [valuesOf(base), valuesOf(mine)]
  for (const [name, value] of after) {
    const was = before.get(name)
    if (was === undefined || !equalJson(was, value)) edits.set(name, value)
  }
  for (const name of before.keys()) if (!after.has(name)) edits.set(name, removed)
  return edits
}

/** Of a name that stands there twice the last value counts. */
function valuesOf({ fields }: JsonObject): ReadonlyMap<string, Json> {
  const values = new Map<string, Json>()
  for (const { name, value } of fields) values.set(name, value)
  return values
}

/**
 * Brings the edits made on `base` into what the record has become meanwhile. `isOurs` tells of a field that differs only
 * in what the service has filled in, `isThere` of an edit that another client has made in other words. Answers their record
 * with the edits that they do not have already; it means nothing where both changed a field, each to something else.
 */
export function merge(
  base: JsonObject,
  edits: Edits,
  theirs: JsonObject,
  { isOurs = never, isThere = never }: Partial<Record<'isOurs' | 'isThere', (name: string) => boolean>> = {},
) {
  const isTheirs = (name: string) => !equalEdit(fieldValue(base, name), fieldValue(theirs, name))
  const isOpen = ([name, edit]: [string, Edit]) =>
    !equalEdit(edit, fieldValue(theirs, name)) && !(isTheirs(name) && isThere(name))
  const open = new Map([...edits].filter(isOpen))
  const conflicts = [...open.keys()].filter(name => isTheirs(name) && !isOurs(name))
  return { whole: withEdits(theirs, open), edits: open, conflicts }
}

/** The edited fields that a record does not have as they were sent; `keptSentence` tells of one that was left out and came back. */
export function unstoredFields(edits: Edits, stored: JsonObject): readonly string[] {
  return [...edits]
    .filter(([name, edit]) => edit !== removed && !equalEdit(edit, fieldValue(stored, name)))
    .map(([name]) => name)
}

/** The same of a change; a title that reads back in other words than sent or before may be the service's own spelling. */
export function unstoredChange(
  { before, edits }: { readonly before: JsonObject; readonly edits: Edits },
  stored: JsonObject,
  isTitle: (name: string) => boolean,
): readonly string[] {
  const isRespelled = (name: string) => {
    const sent = edits.get(name)
    const [edit, now] = [sent === removed ? undefined : textOf(sent), textOf(fieldOf(stored, name))]
    if (edit === undefined || now === undefined || !isTitle(name)) return false
    return isSpelling(edit, now) && textOf(fieldOf(before, name)) !== now
  }
  return unstoredFields(edits, stored).filter(name => !isRespelled(name))
}

/** The fields that were left out, and that the service has all the same, in a sentence: owner, dates and the like are its own. */
export function keptSentence(edits: Edits, stored: JsonObject): string | undefined {
  const isThere = (value: Json | undefined) =>
    value !== undefined && !(value.type === 'word' && value.raw === 'null')
  const kept = [...edits].filter(([name, edit]) => edit === removed && isThere(fieldOf(stored, name)))
  const names = kept.map(([name]) => JSON.stringify(name)).join(', ')
  return names === '' ? undefined : `the service keeps ${names}, which the text left out`
}

const never = (): boolean => false

const fieldValue = (record: JsonObject, name: string): Edit => fieldOf(record, name) ?? removed

const equalEdit = (one: Edit, other: Edit): boolean =>
  one === removed || other === removed ? one === other : equalJson(one, other)

/** A field that a text gives twice is refused, because either could be meant. What the service itself gives twice may stay so. @throws Failure 'refused' */
export function refuseSameNames(base: JsonObject, mine: JsonObject): void {
  const known = duplicateNames(base)
  const fresh = [...duplicateNames(mine)].find(name => !known.has(name))
  if (fresh === undefined) return
  throw new Failure(
    'refused',
    `the field ${JSON.stringify(fresh)} stands there twice; keep the one that is meant`,
  )
}

function duplicateNames({ fields }: JsonObject): ReadonlySet<string> {
  const met = new Set<string>()
  const again = new Set<string>()
  for (const { name } of fields) (met.has(name) ? again : met).add(name)
  return again
}
