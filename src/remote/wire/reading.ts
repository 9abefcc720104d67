// Reads records: facts, listed items and log-in names, each from the first field that states it; ids, texts and dates as different instances write them.
import { foundOnce } from '../../recent-map.js'
import type { BatchBuilder } from '../../record/compact/compressed-batch.js'
import { equalJson } from '../../record/json/equal.js'
import { fieldOf, type Json, type JsonObject, withField } from '../../record/json/json.js'
import { isLong } from '../../record/json/parse.js'
import { compactPrint } from '../../record/json/print.js'
import {
  type Instant,
  idForm,
  instant,
  type Listed,
  type ProjectId,
  type RecordFacts,
  type ReportType,
  type ReportTypeId,
} from '../remote.js'
import type { FieldNames } from './names.js'

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

/** A save asks the same of a record often, and a record never changes. Of a long one nothing is held. */
export const remembered = <Value>(ask: (record: JsonObject) => Value): ((record: JsonObject) => Value) =>
  foundOnce(ask, isLong)

/** The readers of one instance; each returns undefined for a record that does not state enough. */
export function readings(names: FieldNames) {
  // A record never changes, and every access to a long one would parse it again.
  const facts = foundOnce((record: JsonObject): RecordFacts => {
    return {
      id: firstReadable(record, names.id, idIn),
      title: firstReadable(record, isReport(record) ? names.reportTitle : names.title, nonBlankText),
      born: firstReadable(record, names.born, dateIn),
      owner: firstReadable(record, names.owner, person),
      parent: firstReadable(record, names.parent, reference),
      created: firstReadable(record, names.created, dateIn),
      modified: firstReadable(record, names.modified, dateIn),
      published: isPublished(record),
    }
  })

  const reportOnly = new Set([...names.configuration, ...names.reportType, ...names.reportTypeName])
  function isReport({ fields }: JsonObject): boolean {
    for (const { name } of fields) if (reportOnly.has(name)) return true
    return false
  }

  /** The state decides where there is one; a date or a handle of publication does where there is none. */
  function isPublished(record: JsonObject): boolean {
    const state = firstReadable(record, names.state, nonBlankText)
    if (state !== undefined) return state.trim().toLowerCase() === 'published'
    return firstReadable(record, names.published, json => saysYes(json) || undefined) === true
  }

  /** An id, also inside an object that holds it. */
  const reference = (json: Json, read: (json: Json) => string | undefined = idIn): string | undefined =>
    json.type === 'object' ? firstReadable(json, names.id, read) : read(json)

  /** A user, by a name or a number, or by an object that has one. */
  const person = (json: Json): string | undefined =>
    (json.type === 'object' ? firstReadable(json, names.login, nonBlankText) : nonBlankText(json)) ??
    reference(json)

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
    const title = firstReadable(record, names.title, nonBlankText)
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

const largestLong = 9223372036854775807n

/** An id from a number or a numeric string, digit for digit; undefined for everything else. */
export function idIn(json: Json | undefined): string | undefined {
  const digits = json?.type === 'number' ? json.raw : json?.type === 'string' ? json.value.trim() : ''
  // A shorter one is in the range; each row of a list has one.
  const isValid = digits.length < 19 ? idForm.test(digits) : isId(digits)
  return isValid ? digits : undefined
}

/** The number that stands in the place of an id, also one that is none: `-7`, `007`, or over 64 bits. */
export function numberIn(json: Json): string | undefined {
  if (json.type === 'number') return json.raw
  return json.type === 'string' ? /^[-+]?\d+$/.exec(json.value.trim())?.[0] : undefined
}

/** True for the decimal digits of a 64-bit id. */
export const isId = (text: string): boolean => idForm.test(text) && BigInt(text) <= largestLong

/** A text with content: no blank one, no number, no null. */
export function nonBlankText(json: Json | undefined): string | undefined {
  return json?.type === 'string' && json.value.trim() !== '' ? json.value : undefined
}

const dateForm =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|GMT|[+-]\d{2}:?(?:\d{2})?)?$/i

/**
 * A date: ISO 8601, `yyyy-MM-dd HH:mm:ss`, or milliseconds (seconds if small) since 1970 as number or text.
 * Without a zone it is read as UTC, so that every machine shows the same time.
 */
function dateIn(json: Json | undefined): Instant | undefined {
  if (json?.type === 'number') return sinceEpoch(Number(json.raw))
  if (json?.type !== 'string') return undefined
  const text = json.value.trim()
  return /^\d{9,15}$/.test(text) ? sinceEpoch(Number(text)) : fromCalendar(text)
}

/** Seconds stay below this until the year 5138; milliseconds are above it since 1973. */
const secondsBelow = 1e11

function sinceEpoch(count: number): Instant | undefined {
  return plausible(count < secondsBelow ? count * 1000 : count)
}

function fromCalendar(text: string): Instant | undefined {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    dateForm.exec(text) ?? []
  if (year === undefined) return undefined
  const offset = /^[+-]/.test(zone)
    ? `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '').padEnd(2, '0')}`
    : 'Z'
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0')
  return plausible(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}${offset}`))
}

function plausible(milliseconds: number): Instant | undefined {
  const known = milliseconds > 0 && milliseconds < Date.UTC(10_000, 0)
  return known ? instant(Math.trunc(milliseconds)) : undefined
}
