// Tolerant parsing of single values: ids, texts and dates as different instances write them.
import type { Json } from '../../record/json/json.js'
import { type Instant, idForm, instant } from '../remote.js'

const largestLong = 9223372036854775807n

/** An id from a number or a numeric string, digit for digit; undefined for everything else. */
export function idIn(json: Json | undefined): string | undefined {
  const digits = json?.type === 'number' ? json.raw : json?.type === 'string' ? json.value.trim() : ''
  return isId(digits) ? digits : undefined
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
export function dateIn(json: Json | undefined): Instant | undefined {
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
