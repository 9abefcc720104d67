// The platform's operations: for each its endpoint, how its answer is read, and what its refusals mean.
import type { SourceType } from '../../content-kinds.js'
import { asFailure, Failure, type FailureKind, isA, isAbsent } from '../../failure.js'
import type { TextReader } from '../../record/json/items.js'
import type { JsonObject } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import type { Http } from '../http/http.js'
import { knownQuestion } from '../known-question.js'
import {
  type Body,
  type ByteOffset,
  byteOffset,
  type CalculationId,
  type Content,
  type ContentVersion,
  type FileTitle,
  type ProjectId,
  type RecordKind,
  type Remote,
  type ReportId,
  type RequestContext,
  type Share,
  type ShareId,
  type User,
  unlistedFiles,
} from '../remote.js'
import type { RequestedRecord } from '../wire/identity.js'
import type { Wire } from '../wire/wire.js'
import { type Capabilities, isItsWay, isSampled } from './capabilities.js'
import { type Operations, operationOf, withOperations } from './operations.js'
import { provenPage } from './page.js'
import { factsOf, forgetUnknownSizes, sizeOf } from './size.js'

/** The whole content in place of a part. */
function noteRange(capabilities: Capabilities, honoured: boolean): void {
  capabilities.unranged = honoured ? 0 : (capabilities.unranged ?? 0) + 1
  if (honoured || isItsWay(capabilities.unranged)) capabilities.ranges = honoured
}

/** Whether a part is requested at all. */
function asksForParts(capabilities: Capabilities): boolean {
  if (capabilities.ranges !== false) return true
  capabilities.unranged = (capabilities.unranged ?? 0) + 1
  return isSampled(capabilities.unranged)
}

/** What is known of an instance, and of its user, before it is asked. */
export interface Acquaintance {
  /** Updated as facts are discovered. */
  readonly capabilities: Capabilities
  readonly operations: Operations
  /** The name of the sign-in, where it has one. */
  readonly user?: string | undefined
  /** The projects that were given by their numbers. */
  readonly roots?: readonly ProjectId[]
}

