// The Remote interface: what calcfs knows of the platform, in domain terms; no HTTP, no field names.
import * as z from 'zod'
import type { RequestLog } from '../activity/kernel-calls.js'
import type { ContentKindName, DerivedName } from '../content-kinds.js'
import type { CompressedBatch } from '../record/compact/compressed-batch.js'
import type { Json, JsonObject } from '../record/json/json.js'
import type { Askers } from './askers.js'

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

/** The context of a request: its deadline, and whether a user waits for it or it is a guess. */
export interface RequestContext {
  readonly deadline: Instant
  readonly priority: 'user' | 'guess'
  /** The callers that wait, for a request that outlives them: without any it goes on in the background. `priority` counts if undefined. */
  readonly askers?: Askers | undefined
  /** When the first caller gives up: no failed attempt is repeated after that. The deadline if undefined. */
  readonly answerBy?: Instant | undefined
  /** The read that a change is based on; reads ignore it. */
  readonly look?: Look | undefined
  /** The project in which the change adds or removes a name: such changes wait for one another's answers. */
  readonly names?: ProjectId | undefined
  /** Called for a change whose answer is late: `end` ends the wait for it, once it is known to be carried out. */
  readonly late?: ((end: () => void) => void) | undefined
  /** Another request of the same operation holds a slot and waits for this one: it needs none of its own. */
  readonly holdsSlot?: boolean | undefined
  /** Of the call that waits for it; a shared request has that of its callers. */
  readonly requests?: RequestLog | undefined
}

export const requestLogOf = ({ askers, requests }: RequestContext): RequestLog | undefined =>
  askers?.requests ?? requests

/** A read of the target before a change; repeated after a wait for a slot, a connection or a log-in. */
export interface Look {
  /** When it began: its answer may have been delayed for long, such as where this process was suspended. */
  readonly at: Instant
  /** Rejects where the change must not be sent any more. */
  again(context: RequestContext): Promise<void>
}

export type RecordKind = 'project' | 'calculation' | 'report' | 'share'
export const permissions = ['READ', 'WRITE', 'FULLACCESS'] as const
export type Permission = (typeof permissions)[number]

/** As it is noted on disk. */
export const identityForm = z.object({
  born: z.number().transform(instant).optional(),
  owner: z.string().optional(),
  title: z.string().optional(),
  parent: z.string().optional(),
})

/** Distinguishes the record of an id from another record that has had the same id; `born` is from a field that states nothing else. */
export type Identity = Readonly<z.infer<typeof identityForm>>

const [secondMs, dayMs] = [1000, 86_400_000]
const [zoneStepMs, widestZoneMs] = [15 * 60_000, 14 * 3_600_000]

/**
 * True if two dates may be one moment: compared in the coarser precision of the two. With `loosely`, for dates from two
 * operations of which one may leave the zone out, they may differ by a zone.
 */
export function isSameMoment(one: Instant, other: Instant, how: 'strictly' | 'loosely'): boolean {
  const isDay = one % dayMs === 0 || other % dayMs === 0
  const step = isDay ? dayMs : one % secondMs === 0 || other % secondMs === 0 ? secondMs : 1
  if (Math.floor(one / step) === Math.floor(other / step)) return true
  if (how === 'strictly') return false
  const apart = Math.abs(one - other)
  if (step === dayMs) return apart < dayMs + widestZoneMs
  return apart <= widestZoneMs && Math.round(apart / step) % (zoneStepMs / step) === 0
}

/**
 * True if an id now stands for another record than before. Dates decide; without them the owner, which stays when a
 * record is renamed or moved, and a new name together with a new parent.
 */
export function isAnotherThing(before: Identity, now: Identity, how: 'strictly' | 'loosely'): boolean {
  if (before.born !== undefined && now.born !== undefined) return !isSameMoment(before.born, now.born, how)
  return (
    differ(before.owner, now.owner) || (differ(before.title, now.title) && differ(before.parent, now.parent))
  )
}

/** True if both are stated and not the same: what is not stated contradicts nothing. */
export const differ = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && one !== other

/** What a record or a listing's item states that calcfs understands; the rest stays opaque. */
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
  /** The time of the last change, or else of creation, where the listing states it. */
  readonly since: Instant | undefined
  /** The time of creation, where the listing states it. */
  readonly born: Instant | undefined
  readonly published: boolean
  /** The other fields of the listing: `textsOf` shows them as compact JSON text. */
  readonly bundle: CompressedBatch | undefined
  readonly place: number
  /** The parent, where the listing carries one. */
  readonly parent: ProjectId | undefined
}

export type ListedProject = Listed<ProjectId> & { readonly kind: 'project' }
export type ListedCalculation = Listed<CalculationId> & { readonly kind: 'calculation' }

/**
 * The file list of a calculation whose list is answered 404: some services answer so for a calculation without files. Any
 * other empty list is a different object.
 */
export const unlistedFiles: readonly FileTitle[] = Object.freeze([])

export interface User {
  /** Log-in names of the record, most likely first; the first that resolves as `/db/<name>` is the user's. */
  readonly candidates: readonly string[]
  readonly record: JsonObject
}

