// Shares: read in every form that occurs, made in that of their neighbours; and whether a text is about the same user as known ones.
import {
  fieldOf,
  type Json,
  type JsonObject,
  numberJson,
  withField,
  without,
} from '../../record/json/json.js'
import { compactPrint } from '../../record/json/print.js'
import { type ProjectId, permissions, type Share, type ShareId } from '../remote.js'
import { type FieldNames, usual } from './names.js'
import { firstReadable, idIn, isEmpty, nonBlankText, overlaid } from './reading.js'

/** them: a user of the records. another: a different one. none: the text names no user. */
type PersonNamed = 'them' | 'another' | 'none'

export class Shares {
  constructor(private readonly names: FieldNames) {}

  /** Undefined for a record that does not state enough. */
  readonly read = (record: JsonObject): Share | undefined => {
    const id = this.idOf(record)
    const given = this.permission(record)?.trim().toUpperCase()
    const permission = permissions.find(known => known === given)
    return id === undefined
      ? undefined
      : { id: id as ShareId, permission, user: this.sharedWith(record), record }
  }

  idOf(share: JsonObject): string | undefined {
    return firstReadable(share, this.names.share, idIn)
  }

  /** As it is written there. */
  permission(share: JsonObject): string | undefined {
    return firstReadable(share, this.names.permission, nonBlankText)
  }

  /** True for the name of the field that holds it. */
  isPermission(field: string): boolean {
    return this.names.permission.includes(field)
  }

  /** A user, by a log-in name or address, or by an object that has one. */
  sharedWith(share: JsonObject): string | undefined {
    return firstReadable(share, this.names.sharedWith, json =>
      json.type === 'object' ? firstReadable(json, this.names.login, nonBlankText) : nonBlankText(json),
    )
  }

  /** The body of a POST, in the form of the existing shares. */
  body(written: JsonObject, project: ProjectId, like: readonly JsonObject[]): JsonObject {
    const { share, shareProject, sharedWith } = this.names
    const person = firstReadable(written, sharedWith, json => (isPlain(json) ? json : undefined))
    const personField = sharedWith.find(name => like.some(record => isPlain(fieldOf(record, name))))
    const bare = without(written, [...share, ...shareProject])
    const body = withField(bare, usual(shareProject, like), numberJson(project))
    if (person === undefined || personField === undefined) return body
    return withField(without(body, sharedWith), personField, person)
  }

  /** The record with every value of the text but its person, under the record's own field names. */
  saying(written: JsonObject, record: JsonObject): JsonObject {
    const { share, shareProject, sharedWith } = this.names
    return overlaid(record, without(written, [...share, ...shareProject, ...sharedWith]))
  }

  /** Every user that the text names must stand in one of the records, in any field. */
  personNamed(written: JsonObject, known: readonly JsonObject[]): PersonNamed {
    const named = this.#personsIn(written)
    if (named.length === 0) return 'none'
    const there = new Set(known.flatMap(record => this.#personsIn(record)))
    return named.every(person => there.has(person)) ? 'them' : 'another'
  }

  /** The users a share names, normalised so that two equal ones compare equal. */
  #personsIn(share: JsonObject): readonly string[] {
    return this.names.sharedWith.flatMap(name => this.#spellings(fieldOf(share, name)))
  }

  #spellings(json: Json | undefined): readonly string[] {
    if (json === undefined || isEmpty(json)) return []
    if (json.type !== 'object')
      return [(nonBlankText(json) ?? idIn(json) ?? compactPrint(json)).trim().toLowerCase()]
    const login = firstReadable(json, this.names.login, nonBlankText)?.trim().toLowerCase()
    const found = [firstReadable(json, this.names.id, idIn), login].filter(one => one !== undefined)
    return found.length > 0 ? found : [compactPrint(json)]
  }
}

const isPlain = (json: Json | undefined): boolean => nonBlankText(json) !== undefined