/** The whole API as the Remote interface of calcfs. */
export function openRest(unwatched: Http, wire: Wire, instance: Acquaintance): Remote {
  const { capabilities, operations } = instance
  const http = withOperations(unwatched, operations)
  const get = (endpoint: string, query: QueryParameters, context: RequestContext) =>
    http.text({ method: 'GET', path: path(endpoint, query) }, context)
  const getRecord = (endpoint: RequestedRecord['kind'], id: string, context: RequestContext) =>
    http.jsonText({ method: 'GET', path: path(endpoint, { id }) }, context)
  const put = async (endpoint: string, body: string, subject: string, context: RequestContext) => {
    await canBeSeen(http.text({ method: 'PUT', path: path(endpoint, {}), body, subject }, context))
  }
  const remove = async (
    kind: RecordKind,
    { endpoint, query }: { endpoint: string; query: QueryParameters },
    context: RequestContext,
  ) => {
    const subject = `${kind} ${Object.values(query).join()}`
    await http.text({ method: 'DELETE', path: path(endpoint, query), subject }, context)
  }
  /** The subject of a write: the next write of the same subject waits for its answer. */
  const subjectOf = (kind: RecordKind, record: JsonObject): string =>
    `${kind} ${kind === 'share' ? wire.dialect.shareId(record) : wire.dialect.facts(record).id}`
  /** A list that may be long: parsed as it arrives. */
  async function descendants<Value>(
    query: { id: string; type: 'project' | 'calculation'; depth: '1' | 'all' },
    reader: () => TextReader<Value>,
    context: RequestContext,
  ): Promise<Value> {
    const request = { method: 'GET', path: path('project/descendant', query) } as const
    return (await http.readInto(request, reader, context)).end()
  }
  const resolve = (at: string, type: string, context: RequestContext) =>
    translateFailure({ invalid: 'absent' }, get('navigation/path/resolve', { path: at, type }, context))

  function path(endpoint: string, query: QueryParameters): string {
    let written = ''
    for (const [name, value] of Object.entries({ ...query, ...wire.extras(endpoint) }))
      written += `${written === '' ? '?' : '&'}${percentEncoded(name)}=${percentEncoded(value)}`
    return `/${endpoint}${written}`
  }

  function bytesPath(content: Content): string {
    const { of, calculation: id, title } = content
    return of === 'file'
      ? path('calculation/files/bitstream', { id, fileId: title })
      : path(operationOf[of], { id, filename: title })
  }

  async function created<Id extends string>(
    endpoint: string,
    body: string,
    context: RequestContext,
  ): Promise<Id> {
    const subject = `new ${endpoint}`
    const answer = await http.text({ method: 'POST', path: path(endpoint, {}), body, subject }, context)
    try {
      return wire.newId(answer) as Id
    } catch (cause) {
      throw new Failure('outcome-unknown', 'the service took it, but its answer holds no id', { cause })
    }
  }

  const calculation: Remote['calculation'] = async (id, context) =>
    wire.record(await getRecord('calculation', id, context), { kind: 'calculation', id })
  const project: Remote['project'] = async (id, context) =>
    wire.record(await getRecord('project', id, context), { kind: 'project', id })

  const listedProjects: Remote['subProjects'] = (id, context) =>
    descendants({ id, type: 'project', depth: '1' }, wire.projects, context)

  return {
    user,
    resolveProject: async (at, context) => wire.projectId(await resolve(at, 'project', context)),
    resolveCalculation: async (at, context) => wire.calculationId(await resolve(at, 'calculation', context)),

    subProjects: listedProjects,
    calculations: (id, context) =>
      descendants({ id, type: 'calculation', depth: '1' }, wire.calculations, context),
    async countChildren(id, context) {
      const counts = await Promise.all(
        (['project', 'calculation'] as const).map(type =>
          descendants({ id, type, depth: '1' }, wire.counted, context),
        ),
      )
      return counts.reduce((sum, count) => sum + count, 0)
    },

    project,
    calculation,
    report: async (id, context) =>
      wire.record(await translateFailure({ invalid: 'absent' }, getRecord('report', id, context)), {
        kind: 'report',
        id,
      }),
    shares,
    reportTypes: async context => wire.reportTypes(await reportTypes(context)),

    answered: ({ kind, id }, context) => http.answered(`${kind} ${id}`, context),
    createProject: (record, context) => created<ProjectId>('project', wire.recordBody(record), context),
    updateProject: (record, context) =>
      put('project', wire.recordBody(record), subjectOf('project', record), context),
    deleteProject: (id, context) => remove('project', { endpoint: 'project', query: { id } }, context),
    createShare: (record, context) => created<ShareId>('project/share', wire.recordBody(record), context),
    updateShare: (record, context) =>
      put('project/share', wire.recordBody(record), subjectOf('share', record), context),
    deleteShare: (shareId, context) =>
      remove('share', { endpoint: 'project/share', query: { shareId } }, context),
    createReport: (record, context) => created<ReportId>('report', wire.recordBody(record), context),
    updateReport: (record, context) =>
      put('report', wire.recordBody(record), subjectOf('report', record), context),
    deleteReport: (id, context) => remove('report', { endpoint: 'report', query: { id } }, context),
    setReportCalculations: (id, order, context) =>
      put('report/calculations', wire.orderBody(id, order), `report ${id}`, context),
    updateCalculation: (record, context) =>
      put('calculation', wire.recordBody(record), subjectOf('calculation', record), context),
    deleteCalculation: (id, context) =>
      remove('calculation', { endpoint: 'calculation', query: { id } }, context),

    fileTitles: (of, type, context) => fileTitles(of, context, { type, read: wire.fileTitles }),
    allFileTitles: (of, context) => fileTitles(of, context, { type: 'files', read: wire.allFileTitles }),
    contentSize: async (content, context) =>
      sizeOf(http, bytesPath(content), content.of, capabilities, context),
    contentFacts: (content, context) => factsOf(http, bytesPath(content), content.of, capabilities, context),
    async content(content, start, context, end, of) {
      const request = { method: 'GET', path: bytesPath(content) } as const
      const whole = { start: byteOffset(0), end: undefined }
      const span = asksForParts(capabilities) ? { start, end } : whole
      const condition = capabilities.conditions === false ? undefined : of
      const body = await http.content(request, span.start, context, span.end, condition)
      const isSame = isVersion(body, of)
      if (condition !== undefined && isSame && isWholeContent(body, span)) {
        // A service that does not know the condition sends everything; without it, it may send the part.
        capabilities.conditions = false
        body.cancel()
        return http.content(request, span.start, context, span.end)
      }
      if (body.start > 0 || body.end !== undefined) forgetUnknownSizes(capabilities, content.of)
      if (span.start > 0 && (of === undefined || isSame)) noteRange(capabilities, body.start === span.start)
      if (body.isPage !== true) return body
      // Its connection is taken until its bytes are read.
      const record = () => calculation(content.calculation, { ...context, holdsSlot: true })
      const page = await provenPage(body, content.title, record)
      if (page.ends !== 'twice' || (page.start === 0 && page.end === undefined)) return page
      // A part alone cannot be compared.
      page.cancel()
      const all = await http.content(request, whole.start, context)
      return all.isPage === true ? provenPage(all, content.title, record) : all
    },
  }

  async function user(context: RequestContext): Promise<User> {
    try {
      return wire.user(await get('user/info', {}, context))
    } catch (failure) {
      if (!operations.mayLack('user/info', failure)) throw failure
      await answersOther(context).catch(() => {
        throw failure
      })
      operations.without('user/info')
      return { candidates: instance.user === undefined ? [] : [instance.user], record: parseObject('{}') }
    }
  }

  /** @throws Failure where the instance answers this token nothing that it should */
  async function answersOther(context: RequestContext): Promise<void> {
    const path = knownQuestion(capabilities)
    const known = path === undefined ? undefined : http.text({ method: 'GET', path }, context)
    const isKnown = await known?.then(() => true, rethrowUnlessDenied)
    if (isKnown === true) return
    const given = (instance.roots ?? []).flatMap(id => [project(id, context), listedProjects(id, context)])
    await Promise.any<unknown>([reportTypes(context), ...given])
  }

  async function shares(of: ProjectId, context: RequestContext): Promise<readonly Share[]> {
    if (operations.lacks(operationOf.shares)) return []
    try {
      return wire.shares(await get(operationOf.shares, { id: of }, context))
    } catch (failure) {
      if (!operations.mayLack(operationOf.shares, failure)) throw failure
      // As with files: a project that is there, and has no list of shares, has none.
      await project(of, context)
      operations.refused(path(operationOf.shares, { id: of }), failure)
      return []
    }
  }

  async function fileTitles(
    of: CalculationId,
    context: RequestContext,
    { type, read }: { type: 'files' | SourceType; read: Wire['fileTitles'] },
  ): Promise<readonly FileTitle[]> {
    try {
      return read(await get('calculation/files', { id: of, type }, context))
    } catch (failure) {
      if (!isAbsent(failure) && !operations.mayLack('calculation/files', failure)) throw failure
      // For a calculation without files, only its record shows that it exists; its CML files are a part of its files.
      if (type === 'files') await calculation(of, context)
      operations.refused(path('calculation/files', { id: of, type }), failure)
      return unlistedFiles
    }
  }

  async function reportTypes(context: RequestContext): Promise<string> {
    if (capabilities.reportTypes === 'report-type') return get('report-type', {}, context)
    try {
      return await get('report/types', {}, context)
    } catch (failure) {
      if (!isAbsent(failure) && !operations.mayLack('report/types', failure)) throw failure
      const answer = await get('report-type', {}, context).catch((other: unknown) => {
        if (operations.mayLack('report-type', other) && knownQuestion(capabilities) !== undefined)
          operations.without('report-type')
        throw other
      })
      capabilities.reportTypes = 'report-type'
      return answer
    }
  }
}

