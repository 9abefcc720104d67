// The platform's operations: for each its endpoint, how its answer is read, and what its refusals mean.
import { asFailure, Failure, isA, isAbsent, unlessDenied } from '../../failure.js'
import type { TextReader } from '../../record/json/items.js'
import type { JsonObject } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { compactPrint } from '../../record/json/print.js'
import { knownQuestion } from '../known-question.js'
import {
  type CalculationId,
  type Content,
  type FileTitle,
  type ListedCalculation,
  type ListedProject,
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
import { lengthReader } from '../wire/listing.js'
import { orderBody, type RequestedRecord, type Wire } from '../wire/wire.js'
import { Contents } from './contents.js'
import { type Gate, refusesAll } from './gate.js'
import { operationOf } from './lacking.js'

/** What the API does not say. */
interface RestSettings {
  /** Resolves when no earlier change of it is unanswered. */
  readonly answered: (subject: string, context: RequestContext) => Promise<void>
  /** The name of the sign-in, where it has one. */
  readonly user?: string | undefined
  /** The projects that were given by their numbers. */
  readonly roots?: readonly ProjectId[]
}

export function openRest(gate: Gate, wire: Wire, settings: RestSettings): Remote {
  const { http, known, lacking } = gate
  const get = (endpoint: string, query: QueryParameters, context: RequestContext) =>
    http.text({ method: 'GET', path: path(endpoint, query) }, context)
  const recordOf = (kind: RequestedRecord['kind']) => (id: string, context: RequestContext) =>
    http
      .jsonText({ method: 'GET', path: path(kind, { id }) }, context)
      .then(text => wire.record(text, { kind, id }))
  const [project, calculation, report] = [recordOf('project'), recordOf('calculation'), recordOf('report')]
  const put = (endpoint: string, body: string, subject: string, context: RequestContext): Promise<void> =>
    http.text({ method: 'PUT', path: path(endpoint, {}), body, subject }, context).then(() => {}, lostAnswer)
  const remove = (kind: RecordKind) => async (id: string, context: RequestContext) => {
    const at = kind === 'share' ? path('project/share', { shareId: id }) : path(kind, { id })
    await http.text({ method: 'DELETE', path: at, subject: `${kind} ${id}` }, context)
  }
  const update = (kind: RecordKind) => (record: JsonObject, context: RequestContext) => {
    const id = kind === 'share' ? wire.dialect.shares.idOf(record) : wire.dialect.facts(record).id
    const endpoint = kind === 'share' ? 'project/share' : kind
    // The next write of the same subject waits for its answer.
    return put(endpoint, compactPrint(record), `${kind} ${id}`, context)
  }
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
    http
      .text({ method: 'GET', path: path('navigation/path/resolve', { path: at, type }) }, context, 'absent')
      .catch(absentIfInvalid)

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

  const contents = new Contents(gate, bytesPath, (content, context) =>
    calculation(content.calculation, context),
  )
  const listedProjects: Remote['subProjects'] = (id, context) =>
    descendants({ id, type: 'project', depth: '1' }, () => wire.children<ListedProject>('project'), context)

  return {
    user,
    resolveProject: async (at, context) => wire.resolvedId<ProjectId>(await resolve(at, 'project', context)),
    resolveCalculation: async (at, context) =>
      wire.resolvedId<CalculationId>(await resolve(at, 'calculation', context)),

    subProjects: listedProjects,
    calculations: (id, context) =>
      descendants(
        { id, type: 'calculation', depth: '1' },
        () => wire.children<ListedCalculation>('calculation'),
        context,
      ),
    async countChildren(id, context) {
      const counts = await Promise.all(
        (['project', 'calculation'] as const).map(type =>
          descendants({ id, type, depth: '1' }, lengthReader, context),
        ),
      )
      return counts.reduce((sum, count) => sum + count, 0)
    },

    project,
    calculation,
    report: (id, context) => report(id, context).catch(absentIfInvalid),
    shares,
    reportTypes: async context => wire.reportTypes(await reportTypes(context)),

    answered: ({ kind, id }, context) => settings.answered(`${kind} ${id}`, context),
    createProject: (record, context) => created<ProjectId>('project', compactPrint(record), context),
    updateProject: update('project'),
    deleteProject: remove('project'),
    createShare: (record, context) => created<ShareId>('project/share', compactPrint(record), context),
    updateShare: update('share'),
    deleteShare: remove('share'),
    createReport: (record, context) => created<ReportId>('report', compactPrint(record), context),
    updateReport: update('report'),
    deleteReport: remove('report'),
    setReportCalculations: (id, order, context) =>
      put('report/calculations', orderBody(id, order), `report ${id}`, context),
    updateCalculation: update('calculation'),
    deleteCalculation: remove('calculation'),

    fileTitles: (of, context) => fileTitles(of, context, text => wire.fileTitles(text)),
    allFileTitles: (of, context) => fileTitles(of, context, text => wire.allFileTitles(text)),
    contentSize: (content, context) => contents.size(content, context),
    contentFacts: (content, context) => contents.facts(content, context),
    content: (content, start, context, end, of) => contents.body(content, start, context, end, of),
  }

  async function user(context: RequestContext): Promise<User> {
    try {
      return wire.user(await get('user/info', {}, context))
    } catch (failure) {
      if (!lacking.mayBe('user/info', failure)) throw failure
      await answersOther(context).catch((other: unknown) => {
        if (isA('outage', asFailure(other))) throw other
        throw knownQuestion(known) === undefined
          ? failure
          : refusesAll('refuses-all', 'that of GET /user/info', failure)
      })
      lacking.add('user/info')
      return { candidates: settings.user === undefined ? [] : [settings.user], record: parseObject('{}') }
    }
  }

  /** @throws Failure where the instance answers this token nothing that it should */
  async function answersOther(context: RequestContext): Promise<void> {
    const path = knownQuestion(known)
    const answer = path === undefined ? undefined : http.text({ method: 'GET', path }, context)
    if ((await answer?.then(() => true, unlessDenied)) === true) return
    const given = (settings.roots ?? []).flatMap(id => [project(id, context), listedProjects(id, context)])
    await Promise.any<unknown>([reportTypes(context), ...given])
  }

  async function shares(of: ProjectId, context: RequestContext): Promise<readonly Share[]> {
    if (lacking.has(operationOf.shares)) return []
    try {
      return wire.shares(await get(operationOf.shares, { id: of }, context))
    } catch (failure) {
      if (!lacking.mayBe(operationOf.shares, failure)) throw failure
      // As with files: a project that is there, and has no list of shares, has none.
      await project(of, context)
      lacking.refused(path(operationOf.shares, { id: of }), failure)
      return []
    }
  }

  async function fileTitles(
    of: CalculationId,
    context: RequestContext,
    read: (text: string) => readonly FileTitle[],
  ): Promise<readonly FileTitle[]> {
    const wanted = { id: of, type: 'files' }
    try {
      return read(await get('calculation/files', wanted, context))
    } catch (failure) {
      if (!isAbsent(failure) && !lacking.mayBe('calculation/files', failure)) throw failure
      // For a calculation without files, only its record shows that it exists.
      await calculation(of, context)
      lacking.refused(path('calculation/files', wanted), failure)
      return unlistedFiles
    }
  }

  async function reportTypes(context: RequestContext): Promise<string> {
    if (known.reportTypes === 'report-type') return get('report-type', {}, context)
    try {
      return await get('report/types', {}, context)
    } catch (failure) {
      if (!isAbsent(failure) && !lacking.mayBe('report/types', failure)) throw failure
      const answer = await get('report-type', {}, context).catch((other: unknown) => {
        if (lacking.mayBe('report-type', other) && knownQuestion(known) !== undefined)
          lacking.add('report-type')
        throw other
      })
      known.reportTypes = 'report-type'
      return answer
    }
  }
}

/** The record tells the outcome of a PUT: a lost answer is reported as its cause, a silence or a broken connection. */
function lostAnswer(thrown: unknown): never {
  const failure = asFailure(thrown)
  throw failure.kind === 'outcome-unknown' && failure.cause instanceof Failure ? failure.cause : failure
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

/** The documented 400 of a report or a path that is not there. */
function absentIfInvalid(thrown: unknown): never {
  if (!(thrown instanceof Failure) || thrown.kind !== 'invalid') throw thrown
  throw new Failure('absent', thrown.message, { cause: thrown, said: thrown.said })
}
