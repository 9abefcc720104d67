// Dialect: the meaning of a record, read and written without its field names; what reports, their lists or shares alone have is with them.
import {
  emptyObject,
  fieldOf,
  type Json,
  type JsonObject,
  numberJson,
  stringJson,
  withField,
  without,
} from '../../record/json/json.js'
import { type KeptDigits, withDigitsOf } from '../../record/json/kept-digits.js'
import { compactPrint } from '../../record/json/print.js'
import { isAnotherThing, type ProjectId, type RecordFacts } from '../remote.js'
import { type FieldNames, usual } from './names.js'
import { remembered } from './reading.js'
import { Reports } from './reports.js'
import { ReportLists } from './rows.js'
import { Shares } from './shares.js'

export interface NewProject {
  readonly title: string
  readonly description: string
  readonly parent: ProjectId
}

export class Dialect {
  readonly lists: ReportLists
  readonly reports: Reports
  readonly shares: Shares

  constructor(
    private readonly names: FieldNames,
    readonly facts: (record: JsonObject) => RecordFacts,
  ) {
    this.lists = new ReportLists(names)
    this.reports = new Reports(names, this.lists)
    this.shares = new Shares(names)
  }

  /** True if two records of one id are different things; false where they do not state enough. */
  readonly isAnother = (before: JsonObject, now: JsonObject): boolean => {
    const [one, other] = [this.facts(before), this.facts(now)]
    const isOtherId = one.id !== undefined && other.id !== undefined && one.id !== other.id
    return isOtherId || isAnotherThing(one, other, 'strictly')
  }

  /** The written text with the digits of its base, where a program has rounded numbers. */
  readonly withDigitsOf = (base: JsonObject, written: JsonObject): KeptDigits =>
    withDigitsOf(base, written, this.names.rowCalculation)

  /** The record without the fields that the service sets at each change: an old value in them is no edit. */
  readonly plain = remembered(record => without(record, this.names.modified))

  /** Those fields as they stand there, for comparing; undefined where there are none. */
  readonly changedAt = remembered(({ fields }) => {
    const printed: string[] = []
    for (const { name, value } of fields)
      if (this.names.modified.includes(name)) printed.push(compactPrint(value))
    return printed.length === 0 ? undefined : printed.sort().join()
  })

  /** True for the name of a field that holds what a thing is called. */
  readonly isTitle = (field: string): boolean =>
    this.names.title.includes(field) || this.names.reportTitle.includes(field)

  retitled(record: JsonObject, title: string): JsonObject {
    const names = this.names.title
    const field = names.find(name => fieldOf(record, name)?.type === 'string') ?? names[0] ?? ''
    return withField(record, field, stringJson(title))
  }

  /** The body of a POST; `like` are neighbouring records: their field names are taken. */
  newProject({ title, description, parent }: NewProject, like: readonly JsonObject[]): JsonObject {
    const { names } = this
    const fields: readonly (readonly [string, Json])[] = [
      [usual(names.title, like), stringJson(title)],
      [usual(names.description, like), stringJson(description)],
      [usual(names.parent, like), numberJson(parent)],
    ]
    return fields.reduce((record, [name, value]) => withField(record, name, value), emptyObject)
  }
}
