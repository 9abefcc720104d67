// The platform's field names and nothing else: which field of a record says what, and how an instance may override it.
import { Failure } from '../failure.js'
import { fieldOf, type Json, type JsonObject, numberJson, stringJson } from '../record/json.js'
import { parseJson } from '../record/parse.js'
import { compactPrint } from '../record/print.js'
import { listing, type Malformed, namesOf } from './listing.js'
import type {
  CalculationId,
  Dialect,
  FileTitle,
  Listed,
  Permission,
  ProjectId,
  RecordFacts,
  ReportId,
  ReportType,
  ReportTypeId,
  Share,
  ShareId,
  User,
} from './remote.js'
import { entriesIn, type ListNames, listFieldOf, rowsIn, withRowsIn } from './rows.js'
import { dateIn, idIn, wordsIn } from './scalar.js'

/** Where each fact may stand; the first field that is there and makes sense counts. */
export interface FieldNames extends ListNames {
  readonly id: readonly string[]
  readonly title: readonly string[]
  readonly created: readonly string[]
  readonly modified: readonly string[]
  readonly state: readonly string[]
  readonly published: readonly string[]
  readonly parent: readonly string[]
  readonly file: readonly string[]
  readonly share: readonly string[]
  readonly permission: readonly string[]
  readonly sharedWith: readonly string[]
  readonly login: readonly string[]
  readonly reportTitle: readonly string[]
  readonly reportType: readonly string[]
  readonly configuration: readonly string[]
}

/** What a configuration file may say of an instance: field names to look at first, and extra query parameters. */
export interface DialectSettings {
  readonly fields?: { readonly [Name in keyof FieldNames]?: readonly string[] | undefined } | undefined
  /** By endpoint: `{ 'project/descendant': { searchType: 'id' } }`. */
  readonly query?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined
}

export const defaultFields: FieldNames = {
  id: ['id'],
  title: ['name', 'title'],
  created: ['creationDate', 'createdDate', 'creationTime', 'createdAt', 'dateCreated', 'created', 'date'],
  modified: [
    'modificationDate',
    'lastModificationDate',
    'modifiedDate',
    'lastModified',
    'updatedAt',
    'updateDate',
    'modified',
    'updated',
  ],
  state: ['state', 'publicationState'],
  published: ['published', 'isPublished', 'publicationDate', 'handle'],
  parent: ['parentId', 'parentProjectId', 'projectId', 'parentProject', 'parent'],
  file: ['name', 'fileName', 'filename', 'id'],
  share: ['shareId', 'id'],
  permission: ['permission'],
  sharedWith: ['username', 'userName', 'login', 'user', 'sharedWith', 'email', 'name'],
  login: ['username', 'userName', 'login', 'loginName', 'userLogin', 'name', 'email', 'mail'],
  reportTitle: ['title', 'name'],
  reportType: ['reportType', 'reportTypeId', 'type'],
  configuration: ['configuration'],
  list: ['calculations', 'listCalculations', 'calculationIds', 'reportCalculations'],
  rowCalculation: ['calcId', 'calculationId', 'id'],
  rowPlace: ['calcOrder', 'order'],
  rowTitle: ['title'],
  rowPath: ['path'],
}

/** Reads answers and writes bodies of the service. Every answer that makes no sense is a Failure 'broken'. */
export interface Wire {
  readonly dialect: Dialect
  record(text: string): JsonObject
  projects(text: string): readonly Listed<ProjectId>[]
  calculations(text: string): readonly Listed<CalculationId>[]
  shares(text: string): readonly Share[]
  reportTypes(text: string): readonly ReportType[]
  fileTitles(text: string): readonly FileTitle[]
  user(text: string): User
  projectId(text: string): ProjectId
  calculationId(text: string): CalculationId
  /** The id of what a POST has made. */
  newId(text: string): string
  recordBody(record: JsonObject): string
  orderBody(report: ReportId, order: readonly CalculationId[]): string
  /** Extra query parameters of this instance for an endpoint. */
  extras(endpoint: string): Readonly<Record<string, string>>
}

const permissions: readonly string[] = ['READ', 'WRITE', 'FULLACCESS'] satisfies Permission[]

