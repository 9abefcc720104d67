// A Remote that deletes only the thing that was meant: its record is read before, and compared with what was known of it.
import { Failure } from '../failure.js'
import type { JsonObject } from '../record/json/json.js'
import type { Ask, Dialect, Remote } from '../remote/remote.js'
import type { Identities, Thing } from './identity.js'

export interface ConfirmingParts {
  readonly identities: Identities
  readonly dialect: Dialect
}

/** The same remote; what is deleted or made is another thing afterwards than what was known under its id. */
export function confirming(remote: Remote, { identities, dialect }: ConfirmingParts): Remote {
  async function remove(thing: Thing, record: Promise<JsonObject>, work: () => Promise<void>): Promise<void> {
    const facts = dialect.facts(await record)
    const before = identities.count
    const isOtherName = facts.title !== undefined && !identities.isCalled(thing, facts.title)
    identities.meet(thing, facts, 'record')
    if (identities.count > before) throw otherThing(thing, 'stands for another thing on the service now')
    if (isOtherName) throw otherThing(thing, `is called ${JSON.stringify(facts.title)} on the service now`)
    await work()
    identities.renew(thing)
  }

  async function make<Id extends string>(kind: Thing['kind'], made: Promise<Id>): Promise<Id> {
    const id = await made
    identities.renew({ kind, id })
    return id
  }

  const own: Partial<Remote> = {
    deleteProject: (id, ask: Ask) =>
      remove({ kind: 'project', id }, remote.project(id, ask), () => remote.deleteProject(id, ask)),
    deleteCalculation: (id, ask) =>
      remove({ kind: 'calculation', id }, remote.calculation(id, ask), () =>
        remote.deleteCalculation(id, ask),
      ),
    deleteReport: (id, ask) =>
      remove({ kind: 'report', id }, remote.report(id, ask), () => remote.deleteReport(id, ask)),
    createProject: (record, ask) => make('project', remote.createProject(record, ask)),
    createReport: (record, ask) => make('report', remote.createReport(record, ask)),
  }
  return { ...remote, ...own }
}

const otherThing = ({ kind, id }: Thing, sentence: string): Failure =>
  new Failure('another-thing', `${kind} ${id} ${sentence}: it is not deleted`)
