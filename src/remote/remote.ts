// The waist: what the rest of calcfs knows of the platform. Domain words only; no HTTP, no field names.

import type { Askers } from '../askers.js'
import type { ContentKindName, SourceType } from '../content-kinds.js'
import type { CompressedBatch } from '../record/compact/compressed-batch.js'
import type { Json, JsonObject } from '../record/json/json.js'

declare const brand: unique symbol
type Branded<Base, Name extends string> = Base & { readonly [brand]: Name }

/** Ids are decimal strings, never JavaScript numbers: a calculation's id is a 64-bit integer. */
export type ProjectId = Branded<string, 'ProjectId'>
export type CalculationId = Branded<string, 'CalculationId'>
export type ReportId = Branded<string, 'ReportId'>
export type ShareId = Branded<string, 'ShareId'>
export type ReportTypeId = Branded<string, 'ReportTypeId'>
/** A path as the platform's web pages show it: `/db/<user>/<project>/…`. */
export type ServicePath = Branded<string, 'ServicePath'>
/** The name of a calculation's file as the service holds it (any text at all). */
export type FileTitle = Branded<string, 'FileTitle'>
/** Bytes from the start of a file. */
export type ByteOffset = Branded<number, 'ByteOffset'>
export type ByteCount = Branded<number, 'ByteCount'>
/** Milliseconds since 1970 by this machine's clock. */
export type Instant = Branded<number, 'Instant'>

/** The form every id has: a whole number, no sign, no leading zero, at most 19 digits. */
export const idForm = /^(0|[1-9][0-9]{0,18})$/
export const instant = (milliseconds: number): Instant => milliseconds as Instant
export const byteCount = (bytes: number): ByteCount => bytes as ByteCount
export const byteOffset = (bytes: number): ByteOffset => bytes as ByteOffset

/** How a question is asked: by when it must be answered, and whether a user waits for it or it is a guess. */
export interface RequestContext {
  readonly deadline: Instant
  readonly priority: 'user' | 'guess'
  /** Those who wait, where the request outlives them: without any it goes on in the background. `priority` counts where there are none. */
  readonly askers?: Askers | undefined
  /** When the first of them gives up: no failed attempt is repeated after that. The deadline where it is not given. */
  readonly answerBy?: Instant | undefined
  /** Milliseconds for which each later asker may have failed attempts repeated; as long as the first one if not given. */
  readonly patience?: number | undefined
  /** What a request that changes something rests on; questions take no notice of it. */
  readonly look?: Look | undefined
  /** The project in which the change gives or takes a name: such changes wait for one another's answers. */
  readonly names?: ProjectId | undefined
  /** Told of a change whose answer is late: `end` ends the waiting for it, once it was seen to be carried out. */
  readonly late?: ((end: () => void) => void) | undefined
  /** Another request of the same operation holds a slot and waits for this one: it needs none of its own. */
  readonly holdsSlot?: boolean | undefined
}

/** A look at the thing before it is changed; what waits for a slot, a connection or a log-in is looked at again. */
export interface Look {
  /** When it began: its answer may have been held up for long, most of all where this process stood still. */
  readonly at: Instant
  /** Rejects where the change must not be sent any more. */
  again(context: RequestContext): Promise<void>
}

export type RecordKind = 'project' | 'calculation' | 'report' | 'share'
export type Permission = 'READ' | 'WRITE' | 'FULLACCESS'

/** What tells the thing that an id stands for from another thing that has had the same id. */
export interface Identity {
  /** When it was made, from a field that says nothing else. */
  readonly born: Instant | undefined
  readonly owner: string | undefined
  readonly title: string | undefined
  readonly parent: string | undefined
}

const dayMs = 86_400_000
const secondMs = 1000
const zoneStepMs = 15 * 60_000
const widestZoneMs = 14 * 3_600_000

/**
 * Whether two dates may be one moment: compared in the coarser precision of the two. In `loosely`, where two operations
 * tell them, one of which may leave the zone out, they may differ by a zone.
 */