export interface Share {
  readonly id: ShareId
  readonly permission: Permission | undefined
  /** Log-in name of the user it is given to, where the record states it. */
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

/** The version of a content in an answer: the validators of HTTP, as far as the service sends them. */
export interface ContentVersion {
  /** Entity tag as sent, weak ones with their mark. */
  readonly tag: string | undefined
  /** Last-Modified as sent. */
  readonly modified: string | undefined
}

/** The date of a version; undefined where it has none that can be read. */
export function dateOf(version: ContentVersion | undefined): Instant | undefined {
  const milliseconds = Date.parse(version?.modified ?? '')
  return milliseconds > 0 ? instant(milliseconds) : undefined
}

export interface ContentSize {
  readonly bytes: ByteCount
  readonly modified?: Instant | undefined
}

export interface ContentFacts {
  /** Bytes by HEAD. */
  readonly head: ByteCount | undefined
  /** Bytes by the total of a Range answer. */
  readonly range: ByteCount | undefined
  /** The version that a GET names. */
  readonly version: ContentVersion | undefined
}

/** A body in transit: pieces in order, ends only if it is provably whole, else throws a Failure. */
export interface Body {
  /** The total length in bytes, if the service stated it in advance. */
  readonly length: ByteCount | undefined
  /** Where `bytes` starts: 0, or the requested start if the service honoured a Range. */
  readonly start: ByteOffset
  /** Where it ends, if before the end of the content: the requested end, if the service honoured it. */
  readonly end?: ByteOffset | undefined
  /** `unproven` by its end, for it has neither length nor chunks; `twice`: only a second one that is the same proves it. */
  readonly ends: 'proven' | 'unproven' | 'twice'
  /** It came as HTML, as an error page does. */
  readonly isPage?: boolean
  /** Undefined where the answer carries no validator. */
  readonly version?: ContentVersion | undefined
  readonly bytes: AsyncIterable<Uint8Array>
  /** Stops receiving; safe to call at any time. */
  cancel(): void
}

/** What of a calculation is downloaded: one of its files, or a generated one. */
export interface Content {
  readonly of: ContentKindName
  readonly calculation: CalculationId
  readonly title: FileTitle
  /** Distinguishes the calculation from another one with the same id; without control characters. */
  readonly mark?: string
}

/** What the drive leaves out, or does without, where the instance lacks its operation. */
export type Dispensable =
  | 'user'
  | 'report-types'
  | 'shares'
  | 'project-record'
  | 'calculation-record'
  | DerivedName

/** Every operation of the API, each exactly one logical request. All reject with a Failure. */
export interface Remote {
  user(context: RequestContext): Promise<User>
  resolveProject(path: ServicePath, context: RequestContext): Promise<ProjectId>
  resolveCalculation(path: ServicePath, context: RequestContext): Promise<CalculationId>

  /** First-level sub-projects, in the service's order. Malformed items are left out and logged. */
  subProjects(of: ProjectId, context: RequestContext): Promise<readonly ListedProject[]>
  /** First-level calculations. */
  calculations(of: ProjectId, context: RequestContext): Promise<readonly ListedCalculation[]>
  /** How many sub-projects and calculations the service lists there, malformed ones included. */
  countChildren(of: ProjectId, context: RequestContext): Promise<number>

  project(id: ProjectId, context: RequestContext): Promise<JsonObject>
  calculation(id: CalculationId, context: RequestContext): Promise<JsonObject>
  /** Kind 'absent' for the documented 400 and for a 200 with `null`. */
  report(id: ReportId, context: RequestContext): Promise<JsonObject>
  shares(of: ProjectId, context: RequestContext): Promise<readonly Share[]>
  reportTypes(context: RequestContext): Promise<readonly ReportType[]>

  /** Resolves when no earlier change of it is unanswered. @throws Failure 'timeout' at the deadline */
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
  fileTitles(of: CalculationId, context: RequestContext): Promise<readonly FileTitle[]>
  /** The same where no name may be missing. @throws Failure 'broken' for a list with a malformed item */
  allFileTitles(of: CalculationId, context: RequestContext): Promise<readonly FileTitle[]>
  /** The size without the bytes (HEAD, or a Range of one byte); undefined where it is not stated. */
  contentSize(content: Content, context: RequestContext): Promise<ContentSize | undefined>
  /** HEAD and Range both requested now, whatever is known of their support. */
  contentFacts(content: Content, context: RequestContext): Promise<ContentFacts>
  /**
   * The bytes from `start` on, up to `end`; a service without Range sends all of them, and `Body.start` and `end` say
   * so. A part is requested on the condition that it is of the version `of`; of another version everything may come.
   */
  content(
    content: Content,
    start: ByteOffset,
    context: RequestContext,
    end?: ByteOffset,
    of?: ContentVersion,
  ): Promise<Body>
}

export type ListEntry =
  | { readonly as: 'id'; readonly calculation: CalculationId; readonly title: string | undefined }
  | { readonly as: 'path'; readonly path: string; readonly title: string | undefined }
  | { readonly as: 'nonsense'; readonly value: Json }
