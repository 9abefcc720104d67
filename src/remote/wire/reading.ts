// Reads records: facts, listed items and log-in names, each from the first field that states it.
import { foundOnce } from '../../recent-map.js'
import type { BatchBuilder } from '../../record/compact/compressed-batch.js'
import { equalJson } from '../../record/json/equal.js'
import { fieldOf, type Json, type JsonObject, withField } from '../../record/json/json.js'
import { isLong } from '../../record/json/parse.js'
import { compactPrint } from '../../record/json/print.js'
import type { Listed, ProjectId, RecordFacts, ReportType, ReportTypeId } from '../remote.js'
import type { FieldNames } from './names.js'
import { dateIn, idIn, nonBlankText } from './scalar.js'

/** The first of these fields with a valid value. No call for each name: every item of a list is read by this. */
export function firstReadable<Value>(
  { fields }: JsonObject,
  names: readonly string[],
  read: (json: Json) => Value | undefined,
): Value | undefined {
  for (const name of names)
    for (let at = fields.length - 1; at >= 0; at -= 1) {
      const field = fields[at]
      if (field?.name !== name) continue
      const value = read(field.value)
      if (value !== undefined) return value
      break
    }
  return undefined
}

export const textFieldOf = (record: JsonObject, fields: readonly string[]): string | undefined =>
  firstReadable(record, fields, nonBlankText)

/** A save asks the same of a record often, and a record never changes. Of a long one nothing is held. */
export function remembered<Value>(ask: (record: JsonObject) => Value): (record: JsonObject) => Value {
  const once = foundOnce(ask)
  return record => (isLong(record) ? ask(record) : once(record))
}

/** The readers of one instance; each returns undefined for a record that does not state enough. */
export function readings(names: FieldNames) {
  // A record never changes, and every access to a long one would parse it again.
  const facts = foundOnce((record: JsonObject): RecordFacts => {
    return {
      id: firstReadable(record, names.id, idIn),
      title: textFieldOf(record, isReport(record) ? names.reportTitle : names.title),
      born: firstReadable(record, names.born, dateIn),
      owner: firstReadable(record, names.owner, person),
      parent: firstReadable(record, names.parent, reference),
      created: firstReadable(record, names.created, dateIn),
      modified: firstReadable(record, names.modified, dateIn),
      published: isPublished(record),
    }
  })

  const reportOnly = new Set([...names.configuration, ...names.reportType, ...names.reportTypeName])
  const isReport = ({ fields }: JsonObject): boolean => fields.some(({ name }) => reportOnly.has(name))

  /** The state decides where there is one; a date or a handle of publication does where there is none. */
  function isPublished(record: JsonObject): boolean {
    const state = textFieldOf(record, names.state)
    if (state !== undefined) return state.trim().toLowerCase() === 'published'
    return firstReadable(record, names.published, json => saysYes(json) || undefined) === true
  }

  /** An id, also inside an object that holds it. */
  const reference = (json: Json, read: (json: Json) => string | undefined = idIn): string | undefined =>
    json.type === 'object' ? firstReadable(json, names.id, read) : read(json)

  /** A user, by a name or a number, or by an object that has one. */
  const person = (json: Json): string | undefined =>
    (json.type === 'object' ? textFieldOf(json, names.login) : nonBlankText(json)) ?? reference(json)

  const shownBesides = new Set([...names.id, ...names.title.slice(0, 1)])

  // The children of one project have one parent, and share one string for it.
  let lastParent: ProjectId | undefined

  /** A listing's facts of one child; its other fields go into the bundle. */
  function item(
    json: JsonObject,
    { kind, bundler }: { kind: Listed<string>['kind']; bundler: BatchBuilder },
  ): Listed<string> | undefined {
    const id = firstReadable(json, names.id, idIn)
    const title = firstReadable(json, names.title, anyText)
    if (id === undefined || title === undefined) return undefined
    const unread = json.fields.filter(field => !shownBesides.has(field.name))
    const { bundle, place } = bundler.put(compactPrint({ type: 'object', fields: unread }))
    const since = firstReadable(json, names.modified, dateIn) ?? firstReadable(json, names.created, dateIn)
    const born = firstReadable(json, names.born, dateIn)
    const parent = firstReadable(json, names.parent, reference)
    if (parent !== lastParent) lastParent = parent === undefined ? undefined : (detached(parent) as ProjectId)
    return {
      kind,
      id: detached(id),
      title: detached(title),
      since,
      born: born === since ? since : born,
      published: isPublished(json),
      parent: lastParent,
      bundle,
      place,
    }
  }

  function reportType(record: JsonObject): ReportType | undefined {
    const id = firstReadable(record, names.id, json => idIn(json) ?? nonBlankText(json))
    const title = textFieldOf(record, names.title)
    return id === undefined || title === undefined ? undefined : { id: id as ReportTypeId, title, record }
  }

  /** Log-in names, most likely first; of an e-mail-like one also the part before the @. */
  function candidates(record: JsonObject): readonly string[] {
    const own = loginsIn(record)
    // Only where the record itself has no user: an inner object may be a group, whose space is not the user's.
    const inner = record.fields.flatMap(({ value }) => (value.type === 'object' ? loginsIn(value) : []))
    const found = own.length > 0 ? own : inner
    const short = found.flatMap(name => /^([^@\s]+)@/.exec(name)?.[1] ?? [])
    return [...new Set([...found, ...short])].filter(name => !name.includes('/'))
  }

  const loginsIn = (record: JsonObject): readonly string[] =>
    names.login.flatMap(name => nonBlankText(fieldOf(record, name))?.trim() ?? [])

  return { facts, reference, item, reportType, candidates }
}

/** A substring keeps the whole string in memory, here a stretch of a long listing: this is a copy. */
const detached = (part: string): string => String(JSON.parse(JSON.stringify(part)))

/** A name may be any text at all, blanks and the empty text included: the drive escapes it. */
const anyText = (json: Json): string | undefined => (json.type === 'string' ? json.value : undefined)

function saysYes(json: Json): boolean {
  if (json.type === 'word') return json.raw === 'true'
  if (json.type === 'string') return !/^(\s*|false|no)$/i.test(json.value)
  return json.type !== 'number' || Number(json.raw) !== 0
}

/** The record with what a text says of it. */
export function overlaid(record: JsonObject, said: JsonObject): JsonObject {
  return said.fields.reduce((whole, { name, value }) => {
    const old = fieldOf(whole, name)
    return old !== undefined && equalJson(old, value) ? whole : withField(whole, name, value)
  }, record)
}

/** Has no content: null, a blank text, an empty list or object. */
export function isEmpty(json: Json): boolean {
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
