// Names of fields: which field of a record may state each fact, and how an instance may override it.
import { fieldOf, type JsonObject } from '../../record/json/json.js'

/** The fields that may state each fact; the first valid one counts. */
export const defaultFields = {
  id: ['id'],
  title: ['name', 'title'],
  created: ['creationDate', 'createdDate', 'creationTime', 'createdAt', 'dateCreated', 'created', 'date'],
  // Not a plain `date`, which may be that of the last change.
  born: ['creationDate', 'createdDate', 'creationTime', 'createdAt', 'dateCreated', 'created'],
  owner: ['owner', 'ownerName', 'ownerId'],
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
  description: ['description'],
  shareProject: ['projectId', 'project'],
  file: ['name', 'fileName', 'filename', 'id'],
  share: ['shareId', 'id'],
  permission: ['permission'],
  sharedWith: ['username', 'userName', 'login', 'user', 'sharedWith', 'email'],
  login: ['username', 'userName', 'login', 'loginName', 'userLogin', 'name', 'email', 'mail'],
  reportTitle: ['title', 'name'],
  reportType: ['reportType', 'reportTypeId'],
  reportTypeName: ['reportTypeName'],
  configuration: ['configuration'],
  list: ['calculations', 'listCalculations', 'calculationIds', 'reportCalculations'],
  rowCalculation: ['calcId', 'calculationId', 'id'],
  rowPlace: ['calcOrder', 'order'],
  rowTitle: ['title'],
  rowPath: ['path'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type FieldNames = Readonly<Record<keyof typeof defaultFields, readonly string[]>>

/** Overrides for an instance: field names to look at first, and extra query parameters. */
export interface DialectSettings {
  readonly fields?: { readonly [Name in keyof FieldNames]?: readonly string[] | undefined } | undefined
  /** By endpoint: `{ 'project/descendant': { searchType: 'id' } }`. */
  readonly query?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined
}

/** A configured name is tried before the usual ones. */
export function fieldsFor({ fields = {} }: DialectSettings): FieldNames {
  const merged = Object.entries(defaultFields).map(([fact, usual]) => {
    const configured: readonly string[] = fields[fact as keyof FieldNames] ?? []
    return [fact, [...configured, ...usual]]
  })
  return Object.fromEntries(merged) as FieldNames
}

/** For a new record: the field name of the neighbouring records, else the usual one. */
export const usual = (fields: readonly string[], like: readonly JsonObject[]): string =>
  fields.find(name => like.some(record => fieldOf(record, name) !== undefined)) ?? fields[0] ?? ''