export function isSameMoment(one: Instant, other: Instant, how: 'strictly' | 'loosely'): boolean {
  const step = [dayMs, secondMs].find(ms => one % ms === 0 || other % ms === 0) ?? 1
  if (Math.floor(one / step) === Math.floor(other / step)) return true
  if (how === 'strictly') return false
  const apart = Math.abs(one - other)
  return step === dayMs ? apart < dayMs + widestZoneMs : apart <= widestZoneMs && isZone(apart, step)
}

const isZone = (apart: number, step: number): boolean => Math.round(apart / step) % (zoneStepMs / step) === 0

/**
 * Whether an id stands for another thing than before. Dates decide; without them the owner, who stays when a thing is
 * renamed or moved, and a new name in another place at once.
 */
export function isAnotherThing(before: Identity, now: Identity, how: 'strictly' | 'loosely'): boolean {
  if (before.born !== undefined && now.born !== undefined) return !isSameMoment(before.born, now.born, how)
  const differ = (one: string | undefined, other: string | undefined) =>
    one !== undefined && other !== undefined && one !== other
  return (
    differ(before.owner, now.owner) || (differ(before.title, now.title) && differ(before.parent, now.parent))
  )
}

/** What a record or a listing's item says of itself that calcfs understands; the rest stays opaque. */
export interface RecordFacts extends Identity {
  readonly id: string | undefined
  readonly created: Instant | undefined
  readonly modified: Instant | undefined
  /** Published things are frozen on the platform. */
  readonly published: boolean
}

/** One child of a project as a listing shows it. */
export interface Listed<Id> {
  readonly kind: 'project' | 'calculation'
  readonly id: Id
  readonly title: string
  /** When it was changed last, or else made, where the listing says so. */
  readonly since: Instant | undefined
  /** When it was made, where the listing says so. */
  readonly born: Instant | undefined
  readonly published: boolean
  /** What else the listing carried: `textsOf` shows it as compact JSON text. */
  readonly bundle: CompressedBatch | undefined
  readonly place: number
  /** The parent, where the listing carries one. */
  readonly parent: ProjectId | undefined
}

export type ListedProject = Listed<ProjectId> & { readonly kind: 'project' }
export type ListedCalculation = Listed<CalculationId> & { readonly kind: 'calculation' }

/**
 * The file list of a calculation whose list is answered 404: where a calculation has none, the service may say so in that
 * way. No answer that names no file is this very list.
 */
export const unlistedFiles: readonly FileTitle[] = Object.freeze([])

export interface User {
  /** Log-in names the record offers, most likely first; the first that resolves as `/db/<name>` is the user's. */
  readonly candidates: readonly string[]
  readonly record: JsonObject
}

export interface Share {
  readonly id: ShareId
  readonly permission: Permission | undefined
  /** Log-in name of the person it is given to, where the record tells. */
  readonly user: string | undefined
  readonly record: JsonObject
}

export interface ReportType {
  readonly id: ReportTypeId
  readonly title: string
  readonly record: JsonObject
}

/** One row of a report's ordered list; `title` belongs to the row, not to the calculation. */
export interface ReportRow {
  readonly calculation: CalculationId
  readonly title: string | undefined
}

/** Which version of a content an answer carries: the validators of HTTP, as far as the service sends them. */
export interface ContentVersion {
  /** Entity tag as sent, weak ones with their mark. */
  readonly tag: string | undefined
  /** Last-Modified as sent. */
  readonly modified: string | undefined
}

/** What each source of a content's length says when it is asked now. */
export interface ContentFacts {
  /** Bytes by HEAD. */
  readonly head: ByteCount | undefined
  /** Bytes by the total of a Range answer. */
  readonly range: ByteCount | undefined
  /** The version that a GET names. */
  readonly version: ContentVersion | undefined
}

/** A body on its way: pieces in order, ends only if it is provably whole, else throws a Failure. */
export interface Body {
  /** The whole length in bytes, if the service said it before sending (never for an encoded body). */
  readonly length: ByteCount | undefined
  /** Where `bytes` starts: 0, or the asked start if the service honoured a Range. */
  readonly start: ByteOffset
  /** Where it ends, if that is before the end of the content: the asked end, if the service honoured it. */
  readonly end?: ByteOffset | undefined
  /** False for a body without length and without chunks: its end proves nothing. */
  readonly ends: 'proven' | 'unproven'
  /** The service packed it although it was asked not to: nothing of it is sure before all of it is. */
  readonly wasPacked?: boolean
  /** Undefined where the answer carries no validator. */
  readonly version?: ContentVersion | undefined
  readonly bytes: AsyncIterable<Uint8Array>
  /** Stop receiving; safe to call at any time. */
  cancel(): void
}