/**
 * The outcome of a PUT can be checked by reading the record, so a lost answer is reported as its cause: a silence,
 * or a broken connection.
 */
async function canBeSeen(answer: Promise<string>): Promise<string> {
  try {
    return await answer
  } catch (thrown) {
    const failure = asFailure(thrown)
    if (failure.kind === 'outcome-unknown' && failure.cause instanceof Failure) throw failure.cause
    throw failure
  }
}

const isVersion = ({ version }: Body, other: ContentVersion | undefined): boolean =>
  other !== undefined && version?.tag === other.tag && version?.modified === other.modified

/** A part was requested, and the whole comes. */
function isWholeContent(
  body: Body,
  part: { readonly start: ByteOffset; readonly end?: ByteOffset | undefined },
): boolean {
  if (part.start > 0) return body.start !== part.start
  return part.end !== undefined && body.end === undefined && (body.length ?? part.end + 1) > part.end
}

type QueryParameters = Readonly<Record<string, string>>

/** Percent-encoded UTF-8, which half a surrogate pair is not: such a name can be listed, but never requested. */
function percentEncoded(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch (cause) {
    throw new Failure('broken', `no address can hold the name ${JSON.stringify(text)}`, { cause })
  }
}

function rethrowUnlessDenied(thrown: unknown): false {
  if (isA('denial', asFailure(thrown))) return false
  throw thrown
}

/** A refusal that has a meaning of its own for this request. */
async function translateFailure<Value>(
  others: { readonly [Kind in FailureKind]?: FailureKind },
  answer: Promise<Value>,
): Promise<Value> {
  try {
    return await answer
  } catch (failure) {
    const kind = failure instanceof Failure ? others[failure.kind] : undefined
    if (!(failure instanceof Failure) || kind === undefined) throw failure
    throw new Failure(kind, failure.message, { cause: failure, said: failure.said })
  }
}
