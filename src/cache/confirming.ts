// A Remote that deletes only the thing that was meant: its record is read before, and compared with what was known of it.
import { Failure } from '../failure.js'
import type { JsonObject } from '../record/json/json.js'
import type { Dialect, Remote, RequestContext } from '../remote/remote.js'
import type { Identities, RecordRef } from './identity.js'

export interface ConfirmedDeletesParts {
  readonly identities: Identities
  readonly dialect: Dialect
}

/** The same remote; what is deleted or made is another thing afterwards than what was known under its id. */
export function withConfirmedDeletes(remote: Remote, { identities, dialect }: ConfirmedDeletesParts): Remote {
  async function remove(
    thing: RecordRef,
    record: Promise<JsonObject>,
    work: () => Promise<void>,
  ): Promise<void> {
    const facts = dialect.facts(await record)
    const before = identities.count
    const isOtherName = facts.title !== undefined && !identities.isCalled(thing, facts.title)
    identities.observe(thing, facts, 'record')
    if (identities.count > before)
      throw identityMismatch(thing, 'stands for another thing on the service now')
    if (isOtherName)
      throw identityMismatch(thing, `is called ${JSON.stringify(facts.title)} on the service now`)
    await work()
    identities.renew(thing)
  }

  async function make<Id extends string>(kind: RecordRef['kind'], made: Promise<Id>): Promise<Id> {
    const id = await made
    identities.renew({ kind, id })
    return id
  }

  const own: Partial<Remote> = {
    deleteProject: (id, context: RequestContext) =>
      remove({ kind: 'project', id }, remote.project(id, context), () => remote.deleteProject(id, context)),
    deleteCalculation: (id, context) =>
      remove({ kind: 'calculation', id }, remote.calculation(id, context), () =>
        remote.deleteCalculation(id, context),
      ),
    deleteReport: (id, context) =>
      remove({ kind: 'report', id }, remote.report(id, context), () => remote.deleteReport(id, context)),
    createProject: (record, context) => make('project', remote.createProject(record, context)),
    createReport: (record, context) => make('report', remote.createReport(record, context)),
  }
  return { ...remote, ...own }
}

const identityMismatch = ({ kind, id }: RecordRef, sentence: string): Failure =>
  new Failure('another-thing', `${kind} ${id} ${sentence}: it is not deleted`)