/** What of a calculation is downloaded: a file of its own, or one that the service makes. */
export interface Content {
  readonly of: ContentKindName
  readonly calculation: CalculationId
  readonly title: FileTitle
  /** Tells the calculation from another one that has or had its id; without control characters. */
  readonly mark?: string
}

/** Every operation of the API, each exactly one logical question. All reject with a Failure. */
export interface Remote {
  user(context: RequestContext): Promise<User>
  resolveProject(path: ServicePath, context: RequestContext): Promise<ProjectId>
  resolveCalculation(path: ServicePath, context: RequestContext): Promise<CalculationId>

  /** First-level sub-projects, in the service's order. Malformed items are left out and logged. */
  subProjects(of: ProjectId, context: RequestContext): Promise<readonly ListedProject[]>
  /** First-level calculations. */
  calculations(of: ProjectId, context: RequestContext): Promise<readonly ListedCalculation[]>
  /** How many sub-projects and calculations the service lists there, those that make no sense included. */
  countChildren(of: ProjectId, context: RequestContext): Promise<number>
  /** Everything below, for foresight: only where the service's items carry their parent. */
  allSubProjects(of: ProjectId, context: RequestContext): Promise<readonly ListedProject[]>
  allCalculations(of: ProjectId, context: RequestContext): Promise<readonly ListedCalculation[]>

  project(id: ProjectId, context: RequestContext): Promise<JsonObject>
  calculation(id: CalculationId, context: RequestContext): Promise<JsonObject>
  /** Kind 'absent' for the documented 400 and for a 200 with `null`. */
  report(id: ReportId, context: RequestContext): Promise<JsonObject>
  shares(of: ProjectId, context: RequestContext): Promise<readonly Share[]>
  reportTypes(context: RequestContext): Promise<readonly ReportType[]>

  /** Resolves when no earlier change of it is on its way unanswered. @throws Failure 'timeout' at the deadline */
  answered(thing: { readonly kind: RecordKind; readonly id: string }, context: RequestContext): Promise<void>
  createProject(record: JsonObject, context: RequestContext): Promise<ProjectId>
  updateProject(record: JsonObject, context: RequestContext): Promise<void>
  deleteProject(id: ProjectId, context: RequestContext): Promise<void>
  createShare(record: JsonObject, context: RequestContext): Promise<ShareId>
  updateShare(record: JsonObject, context: RequestContext): Promise<void>
  deleteShare(id: ShareId, context: RequestContext): Promise<void>
  createReport(record: JsonObject, context: RequestContext): Promise<ReportId>
  updateReport(record: JsonObject, context: RequestContext): Promise<void>
  deleteReport(id: ReportId, context: RequestContext): Promise<void>
  /** The list replaces all previous values. */
  setReportCalculations(id: ReportId, order: readonly CalculationId[], context: RequestContext): Promise<void>
  updateCalculation(record: JsonObject, context: RequestContext): Promise<void>
  deleteCalculation(id: CalculationId, context: RequestContext): Promise<void>

  /** File names; an empty list where the service has none for a calculation that exists. */
  fileTitles(
    of: CalculationId,
    type: 'files' | SourceType,
    context: RequestContext,
  ): Promise<readonly FileTitle[]>
  /** The same where none may be missing. @throws Failure 'broken' for a list of which a part makes no sense */
  allFileTitles(of: CalculationId, context: RequestContext): Promise<readonly FileTitle[]>
  /** The size without the bytes (HEAD, or a Range of one byte); undefined where this service cannot tell. */
  contentSize(content: Content, context: RequestContext): Promise<ByteCount | undefined>
  /** HEAD and Range both asked now, whatever was found out about them before. */
  contentFacts(content: Content, context: RequestContext): Promise<ContentFacts>
  /**
   * The bytes from `start` on, up to `end`; a service without Range sends them all, and `Body.start` and `end` say so.
   * A part is asked for on the condition that it is of the version `of`; of another version everything may come.
   */
  content(
    content: Content,
    start: ByteOffset,
    context: RequestContext,
    end?: ByteOffset,
    of?: ContentVersion,
  ): Promise<Body>
}

