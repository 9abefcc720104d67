// Text changes: what differs between two texts of one record, in one line.
import { type Edit, editsBetween, removed } from '../../edit/save/diff.js'
import { fieldOf, type JsonObject } from '../../record/json/json.js'
import { compactPrint } from '../../record/json/print.js'

/** A text, and the record it is, if it is one. */
export interface ComparedText {
  readonly text: string
  readonly record: JsonObject | undefined
}

/** Said of two texts that say the same. */
export const nothingChanged = 'nothing'

/** Fields that one line tells with their values; of others it gives the names. */
const toldWhole = 2
const namedAtMost = 6
const longestValue = 40

/** `plain` leaves out what the service sets by itself. */
export function changesBetween(
  before: ComparedText,
  now: ComparedText,
  plain: (record: JsonObject) => JsonObject,
): string {
  if (before.record === undefined || now.record === undefined) return linesChanged(before.text, now.text)
  const base = plain(before.record)
  const edits = [...editsBetween(base, plain(now.record))]
  if (edits.length === 0) return nothingChanged
  const told = edits
    .slice(0, namedAtMost)
    .map(([name, edit], at) =>
      at < toldWhole ? fieldChanged(name, fieldOf(base, name) ?? removed, edit) : name,
    )
  const others = edits.length - told.length
  return `${told.join(', ')}${others === 0 ? '' : ` and ${others} more`}`
}

function fieldChanged(name: string, before: Edit, now: Edit): string {
  const [was, is] = [shownValue(before), shownValue(now)]
  return was === undefined || is === undefined ? name : `${name}: ${was} → ${is}`
}

/** Undefined where it is too long for a line. */
function shownValue(value: Edit): string | undefined {
  if (value === removed) return '(none)'
  const printed = compactPrint(value)
  return printed.length > longestValue ? undefined : printed
}

function linesChanged(before: string, now: string): string {
  const [was, is] = [before, now].map(text => text.split('\n').filter(line => line !== ''))
  if (was === undefined || is === undefined) return nothingChanged
  const gone = was.filter(line => !is.includes(line)).length
  const come = is.filter(line => !was.includes(line)).length
  if (gone + come > 0) return `${linesText(come)} more, ${linesText(gone)} less`
  return was.join('\n') === is.join('\n') ? nothingChanged : 'the order of its lines'
}

const linesText = (count: number): string => `${count} ${count === 1 ? 'line' : 'lines'}`
