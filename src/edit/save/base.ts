// Merge base: FUSE does not tell which version a program had read, so the closest known version is chosen.
import { Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import type { Instant } from '../../remote/remote.js'
import type { Dating } from './dating.js'
import { type Edits, editsBetween, removed } from './diff.js'
import { rowsApart } from './row-distance.js'

/** A text of the record that programs of this mount have met, and when. */
export interface Candidate {
  readonly record: JsonObject
  readonly last: Instant
  readonly read: Instant | undefined
  readonly saved: Instant | undefined
  /** When the service made this of a text that was saved here. */
  readonly outcome?: Instant | undefined
  /** What leads from it to the text that was written, where that is known already. */
  readonly edits?: Edits
}

export interface MergeBase {
  readonly record: JsonObject
  readonly edits: Edits
  /** Other texts that it may be an edit of as well: which one its writer had is not known. */
  readonly asNear: readonly JsonObject[]
}

type RankedCandidate = Candidate & Omit<MergeBase, 'asNear'> & { readonly distance: number }

/** How far a text that was met is from the one that was written. */
export interface Measure {
  /** What leads from a text that was met to the one that was written. */
  edits(record: JsonObject, mine: JsonObject): Edits
  /** 0 only where they say the same. */
  distance(record: JsonObject, edits: Edits): number
  /** Tells texts of one distance apart, where a doubt depends on it; it chooses none. */
  rows(record: JsonObject, edits: Edits): number
  /** Whether a text that was met differs only in what the service fills in: it raises no doubt then; it chooses none. */
  isSame(record: JsonObject, edits: Edits): boolean
  /** Whether two texts that were met differ only in that. */
  isAlike(one: JsonObject, other: JsonObject): boolean
  /** What the date of change in the written text says of a text that was met. */
  dating(record: JsonObject): Dating
}

export const byFields: Measure = {
  edits: editsBetween,
  distance: (_record, edits) => edits.size,
  rows: rowsApart,
  isSame: (_record, edits) => edits.size === 0,
  isAlike: (one, other) => editsBetween(one, other).size === 0,
  dating: () => 'nothing',
}

/**
 * The base of an edit: of the texts met since this mount's last save the one whose date of change the text carries, else the one
 * with the fewest differing fields, then the one read or saved last; one that says the same only if a program has had it. `own`, the text that the very same handle had read, goes before others as near.
 * Undefined where no text was ever met.
 * @throws Failure 'conflict' where two answers are as good, and one of them would lose an edit
 */
export function chooseBase(
  known: readonly Candidate[],
  mine: JsonObject,
  own?: JsonObject,
  measure: Measure = byFields,
): MergeBase | undefined {
  const judge = (record: JsonObject, edits = measure.edits(record, mine)) => ({
    record,
    edits,
    distance: measure.distance(record, edits),
  })
  const judged = known.map(candidate => ({ ...candidate, ...judge(candidate.record, candidate.edits) }))
  const saved = Math.max(...judged.map(candidate => candidate.saved ?? Number.NEGATIVE_INFINITY))
  const since = judged.filter(candidate => candidate.last >= saved)
  const closest = nearest(since)
  const ownBase = own && { ...judge(own), asNear: [] }
  if (closest === undefined) return ownBase
  const dated = datedOf(closest, since, measure)
  if (dated !== undefined) {
    const isOwn = own !== undefined && measure.dating(own) === 'its'
    return isOwn && ownBase !== undefined && ownBase.distance <= dated.distance
      ? ownBase
      : { ...dated, asNear: [] }
  }
  if (ownBase !== undefined && (closest.distance === 0 || ownBase.distance <= closest.distance))
    return ownBase
  const best = closest.distance === 0 ? (readInstead(closest, since) ?? closest) : closest
  const readSince = readLater(judged, saved)
  const older = nearest(judged.filter(candidate => candidate.last < saved))
  if (older !== undefined) refuseSecondProgram(best, older, { readSince, measure })
  // What the service has made of an own save is no other client's change.
  const byOthers = (since: readonly RankedCandidate[]) =>
    since.filter(({ outcome }) => outcome === undefined || outcome <= saved)
  if (closest.distance === 0) refuseOldBuffer(byOthers(readLater(judged, closest.last)), measure)
  if (best.distance > 0)
    refuseTakenBack(best, byOthers(readLater(since, lastUse(best) || best.last)), measure)
  const mayCount = (one: RankedCandidate) => one.last >= saved || readSince.length === 0
  const asNear = judged.filter(one => one !== best && one.distance === best.distance && mayCount(one))
  return { ...best, asNear: [...asNear.map(({ record }) => record), ...(own === undefined ? [] : [own])] }
}

/**
 * The text whose date the written one carries, where it was read later than the closest one. A program that has read the other text
 * and insists on its own carries the date of before: an older one is no base for it.
 */
function datedOf(
  closest: RankedCandidate,
  since: readonly RankedCandidate[],
  { dating }: Measure,
): RankedCandidate | undefined {
  if (dating(closest.record) === 'its') return undefined
  const after = lastUse(closest) || closest.last
  return nearest(
    since.filter(({ record, read }) => read !== undefined && read > after && dating(record) === 'its'),
  )
}

/**
 * A text that was only shown to a stat proves nothing about the writer: where programs have read another one since this
 * was last read or saved, that one is the base, and the service is asked whether it has the edit already.
 */
function readInstead(same: RankedCandidate, since: readonly RankedCandidate[]): RankedCandidate | undefined {
  const held = Math.max(same.read ?? Number.NEGATIVE_INFINITY, same.saved ?? Number.NEGATIVE_INFINITY)
  return nearest(readLater(since, held))
}

/** The texts that programs here have read since, and that say something else than the one to be saved. */
function readLater(known: readonly RankedCandidate[], time: number): readonly RankedCandidate[] {
  return known.filter(one => one.read !== undefined && one.read > time && one.distance > 0)
}

/**
 * A text from before our own last save is nearer: either its edits were partly taken back, or a second program writes
 * that never saw the save. A read since then tells for the first. Where nothing but the old text is left, all was
 * taken back, for no program saves an old buffer without an edit of its own.
 */
function refuseSecondProgram(
  best: RankedCandidate,
  older: RankedCandidate,
  { readSince, measure }: { readSince: readonly RankedCandidate[]; measure: Measure },
): void {
  if (readSince.length > 0 || measure.isSame(older.record, older.edits)) return
  const isTie = older.edits.size === best.edits.size && older.distance === best.distance
  const rows = ({ record, edits }: RankedCandidate) => measure.rows(record, edits)
  if (older.edits.size < best.edits.size || (isTie && rows(older) < rows(best))) throw inDoubt()
}

/**
 * Letter for letter an old text, and a newer one was read: an old buffer saved again, or a backup put back. Not where the newer one is
 * only what the service made of the last save: no other client wrote, and what was read last is edited.
 */
function refuseOldBuffer(readSince: readonly RankedCandidate[], measure: Measure): void {
  if (!readSince.every(({ record, edits }) => measure.isSame(record, edits))) throw inDoubt()
}

/**
 * A newer text was read, and the one to be saved is nearer to an older one: an old buffer that was edited, or what the newer one
 * says was taken back and something else edited. As the first it would leave out an edit, as the second undo another client's.
 */
function refuseTakenBack(
  best: RankedCandidate,
  readSince: readonly RankedCandidate[],
  { isAlike, dating }: Measure,
): void {
  const isDated = dating(best.record) === 'its'
  const mayBeMadeFrom = ({ record, distance, edits }: RankedCandidate): boolean => {
    const told = dating(record)
    if (distance <= best.distance || told === 'of another' || (isDated && told === 'nothing')) return false
    // What is in neither of the two the service has filled in.
    const takenBack = [...edits].some(([name, edit]) => edit !== removed && !best.edits.has(name))
    return (takenBack || edits.size === best.edits.size) && !isAlike(record, best.record)
  }
  if (readSince.some(mayBeMadeFrom)) throw inDoubt()
}

function inDoubt(): Failure {
  return new Failure(
    'conflict',
    'the record has changed since an older text of it was read, and this text fits both: nothing was sent',
  )
}

const lastUse = ({ read, saved }: RankedCandidate): number => Math.max(read ?? 0, saved ?? 0)

function nearest(candidates: readonly RankedCandidate[]): RankedCandidate | undefined {
  return candidates.toSorted(
    (one, other) => one.distance - other.distance || lastUse(other) - lastUse(one) || other.last - one.last,
  )[0]
}
