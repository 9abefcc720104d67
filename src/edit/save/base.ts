// Merge base: the text that a written one is an edit of, by what its process, or one near it, has read and stored.
import { Failure } from '../../failure.js'
import { type Edits, fieldOf, type Json, type JsonObject, removed } from '../../record/json/json.js'
import { compactPrint } from '../../record/json/print.js'
import type { ProcessId } from '../../system/process.js'
import type { KnownText } from '../journal/text-history.js'
import type { TextUser } from '../journal/text-marks.js'
import { editsBetween } from './diff.js'

/** A text of the record that was met here, and who has met it. */
export interface Candidate extends KnownText {
  readonly record: JsonObject
  /** The date of change as it stands there: a program leaves it as it had it. */
  readonly changed?: string | undefined
  readonly edits?: Edits
}

export interface Written {
  readonly mine: JsonObject
  readonly changed?: string | undefined
  readonly by?: ProcessId | undefined
}

type Judged<Known extends Candidate = Candidate> = Known & {
  readonly edits: Edits
  readonly apart: number
  readonly distance: number
}

/** A text that counts, when it was met last, and when it was stored last, by those whose texts count. */
interface Counted<Known extends Candidate> {
  readonly one: Known
  readonly at: number
  readonly savedAt: number
}

export interface Distance {
  readonly apart: number
  readonly moved: number
}

const never = Number.NEGATIVE_INFINITY

/**
 * The candidates are the texts that the process has read or stored, its last save the oldest of them; if none, those of its
 * session or ancestors; if none, all. Those with the date of change that the text carries go before any others. Where the text
 * equals a known one, the base is the latest; else the nearest; of equals the last save, else the oldest. Undefined where no text
 * was ever met; `asNear` are other texts that are as near. `distance` says how far a text is from the written one, and how much of
 * that is rows that were moved; 0 only where they say the same.
 * @throws Failure 'conflict' for a text of before another client's change that was read since, which it would take back
 */
export function chooseBase<Known extends Candidate>(
  known: readonly Known[],
  written: Written,
  distance: (one: Known, edits: Edits) => Distance = byFields,
): { readonly one: Known; readonly asNear: readonly JsonObject[] } | undefined {
  const judged = known.map((candidate): Judged<Known> => {
    const edits = candidate.edits ?? editsBetween(candidate.record, written.mine)
    const { apart, moved } = distance(candidate, edits)
    return { ...candidate, edits, apart, distance: apart + moved }
  })
  const { counted, dated } = countedFor(judged, written)
  const same = judged.find(one => one.distance === 0 && (one.read ?? one.saved) !== undefined)
  if (same !== undefined) {
    const latest = latestOf(dated)
    // A date that the old text and a change have as well tells nothing: not every service moves it with a list.
    const isDated = latest?.changed !== undefined && latest.changed === written.changed && latest.distance > 0
    if (!isDated || same.changed === written.changed) refuseOldText(same, judged, isDated ? dated : counted)
    return latest && { one: latest, asNear: [] }
  }
  const least = Math.min(...dated.map(({ one }) => one.distance))
  if (written.by === undefined) refuseSecondProgram(judged, counted)
  const nearest = dated.filter(({ one }) => one.distance === least)
  // The service's wording of a save goes on from it, once it was read.
  const ownAt = ({ one, savedAt }: Counted<Judged<Known>>) => Math.max(savedAt, one.outcome ?? never)
  const lastOwn = Math.max(...dated.map(ownAt))
  const isLastOwn = (one: Counted<Judged<Known>>) => ownAt(one) > never && ownAt(one) === lastOwn
  const [oldest] = nearest.toSorted((one, other) => one.at - other.at)
  // How rows were moved, and nothing else, tells nothing while all moves were own.
  const isMoved = ({ one }: Counted<Judged>) => one.apart === 0
  const own = oldest && isMoved(oldest) ? dated.find(one => isMoved(one) && isLastOwn(one)) : undefined
  const isAsOldest = ({ one }: Counted<Judged>) =>
    oldest !== undefined && editsBetween(one.record, oldest.one.record).size === 0
  const isFree = own && oldest && laterOfOthers(oldest.one, judged, counted).every(isAsOldest)
  const base = nearest.find(isLastOwn) ?? (isFree ? own : oldest)
  // Its writer had that text from the record, which showed it unsaved: what it says is no more the service's than it was.
  if (base !== undefined && (base.one.dropped ?? never) > lastMet(base.one))
    refuseOldText(base.one, judged, counted)
  return (
    base && {
      one: base.one,
      asNear: nearest.filter(({ one }) => one !== base.one).map(({ one }) => one.record),
    }
  )
}

/** By fields; of as many, by what stands between the common beginning and end of lists. Long lists are not compared. */
function byFields({ record }: Candidate, edits: Edits): Distance {
  let apart = 0
  for (const [name, edit] of edits) {
    const [before, after] = [listIn(fieldOf(record, name)), listIn(edit === removed ? undefined : edit)]
    if (before === undefined || after === undefined) continue
    const shorter = Math.min(before.length, after.length)
    let first = 0
    while (first < shorter && before[first] === after[first]) first += 1
    let last = 0
    while (last < shorter - first && before.at(-1 - last) === after.at(-1 - last)) last += 1
    apart += before.length + after.length - 2 * (first + last)
  }
  return { apart: edits.size, moved: apart / (apart + 1) }
}

