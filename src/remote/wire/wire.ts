// The platform's speech: its answers as values of the domain, and the bodies that it takes.
import { Failure } from '../../failure.js'
import { BatchBuilder } from '../../record/compact/compressed-batch.js'
import type { TextReader } from '../../record/json/items.js'
import { type Json, type JsonObject, numberJson, stringJson } from '../../record/json/json.js'
import { parseKept } from '../../record/json/parse.js'
import type {
  CalculationId,
  FileTitle,
  Listed,
  ListedCalculation,
  ListedProject,
  ProjectId,
  ReportId,
  ReportType,
  Share,
  User,
} from '../remote.js'
import { Dialect } from './dialect.js'
import {
  fileNamesIn,
  listed,
  listingReader,
  type Malformed,
  malformedAnswer,
  parseAnswer,
  parsedBy,
} from './listing.js'
import { type DialectSettings, type FieldNames, fieldsFor } from './names.js'
import { firstReadable, numberIn, readings } from './reading.js'

/** Reads answers and writes bodies of one instance. Every invalid answer is a Failure 'broken'. */
export class Wire {
  readonly dialect: Dialect
  readonly #names: FieldNames
  readonly #read: ReturnType<typeof readings>

  /** @param malformed called for every item that was left out */
  constructor(
    private readonly settings: DialectSettings,
    private readonly malformed: Malformed,
  ) {
    this.#names = fieldsFor(settings)
    this.#read = readings(this.#names)
    this.dialect = new Dialect(this.#names, this.#read.facts)
  }

  /** The requested record and no other; one that says no number in the place of its id passes. @throws Failure 'broken' for one that says another */
  record(text: string, { kind, id }: RequestedRecord): JsonObject {
    // An empty body says nothing of the record: only `null` says that there is none.
    if (isNull(text)) throw new Failure('absent', 'the service has no such record')
    const record = objectIn(text)
    const numberSaid = (json: Json): string | undefined => this.#read.reference(json, numberIn)
    const said = this.dialect.facts(record).id ?? firstReadable(record, this.#names.id, numberSaid) ?? id
    if (said === id) return record
    throw new Failure(
      'broken',
      `${kind} ${id} was asked for, and the service answered with ${kind} ${said}: does a cache stand in front of it that ignores the question?`,
    )
  }

  children<Item extends ListedProject | ListedCalculation>(kind: Item['kind']): TextReader<readonly Item[]> {
    const bundler = new BatchBuilder()
    const read = (json: JsonObject) => this.#read.item(json, { kind, bundler })
    const done = (): void => bundler.close()
    const reader: TextReader<Listed<string>[]> = listingReader(read, this.malformed, done)
    return reader as TextReader<Item[]>
  }

  shares(text: string): readonly Share[] {
    return listed(text, this.dialect.shares.read, this.malformed)
  }

  reportTypes(text: string): readonly ReportType[] {
    return listed(text, this.#read.reportType, this.malformed)
  }

  fileTitles(text: string, malformed: Malformed = this.malformed): readonly FileTitle[] {
    return fileNamesIn(text, this.#names.file, malformed) as readonly string[] as readonly FileTitle[]
  }

  /** @throws Failure 'broken' for an item that makes no sense */
  allFileTitles(text: string): readonly FileTitle[] {
    return this.fileTitles(text, item => {
      throw malformedAnswer('a list of files is due', item)
    })
  }

  user(text: string): User {
    const record = objectIn(text)
    return { candidates: this.#read.candidates(record), record }
  }

  resolvedId<Id extends ProjectId | CalculationId>(text: string): Id {
    if (text === '' || isNull(text)) throw new Failure('absent', 'the service finds nothing under this path')
    return this.newId(text) as Id
  }

  /** The id of the record that a POST made. */
  newId(text: string): string {
    const id = this.#read.reference(parseAnswer(text))
    if (id === undefined) throw malformedAnswer('an id is due', text)
    return id
  }

  /** Extra query parameters of this instance for an endpoint. */
  extras(endpoint: string): Readonly<Record<string, string>> {
    return this.settings.query?.[endpoint] ?? {}
  }
}

/** The whole list as one text; the order of the ids is the order of the report. */
export function orderBody(report: ReportId, order: readonly CalculationId[]): string {
  const list = stringJson(order.join(','))
  return `{"id":${numberJson(report).raw},"listCalculations":${list.raw}}`
}

/** Some instances answer with no content where others say `null`. */
const isNull = (text: string): boolean => text === 'null'

function objectIn(text: string): JsonObject {
  const json = parsedBy(parseKept, text)
  if (json.type !== 'object') throw malformedAnswer('one record is due', text)
  return json
}

export interface RequestedRecord {
  readonly kind: 'project' | 'calculation' | 'report'
  readonly id: string
}
