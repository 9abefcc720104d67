// Whether a text names the same user, or the same report, as known records: a file name alone does not show it.
import { equalJson } from '../../record/json/equal.js'
import { fieldOf, type Json, type JsonObject } from '../../record/json/json.js'
import { compactPrint } from '../../record/json/print.js'
import type { PersonNamed } from '../remote.js'
import type { FieldNames } from './names.js'
import { firstReadable } from './reading.js'
import { idIn, nonBlankText } from './scalar.js'

/** Every user that the text names must stand in one of the records, in any field. */
export function personNamed(
  written: JsonObject,
  known: readonly JsonObject[],
  names: FieldNames,
): PersonNamed {
  const named = personsIn(written, names)
  if (named.length === 0) return 'none'
  const there = new Set(known.flatMap(record => personsIn(record, names)))
  return named.every(person => there.has(person)) ? 'them' : 'another'
}

/** The users a share names, normalised so that two equal ones compare equal. */
function personsIn(share: JsonObject, names: FieldNames): readonly string[] {
  return names.sharedWith.flatMap(name => spellings(fieldOf(share, name), names))
}

function spellings(json: Json | undefined, names: FieldNames): readonly string[] {
  if (json === undefined || isEmpty(json)) return []
  if (json.type !== 'object')
    return [(nonBlankText(json) ?? idIn(json) ?? compactPrint(json)).trim().toLowerCase()]
  const login = firstReadable(json, names.login, nonBlankText)
  const found = [firstReadable(json, names.id, idIn), login?.trim().toLowerCase()].filter(
    one => one !== undefined,
  )
  return found.length > 0 ? found : [compactPrint(json)]
}

/**
 * True if the text can be an edit of a report that has these records: it has their title or none, or at least as many
 * fields in common as differ. The type and empty fields are ignored: every report has them.
 */
export function resembles(written: JsonObject, known: readonly JsonObject[], names: FieldNames): boolean {
  const titles = (record: JsonObject) =>
    names.reportTitle.flatMap(name => nonBlankText(fieldOf(record, name))?.trim() ?? [])
  const theirs = new Set(known.flatMap(titles))
  const own = titles(written)
  if (own.length === 0 || own.some(title => theirs.has(title))) return true
  const types = [...names.reportType, ...names.reportTypeName]
  const apart = new Set([...names.id, ...types, ...names.reportTitle, ...ownFields(names)])
  const said = written.fields.filter(({ name, value }) => !apart.has(name) && !isEmpty(value))
  const isKnown = ({ name, value }: { name: string; value: Json }) =>
    known.some(record => {
      const there = fieldOf(record, name)
      return there !== undefined && equalJson(there, value)
    })
  const common = said.filter(isKnown).length
  // The title is one that differs.
  const different = said.length - common + 1
  return common > 0 && common >= different
}

/** Fields that the service fills in by itself. */
export const ownFields = ({ created, modified, state, published }: FieldNames): readonly string[] =>
  [created, modified, state, published].flat()

/** Has no content: null, a blank text, an empty list or object. */
function isEmpty(json: Json): boolean {
  switch (json.type) {
    case 'word':
      return json.raw === 'null'
    case 'string':
      return json.value.trim() === ''
    case 'array':
      return json.items.length === 0
    case 'object':
      return json.fields.length === 0
    default:
      return false
  }
}
