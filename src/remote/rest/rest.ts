// The platform's operations: each one endpoint, one reading of its answer, and what its refusals mean.
import { asFailure, Failure, type FailureKind } from '../../failure.js'
import type { TextReader } from '../../record/json/items.js'
import type { Http } from '../http/http.js'
import {
  type Ask,
  type Body,
  type ByteOffset,
  byteOffset,
  type CalculationId,
  type Content,
  type ContentVersion,
  type FileTitle,
  type ProjectId,
  type Remote,
  type ReportId,
  type ShareId,
} from '../remote.js'
import type { Asked } from '../wire/identity.js'
import type { Wire } from '../wire/wire.js'
import { isItsWay, isSampled, type Learned } from './capabilities.js'
import { factsOf, sizeOf } from './size.js'
import { checkedChildren, openVerifiedPaths } from './verification.js'

/** The whole in the place of a part. */
function noteRange(learned: Learned, honoured: boolean): void {
  learned.unranged = honoured ? 0 : (learned.unranged ?? 0) + 1
  if (honoured || isItsWay(learned.unranged)) learned.ranges = honoured
}

/** Whether a part is asked for at all. */
function asksForParts(learned: Learned): boolean {
  if (learned.ranges !== false) return true
  learned.unranged = (learned.unranged ?? 0) + 1
  return isSampled(learned.unranged)
}