const listIn = (json: Json | undefined): string | undefined =>
  json?.type === 'array' && json.each === undefined ? compactPrint(json) : undefined

export const latestFor = (known: readonly Candidate[], written: Written): JsonObject | undefined =>
  latestOf(countedFor(known, written).counted)?.record

function latestOf<Known extends Candidate>(counted: readonly Counted<Known>[]): Known | undefined {
  return counted.toSorted((one, other) => other.at - one.at)[0]?.one
}

/** The nearest circle that has any candidates, of these the nearest that has the date. */
function countedFor<Known extends Candidate>(known: readonly Known[], { changed, by }: Written) {
  const any = usedByAny(known)
  // Where no process is known, all programs of the mount are one.
  const circles = by === undefined ? [sinceSaved(any)] : [...usedBy(known, by), any]
  const counted = circles.find(circle => circle.length > 0) ?? []
  const isIts = ({ one }: Counted<Known>): boolean => changed !== undefined && one.changed === changed
  return { counted, dated: circles.map(near => near.filter(isIts)).find(its => its.length > 0) ?? counted }
}

/** Those of its own, and those of its session and ancestors; who has but read the order has a record's text from elsewhere. */
function usedBy<Known extends Candidate>(known: readonly Known[], by: ProcessId) {
  const isNear = ({ process }: TextUser) =>
    process.session === by.session || by.ancestors.includes(process.group)
  const isOwn = ({ process }: TextUser) => process.group === by.group
  const here = sinceSaved(countedBy(known, user => isOwn(user) && user.process.view === by.view))
  // Read through the record, or its order, before a save through the other one: what it has gone on from.
  const there = sinceSaved(countedBy(known, user => isOwn(user) && user.process.view !== by.view))
  const hasText = ({ process, saved }: TextUser) =>
    process.view === undefined || process.view === by.view || saved !== undefined
  const withText = (isIn: typeof isNear) =>
    known.some(({ users }) => users.some(user => isIn(user) && hasText(user)))
  return [
    withText(isOwn) ? [...here, ...there.filter(({ at }) => at >= lastSave(here))] : [],
    withText(isNear) ? countedBy(known, isNear) : [],
  ]
}

const lastSave = (all: readonly Counted<Candidate>[]): number =>
  Math.max(...all.map(({ savedAt }) => savedAt))

/** A program goes on from what it has stored, through each file. */
function sinceSaved<Known extends Candidate>(all: readonly Counted<Known>[]): readonly Counted<Known>[] {
  const saved = lastSave(all)
  return all.filter(({ at }) => at >= saved)
}

function countedBy<Known extends Candidate>(
  known: readonly Known[],
  isNear: (user: TextUser) => boolean,
): readonly Counted<Known>[] {
  return known.flatMap(one => {
    const users = one.users.filter(isNear)
    if (users.length === 0) return []
    const savedAt = Math.max(...users.map(({ saved }) => saved ?? never))
    return [{ one, savedAt, at: Math.max(savedAt, ...users.map(({ read }) => read ?? never)) }]
  })
}

/** A text that was only shown to a stat proves nothing about a writer, unless there is no other. */
function usedByAny<Known extends Candidate>(known: readonly Known[]): readonly Counted<Known>[] {
  const used = known.filter(({ read, saved }) => (read ?? saved) !== undefined)
  return (used.length > 0 ? used : known).map(one => {
    const savedAt = one.saved ?? never
    const at = Math.max(savedAt, one.read ?? never)
    return { one, savedAt, at: at === never ? one.last : at }
  })
}

const lastMet = ({ read, saved }: Candidate): number => Math.max(read ?? never, saved ?? never)

/** An old buffer, or a backup that is put back, where no date tells; an own save is no change. */
function refuseOldText(same: Judged, known: readonly Judged[], counted: readonly Counted<Judged>[]): void {
  if (laterOfOthers(same, known, counted).every(({ one }) => one.distance === 0)) return
  throw new Failure(
    'conflict',
    'this is an older text of the record, or was made from one, and another client has changed it since: nothing was sent',
  )
}

/** A text of before the last save is nearer, and none was read since: taken back, or by a program that never saw that save. */
function refuseSecondProgram(known: readonly Judged[], counted: readonly Counted<Judged>[]): void {
  const saved = lastSave(counted)
  if (counted.some(({ one }) => (one.read ?? never) > saved)) return
  const fields = Math.min(...counted.map(({ one }) => one.edits.size))
  const least = Math.min(...counted.map(({ one }) => one.distance))
  // Rows that went may come back; as many fields that are nearer in their rows or titles may be another program's.
  const isNearer = ({ edits, distance }: Judged): boolean =>
    edits.size > 0 && (edits.size < fields || (distance < least && distance > least - 1))
  if (!known.some(isNearer)) return
  throw new Failure(
    'conflict',
    'this text fits an older one as well as the last that was saved: nothing was sent',
  )
}

/** Met after a text, and not stored by this mount since. */
function laterOfOthers(text: Judged, known: readonly Judged[], counted: readonly Counted<Judged>[]) {
  const since = lastMet(text)
  const isOwn = ({ record, outcome }: Judged): boolean =>
    (outcome ?? never) > since ||
    known.some(({ saved, ...one }) => (saved ?? never) > since && editsBetween(one.record, record).size === 0)
  return counted.filter(({ one, at }) => at > since && !isOwn(one))
}
