// A Remote that deletes only the thing that was meant: its record is read before, and compared with what was known of it.
import { Failure } from '../failure.js'
import type { JsonObject } from '../record/json/json.js'
import {
  type Dialect,
  type Instant,
  isAnotherThing,
  type Remote,
  type RequestContext,
} from '../remote/remote.js'
import type { Identities, RecordRef } from './identity.js'

export interface ConfirmedDeletesParts {
  readonly identities: Identities
  readonly dialect: Dialect
  readonly now: () => Instant
}

/** The same remote; what is deleted or made is another thing afterwards than what was known under its id. */
export function withConfirmedDeletes(
  remote: Remote,
  { identities, dialect, now }: ConfirmedDeletesParts,
): Remote {
  async function remove(
    thing: RecordRef,
    deletion: {
      readonly look: (context: RequestContext) => Promise<JsonObject>
      readonly delete: (context: RequestContext) => Promise<void>
    },
    context: RequestContext,
  ): Promise<void> {
    const again = async (within: RequestContext): Promise<void> => {
      await context.look?.again(within)
      confirm(thing, await deletion.look(within))
    }
    const at = context.look?.at ?? now()
    confirm(thing, await deletion.look(context))
    await deletion.delete({ ...context, look: { at, again } })
    identities.renew(thing)
  }

  function confirm(thing: RecordRef, record: JsonObject): void {
    const facts = dialect.facts(record)
    const isOtherName = facts.title !== undefined && !identities.isCalled(thing, facts.title)
    const known = identities.known(thing)
    const isRenamed = isOtherName && known !== undefined && !isAnotherThing(known, facts, 'loosely')
    // A new name is not remembered: the kernel tries once more by the old one, and must not find the new one well known.
    const before = identities.count
    if (!isRenamed) identities.observe(thing, facts, 'record')
    if (identities.count > before)
      throw identityMismatch(thing, 'stands for another thing on the service now')
    if (isOtherName)
      throw identityMismatch(thing, `is called ${JSON.stringify(facts.title)} on the service now`)
  }

  async function make<Id extends string>(kind: RecordRef['kind'], made: Promise<Id>): Promise<Id> {
    const id = await made
    identities.renew({ kind, id })
    return id
  }

  const own: Partial<Remote> = {
    deleteProject: (id, context) =>
      remove(
        { kind: 'project', id },
        { look: a => remote.project(id, a), delete: a => remote.deleteProject(id, a) },
        context,
      ),
    deleteCalculation: (id, context) =>
      remove(
        { kind: 'calculation', id },
        { look: a => remote.calculation(id, a), delete: a => remote.deleteCalculation(id, a) },
        context,
      ),
    deleteReport: (id, context) =>
      remove(
        { kind: 'report', id },
        { look: a => remote.report(id, a), delete: a => remote.deleteReport(id, a) },
        context,
      ),
    createProject: (record, context) => make('project', remote.createProject(record, context)),
    createReport: (record, context) => make('report', remote.createReport(record, context)),
  }
  return { ...remote, ...own }
}

const identityMismatch = ({ kind, id }: RecordRef, sentence: string): Failure =>
  new Failure('another-thing', `${kind} ${id} ${sentence}: it is not deleted`)