/** How the meaning of a record is read and written without knowing its field names; `wire.ts` implements it. */
export interface Dialect {
  facts(record: JsonObject): RecordFacts
  /** Whether two records of one id are of different things; false where they do not say enough. */
  isAnother(before: JsonObject, now: JsonObject): boolean
  /** The record without what the service alone sets at each change: an old copy of it is nobody's edit. */
  plain(record: JsonObject): JsonObject
  /** The report's rows in order; undefined where the service does not show the list. */
  rows(report: JsonObject): readonly ReportRow[] | undefined
  /**
   * The entries of the list as the user wrote them, each an id or a path, or why that is none. With the text they
   * started from, rows whose place numbers were edited instead of moved come in the order of these numbers.
   */
  entries(report: JsonObject, base?: JsonObject): readonly ListEntry[] | undefined
  /** The calculations by place, as formulas count; one that was deleted has left its place empty. */
  places(report: JsonObject): readonly (CalculationId | undefined)[] | undefined
  /** True if every row has the place number that its calculation has in the other text, too. */
  hasPlacesOf(report: JsonObject, other: JsonObject): boolean
  /**
   * The report with this list in the form its own list has. Places are counted anew where the order is another than
   * the base's (the report's own, if there is none).
   */
  withRows(report: JsonObject, rows: readonly ReportRow[], base?: JsonObject): JsonObject
  /** The name of the field that holds the list, if the record has one. */
  listField(report: JsonObject): string | undefined
  /** A report's formulas, energy-profile ones by place (c1 = first row), graph ones by id. */
  configuration(report: JsonObject): string | undefined
  /** The report with this configuration in the place of its own. */
  withConfiguration(report: JsonObject, configuration: string): JsonObject
  reportType(report: JsonObject): string | undefined
  permission(share: JsonObject): string | undefined
  /** True for the name of the field that holds it. */
  isPermission(field: string): boolean
  shareId(share: JsonObject): string | undefined
  /** The log-in name or address of the person a share is given to. */
  sharedWith(share: JsonObject): string | undefined
  /** The record under another name. */
  retitled(record: JsonObject, title: string): JsonObject
  readonly newRecords: NewRecords
}

/** them: a person of the records. another: a different one. none: the text names no person. */
export type PersonNamed = 'them' | 'another' | 'none'

/** What a POST must say, and how a person's wording looks in the record that the service has made of it. */
export interface NewRecords {
  /** `like` are records of the neighbourhood: their names for things are taken. */
  project(said: NewProject, like: readonly JsonObject[]): JsonObject
  /** `rows` is the list it begins with, if its writer gave one. */
  report(
    written: JsonObject,
    said: { type: ReportTypeId; rows: readonly ReportRow[] | undefined },
  ): JsonObject
  /** In the form of the shares that exist. */
  share(written: JsonObject, project: ProjectId, like: readonly JsonObject[]): JsonObject
  /** The record with everything in it that the writer said, under the record's own names. */
  reportLike(written: JsonObject, record: JsonObject, rows: readonly ReportRow[] | undefined): JsonObject
  shareLike(written: JsonObject, record: JsonObject): JsonObject
  /** Whether a share's text names a person that one of these records of a share names. */
  personNamed(written: JsonObject, known: readonly JsonObject[]): PersonNamed
  /** Whether a text without an id can be an edit of the report that has these records. */
  resembles(written: JsonObject, known: readonly JsonObject[]): boolean
}

export interface NewProject {
  readonly title: string
  readonly description: string
  readonly parent: ProjectId
}
export type ListEntry =
  | { readonly as: 'id'; readonly calculation: CalculationId; readonly title: string | undefined }
  | { readonly as: 'path'; readonly path: string; readonly title: string | undefined }
  | { readonly as: 'nonsense'; readonly value: Json }