/** The whole API as the waist of calcfs. `learned` is written to as facts come in. */
export function rest(http: Http, wire: Wire, learned: Learned): Remote {
  const get = (endpoint: string, query: Query, ask: Ask) =>
    http.text({ method: 'GET', path: path(endpoint, query) }, ask)
  const getRecord = (endpoint: Asked['kind'], id: string, ask: Ask) =>
    http.jsonText({ method: 'GET', path: path(endpoint, { id }) }, ask)
  const send = (method: 'POST' | 'PUT', endpoint: string, body: string, ask: Ask) => {
    const answer = http.text({ method, path: path(endpoint, {}), body }, ask)
    return method === 'PUT' ? canBeSeen(answer) : answer
  }
  const remove = (endpoint: string, query: Query, ask: Ask) =>
    http.text({ method: 'DELETE', path: path(endpoint, query) }, ask).then(() => {})
  /** A list that may be long: it is read while it arrives. */
  async function descendants<Value>(
    query: { id: string; type: 'project' | 'calculation'; depth: '1' | 'all' },
    reader: () => TextReader<Value>,
    ask: Ask,
  ): Promise<Value> {
    const request = { method: 'GET', path: path('project/descendant', query) } as const
    return (await http.readInto(request, reader, ask)).end()
  }
  const resolve = (at: string, type: string, ask: Ask) =>
    meaning({ invalid: 'absent' }, get('navigation/path/resolve', { path: at, type }, ask))

  function path(endpoint: string, query: Query): string {
    const parameters = Object.entries({ ...query, ...wire.extras(endpoint) })
    const written = parameters.map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    return `/${endpoint}${written.length === 0 ? '' : `?${written.join('&')}`}`
  }

  function bytesPath(content: Content): string {
    const id = content.calculation
    return content.of === 'file'
      ? path('calculation/files/bitstream', { id, fileId: content.title })
      : path('calculation/xyz', { id, filename: content.title })
  }

  async function created<Id extends string>(endpoint: string, body: string, ask: Ask): Promise<Id> {
    const answer = await send('POST', endpoint, body, ask)
    try {
      return wire.newId(answer) as Id
    } catch (cause) {
      throw new Failure('outcome-unknown', 'the service took it, but its answer holds no id', { cause })
    }
  }

  const calculation: Remote['calculation'] = async (id, ask) =>
    wire.record(await getRecord('calculation', id, ask), { kind: 'calculation', id })
  const project: Remote['project'] = async (id, ask) =>
    wire.record(await getRecord('project', id, ask), { kind: 'project', id })
  const verified = openVerifiedPaths({ project, calculation, dialect: wire.dialect })
  const children = checkedChildren({
    project: (id, ask) => descendants({ id, type: 'project', depth: '1' }, wire.projects, ask),
    calculation: (id, ask) => descendants({ id, type: 'calculation', depth: '1' }, wire.calculations, ask),
  })

  return {
    user: async ask => wire.user(await get('user/info', {}, ask)),
    resolveProject: async (at, ask) =>
      verified.project(at, wire.projectId(await resolve(at, 'project', ask)), ask),
    resolveCalculation: async (at, ask) =>
      verified.calculation(at, wire.calculationId(await resolve(at, 'calculation', ask)), ask),

    subProjects: children.project,
    calculations: children.calculation,
    async countChildren(id, ask) {
      const counts = await Promise.all(
        (['project', 'calculation'] as const).map(type =>
          descendants({ id, type, depth: '1' }, wire.counted, ask),
        ),
      )
      return counts.reduce((sum, count) => sum + count, 0)
    },
    allSubProjects: (id, ask) => descendants({ id, type: 'project', depth: 'all' }, wire.projects, ask),
    allCalculations: (id, ask) =>
      descendants({ id, type: 'calculation', depth: 'all' }, wire.calculations, ask),

    project,
    calculation,
    report: async (id, ask) =>
      wire.record(await meaning({ invalid: 'absent' }, getRecord('report', id, ask)), { kind: 'report', id }),
    shares: async (id, ask) => wire.shares(await get('project/share', { id }, ask), id),
    reportTypes: async ask => wire.reportTypes(await reportTypes(ask)),

    createProject: (record, ask) => created<ProjectId>('project', wire.recordBody(record), ask),
    updateProject: async (record, ask) => void (await send('PUT', 'project', wire.recordBody(record), ask)),
    deleteProject: (id, ask) => remove('project', { id }, ask),
    createShare: (record, ask) => created<ShareId>('project/share', wire.recordBody(record), ask),
    updateShare: async (record, ask) =>
      void (await send('PUT', 'project/share', wire.recordBody(record), ask)),
    deleteShare: (shareId, ask) => remove('project/share', { shareId }, ask),
    createReport: (record, ask) => created<ReportId>('report', wire.recordBody(record), ask),
    updateReport: async (record, ask) => void (await send('PUT', 'report', wire.recordBody(record), ask)),
    deleteReport: (id, ask) => remove('report', { id }, ask),
    setReportCalculations: async (id, order, ask) =>
      void (await send('PUT', 'report/calculations', wire.orderBody(id, order), ask)),
    updateCalculation: async (record, ask) =>
      void (await send('PUT', 'calculation', wire.recordBody(record), ask)),
    deleteCalculation: (id, ask) => remove('calculation', { id }, ask),

    fileTitles: (of, type, ask) => fileTitles(of, ask, { type, read: wire.fileTitles }),
    allFileTitles: (of, ask) => fileTitles(of, ask, { type: 'files', read: wire.allFileTitles }),
    contentSize: async (content, ask) => sizeOf(http, bytesPath(content), content.of, learned, ask),
    contentFacts: (content, ask) => factsOf(http, bytesPath(content), ask),
    async content(content, start, ask, end, of) {
      const request = { method: 'GET', path: bytesPath(content) } as const
      const whole = { start: byteOffset(0), end: undefined }
      const span = asksForParts(learned) ? { start, end } : whole
      const condition = learned.conditions === false ? undefined : of
      const body = await http.content(request, content.title, span.start, ask, span.end, condition)
      const isSame = isVersion(body, of)
      if (condition !== undefined && isSame && isWhole(body, span)) {
        // A service that does not understand the condition sends everything; without it the part may come.
        learned.conditions = false
        body.cancel()
        return http.content(request, content.title, span.start, ask, span.end)
      }
      if (span.start > 0 && (of === undefined || isSame)) noteRange(learned, body.start === span.start)
      return body
    },
  }

  async function fileTitles(
    of: CalculationId,
    ask: Ask,
    { type, read }: { type: 'files' | 'cml'; read: Wire['fileTitles'] },
  ): Promise<readonly FileTitle[]> {
    try {
      return read(await get('calculation/files', { id: of, type }, ask), of)
    } catch (failure) {
      if (!(failure instanceof Failure) || failure.kind !== 'absent') throw failure
      // Of a calculation without any file nothing else tells whether it exists; its CML files are a part of its files.
      if (type === 'files') await calculation(of, ask)
      return []
    }
  }

  async function reportTypes(ask: Ask): Promise<string> {
    if (learned.reportTypes === 'report-type') return get('report-type', {}, ask)
    try {
      return await get('report/types', {}, ask)
    } catch (failure) {
      if (!(failure instanceof Failure) || failure.kind !== 'absent') throw failure
      const answer = await get('report-type', {}, ask)
      learned.reportTypes = 'report-type'
      return answer
    }
  }
}

/**
 * What became of a PUT can be seen by reading the record, so its lost answer is told as what it was: silence, or a
 * connection that broke.
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

/** A part was asked for, and everything comes. */
function isWhole(
  body: Body,
  part: { readonly start: ByteOffset; readonly end?: ByteOffset | undefined },
): boolean {
  if (part.start > 0) return body.start !== part.start
  return part.end !== undefined && body.end === undefined && (body.length ?? part.end + 1) > part.end
}

type Query = Readonly<Record<string, string>>

/** Percent-encoded UTF-8, which half a surrogate pair is not: such a name can be listed, and never asked for. */
function encoded(text: string): string {
  if (/[\ud800-\udfff]/u.test(text))
    throw new Failure('broken', `no address can hold the name ${JSON.stringify(text)}`)
  return encodeURIComponent(text)
}

/** A refusal that means something else to this question than to others. */
async function meaning<Value>(
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
