// New project: one POST for mkdir, and a look at the list where the answer was lost or the place is in doubt.

import { asFailure, Failure, isA, unlessFailure } from '../../failure.js'
import { emptyObject, type JsonObject } from '../../record/json/json.js'
import type {
  Dialect,
  Instant,
  ListedProject,
  Look,
  NewProject,
  ProjectId,
  Remote,
  RequestContext,
} from '../../remote/remote.js'
import { isSpelling } from '../../spelling.js'
import { editsBetween, unstoredFields } from '../save/diff.js'
import { originalFailure, sentOnce, unreadable } from '../save/reconcile.js'

export interface NewProjectPorts {
  readonly remote: Pick<Remote, 'createProject' | 'subProjects' | 'project'>
  readonly dialect: Dialect
  readonly now: () => Instant
}

/** The known facts of the parent: its sub-projects, and records whose names for things are taken. */
export interface ParentContents {
  readonly before: readonly ListedProject[]
  readonly like: readonly JsonObject[]
  /** By which the name is free in it. */
  readonly look: Look
}

/**
 * Makes a project and answers what its parent's list says of it, and that list.
 * @throws Failure 'broken' where it was made, but is not seen below its parent; or what the service said
 */
export async function makeProject(
  { remote, dialect, now }: NewProjectPorts,
  { said, near }: { said: NewProject; near: ParentContents },
  context: RequestContext,
): Promise<{ made: ListedProject; all: readonly ListedProject[] }> {
  const old = new Set(near.before.map(project => project.id))
  const list = () => remote.subProjects(said.parent, context)
  const body = dialect.newRecords.project(said, near.like)
  /** @throws Failure of the look, or 'another-thing' for what it was to be made in */
  const again = async (within: RequestContext) => {
    const [parent] = near.like
    if (parent !== undefined && dialect.isAnother(parent, await remote.project(said.parent, within)))
      throw new Failure('another-thing', `project ${said.parent} is another one now: nothing is made in it`)
    await near.look.again(within)
  }
  /** Another client may have made one of this name: ours says what was sent. */
  const isOurs = async (id: ProjectId) => {
    const like = dialect.retitled(await remote.project(id, context), said.title)
    return unstoredFields(editsBetween(emptyObject, dialect.retitled(body, said.title)), like).length === 0
  }
  let id: ProjectId
  const answers = sentOnce({ ...context, look: { at: near.look.at, again } }, now())
  try {
    id = await remote.createProject(body, answers.context)
  } catch (thrown) {
    const failure = asFailure(thrown)
    if (!isA('undecided', failure)) throw failure
    const all = await list().catch(unlessFailure)
    const found = all?.find(project => !old.has(project.id) && isSpelling(project.title, said.title))
    if (all === undefined) throw failure
    if (found === undefined || !(await isOurs(found.id))) throw originalFailure(failure)
    answers.seen()
    return { made: found, all }
  }
  const all = await list()
  const listed = all.find(project => project.id === id)
  if (listed !== undefined) return { made: listed, all }
  // The list may be late: the record tells.
  const { title = said.title, born } = dialect.facts(await remote.project(id, context).catch(unreadable))
  const told = { since: born, born, published: false, bundle: undefined, place: near.before.length }
  const made: ListedProject = { kind: 'project', id, title, parent: said.parent, ...told }
  return { made, all: [...all, made] }
}
