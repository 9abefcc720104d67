// Text versions: the texts kept of one record, those that say the same as one version, each with a number that stays.
import * as z from 'zod'
import { valueIn } from '../../cache/ledger/ledger.js'
import { keyName, type RecordKey } from '../../edit/journal/record-key.js'
import { textHash } from '../../edit/journal/text-history.js'
import type { Meeting, TextUse } from '../../edit/journal/text-marks.js'
import { orderText } from '../../edit/kinds/order-record.js'
import { editsBetween } from '../../edit/save/diff.js'
import { tryObject } from '../../edit/save/reconcile.js'
import { type Edit, fieldOf, type JsonObject, removed } from '../../record/json/json.js'
import { compactPrint } from '../../record/json/print.js'
import type { Instant } from '../../remote/remote.js'
import type { ControlParts } from '../context.js'
import { type EditableNode, savedNodeOf } from '../nodes/node.js'

export interface TextVersion {
  /** Given when it is listed first; no other version of this record ever has it. */
  readonly number: number
  readonly text: string
  /** Undefined where the text is no record: one that could not be saved, or the lines of an order. */
  readonly record: JsonObject | undefined
  /** When it was met first: a text that comes back keeps its place. */
  readonly at: Instant
  readonly how: TextUse
  readonly stored: boolean
  /** The mark of the mount that met it then. */
  readonly mount: string
}

/** The most telling fact of a version: that a program here wrote it, that one read it, that the service had it. */
const telling: readonly (readonly TextUse[])[] = [
  ['saved', 'sent', 'dropped', 'discarded'],
  ['read', 'shown'],
  ['replaced', 'outcome'],
]
const unsaved: readonly TextUse[] = ['dropped', 'discarded']
const neverStored: readonly TextUse[] = [...unsaved, 'sent']

const room = 'text-numbers'
/** The number of each text, and when it was met first: its marks on disk tell only when it was met last. */
const numbersForm = z.object({
  next: z.number(),
  given: z.record(z.string(), z.object({ number: z.number(), at: z.number() })),
})

interface Gathered {
  text: string
  record: JsonObject | undefined
  rank: number
  meetings: Meeting[]
}

/** Those of a record, the one that was met last first. */
export async function textVersions(
  node: EditableNode,
  { history, state, writeSide }: ControlParts,
): Promise<readonly TextVersion[]> {
  const { dialect } = writeSide.ports
  const found = new Map<string, Gathered>()

  /** An order is shown as its lines: the texts of its report say them. */
  function shownAs(record: JsonObject): string | undefined {
    const rows = dialect.lists.rows(record)
    return node.kind !== 'order' || rows === undefined ? undefined : orderText(rows)
  }

  async function gather(from: RecordKey): Promise<void> {
    for (const [hash, meetings] of await history.meetings(from)) {
      const kept = history.recall(from, hash)
      if (kept === undefined) continue
      const parsed = tryObject(kept)
      // The lines of an order lie beside the report that they mean.
      if (parsed === undefined && from.kind !== 'order' && !meetings.some(({ how }) => unsaved.includes(how)))
        continue
      const lines = parsed && shownAs(parsed)
      if (node.kind === 'order' && lines === undefined && (parsed ?? from.kind !== 'order')) continue
      const [text, record] = [lines ?? kept, node.kind === 'order' ? undefined : parsed]
      // The common part of two texts that say the same: without the fields that the service sets at each change.
      const said = record === undefined ? text : compactPrint(dialect.plain(record))
      const known = found.get(said)
      // Of a save there is the text as it was written, and its form, which is the next one's base.
      const rank = 2 * rankOf(meetings) + (meetings.some(({ how }) => how === 'saved') ? 1 : 0)
      if (known === undefined) found.set(said, { text, record, rank, meetings: [...meetings] })
      else {
        const isMore = rank === known.rank && text.length > known.text.length
        if (rank < known.rank || isMore) Object.assign(known, { text, record, rank })
        known.meetings.push(...meetings)
      }
    }
  }

  function numbered(): readonly TextVersion[] {
    const kept = valueIn(numbersForm, state.get(room, keyName(node))) ?? { next: 1, given: {} }
    const given: typeof kept.given = {}
    let { next } = kept
    const versions = [...found]
      .map(([said, gathered]) => ({
        hash: textHash(said).slice(0, 24),
        ...gathered,
        ...told(gathered.meetings),
      }))
      .sort((one, other) => one.at - other.at)
      .map(({ hash, at, text, record, how, stored, mount }) => {
        const met = kept.given[hash] ?? { number: next++, at }
        given[hash] = met
        return { number: met.number, at: met.at as Instant, text, record, how, stored, mount }
      })
    const now = JSON.stringify({ next, given })
    if (state.get(room, keyName(node)) !== now) state.set(room, keyName(node), now)
    return versions.sort((one, other) => other.number - one.number)
  }

  await gather(node)
  if (node.kind === 'order') await gather(savedNodeOf(node))
  return numbered()
}

/** A program's text is its own wording; of others any will do. */
const rankOf = (meetings: readonly Meeting[]): number =>
  Math.min(...meetings.map(({ how }) => telling.findIndex(uses => uses.includes(how))))

function told(meetings: readonly Meeting[]): Pick<TextVersion, 'at' | 'how' | 'stored' | 'mount'> {
  const stored = meetings.some(one => !neverStored.includes(one.how))
  // That it failed once says nothing of a text that the service had.
  const counted = meetings.filter(({ how }) => !(stored && unsaved.includes(how)))
  const most = telling[rankOf(counted)] ?? []
  const { how, mount } = counted
    .filter(meeting => most.includes(meeting.how))
    .reduce((latest, other) => (other.at > latest.at ? other : latest))
  const at = Math.min(...meetings.map(one => one.at)) as Instant
  return { at, how: stored && how === 'sent' ? 'saved' : how, stored, mount }
}

export interface ComparedText {
  readonly text: string
  readonly record: JsonObject | undefined
}

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

function shownValue(value: Edit): string | undefined {
  if (value === removed) return '(none)'
  const printed = compactPrint(value)
  return printed.length > longestValue ? undefined : printed
}

function linesChanged(before: string, now: string): string {
  const [was = [], is = []] = [before, now].map(text => text.split('\n').filter(line => line !== ''))
  const gone = was.filter(line => !is.includes(line)).length
  const come = is.filter(line => !was.includes(line)).length
  if (gone + come > 0) return `${linesText(come)} more, ${linesText(gone)} less`
  return was.join('\n') === is.join('\n') ? nothingChanged : 'the order of its lines'
}

const linesText = (count: number): string => `${count} ${count === 1 ? 'line' : 'lines'}`