/** The wire form of one instance; `malformed` is told of every item that had to be left out. */
export function wire(settings: DialectSettings, malformed: Malformed): Wire {
  const names = fieldsFor(settings)

  const first = <Value>(
    record: JsonObject,
    fields: readonly string[],
    read: (json: Json) => Value | undefined,
  ) => firstOf(record, fields, read)
  const words = (record: JsonObject, fields: readonly string[]) => first(record, fields, wordsIn)

  function facts(record: JsonObject): RecordFacts {
    return {
      id: first(record, names.id, idIn),
      title: words(record, isReport(record) ? names.reportTitle : names.title),
      created: first(record, names.created, dateIn),
      modified: first(record, names.modified, dateIn),
      published: isPublished(record),
    }
  }

  const isReport = (record: JsonObject): boolean =>
    [...names.configuration, ...names.reportType.slice(0, 2)].some(
      name => fieldOf(record, name) !== undefined,
    )

  /** The state decides where there is one; a date or a handle of publication does where there is none. */
  function isPublished(record: JsonObject): boolean {
    const state = words(record, names.state)
    if (state !== undefined) return state.trim().toLowerCase() === 'published'
    return names.published.some(name => saysYes(fieldOf(record, name)))
  }

  /** An id, also inside an object that stands for the thing. */
  const reference = (json: Json): string | undefined =>
    json.type === 'object' ? first(json, names.id, idIn) : idIn(json)

  function item(json: JsonObject): Listed<string> | undefined {
    const id = first(json, names.id, idIn)
    const title = nameIn(json)
    if (id === undefined || title === undefined) return undefined
    const known = [...names.id, ...names.title.slice(0, 1)]
    const rest = compactPrint({
      type: 'object',
      fields: json.fields.filter(field => !known.includes(field.name)),
    })
    const parent = first(json, names.parent, reference)
    return { id, title, facts: facts(json), rest, parent: parent as ProjectId | undefined }
  }

  /** A name may be any text at all, blanks and nothing included: the drive escapes it. */
  const nameIn = (json: JsonObject) =>
    first(json, names.title, value => (value.type === 'string' ? value.value : undefined))

  function share(record: JsonObject): Share | undefined {
    const id = first(record, names.share, idIn)
    const given = words(record, names.permission)?.trim().toUpperCase()
    const permission = given !== undefined && permissions.includes(given) ? (given as Permission) : undefined
    const user = first(record, names.sharedWith, json =>
      json.type === 'object' ? words(json, names.login) : wordsIn(json),
    )
    return id === undefined ? undefined : { id: id as ShareId, permission, user, record }
  }

  function reportType(record: JsonObject): ReportType | undefined {
    const id = first(record, names.id, json => idIn(json) ?? wordsIn(json))
    const title = words(record, names.title)
    return id === undefined || title === undefined ? undefined : { id: id as ReportTypeId, title, record }
  }

  /** Log-in names, most likely first; of an e-mail-like one also what stands before the @. */
  function candidates(record: JsonObject): readonly string[] {
    const inner = record.fields.flatMap(({ value }) => (value.type === 'object' ? [value] : []))
    const found = [record, ...inner].flatMap(object =>
      names.login.flatMap(name => wordsIn(fieldOf(object, name)) ?? []),
    )
    const short = found.flatMap(name => /^([^@\s]+)@/.exec(name)?.[1] ?? [])
    return [...new Set([...found, ...short].map(name => name.trim()))].filter(name => !name.includes('/'))
  }

  const idOf = (text: string): string => {
    const id = reference(parsed(text))
    if (id === undefined) throw broken('an id is due', text)
    return id
  }

  return {
    dialect: {
      facts,
      rows: report => rowsIn(report, names),
      entries: (report, base) => entriesIn(report, base, names),
      withRows: (report, rows) => withRowsIn(report, rows, names),
      listField: report => listFieldOf(report, names),
      configuration: report => words(report, names.configuration),
      reportType: report => first(report, names.reportType, json => reference(json) ?? wordsIn(json)),
      permission: record => words(record, names.permission),
    },
    record: text => {
      const json = parsed(text)
      if (json.type === 'object') return json
      if (isNothing(json)) throw new Failure('absent', 'the service knows no such record')
      throw broken('one record is due', text)
    },
    projects: text => listing(parsed(text), item, malformed) as Listed<ProjectId>[],
    calculations: text => listing(parsed(text), item, malformed) as Listed<CalculationId>[],
    shares: text => listing(parsed(text), share, malformed),
    reportTypes: text => listing(parsed(text), reportType, malformed),
    fileTitles: text => namesOf(text, names.file, malformed) as readonly string[] as readonly FileTitle[],
    user: text => {
      const json = parsed(text)
      if (json.type !== 'object') throw broken('the record of a user is due', text)
      return { candidates: candidates(json), record: json }
    },
    projectId: text => idOrAbsent(text) as ProjectId,
    calculationId: text => idOrAbsent(text) as CalculationId,
    newId: idOf,
    recordBody: compactPrint,
    orderBody: (report, order) =>
      compactPrint({
        type: 'object',
        fields: [
          { name: 'id', rawName: '"id"', value: numberJson(report) },
          { name: 'listCalculations', rawName: '"listCalculations"', value: stringJson(order.join(',')) },
        ],
      }),
    extras: endpoint => settings.query?.[endpoint] ?? {},
  }

  function idOrAbsent(text: string): string {
    if (text === '' || isNothing(parsed(text)))
      throw new Failure('absent', 'the service finds nothing under this path')
    return idOf(text)
  }
}

/** A configured name is looked at before the usual ones. */
function fieldsFor(settings: DialectSettings): FieldNames {
  const own = settings.fields ?? {}
  const merged = Object.entries(defaultFields).map(([fact, usual]) => {
    const configured: readonly string[] = own[fact as keyof FieldNames] ?? []
    return [fact, [...configured, ...usual]]
  })
  return Object.fromEntries(merged) as FieldNames
}

function firstOf<Value>(
  record: JsonObject,
  fields: readonly string[],
  read: (json: Json) => Value | undefined,
): Value | undefined {
  for (const name of fields) {
    const json = fieldOf(record, name)
    const value = json === undefined ? undefined : read(json)
    if (value !== undefined) return value
  }
  return undefined
}

const saysYes = (json: Json | undefined): boolean =>
  (json?.type === 'word' && json.raw === 'true') ||
  (json !== undefined && json.type !== 'word' && !isBlank(json))

const isBlank = (json: Json): boolean =>
  json.type === 'string'
    ? /^(\s*|false|no)$/i.test(json.value)
    : json.type === 'number' && Number(json.raw) === 0

const isNothing = (json: Json): boolean => json.type === 'word' && json.raw === 'null'

function parsed(text: string): Json {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new Failure('broken', 'the service answered with something that is no JSON', {
      cause,
      said: text.slice(0, 300),
    })
  }
}

const broken = (due: string, text: string): Failure =>
  new Failure('broken', `${due}, and the service answered with something else`, { said: text.slice(0, 300) })
