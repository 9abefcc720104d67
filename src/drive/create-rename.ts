// Creation and renaming: mkdir makes a project, a rename changes a title; nothing is moved to another place.
import type { Readable } from '../cache/metadata/catalog.js'
import { editsBetween, unstoredFields } from '../edit/save/diff.js'
import { originalFailure, sentOnce, unreadable } from '../edit/save/reconcile.js'
import { asFailure, Failure, isA, unlessFailure } from '../failure.js'
import { recover } from '../maybe-promise.js'
import { emptyObject, type JsonObject } from '../record/json/json.js'
import { prettyPrint } from '../record/json/print.js'
import type { Instant, ListedProject, Look, ProjectId, RequestContext } from '../remote/remote.js'
import type { NewProject } from '../remote/wire/dialect.js'
import { isSpelling } from '../spelling.js'
import type { NamedNode } from './names/name-aliases.js'
import { titleWritten } from './nodes/name.js'
import { type ProjectNode, recordOfChild } from './nodes/node.js'
import { type EditingParts, saveRecord } from './records/editable-files.js'
import { refuseOther } from './tree/identity-mark.js'

/** A name that is to be given; `lookedAt` is when the look began by which it is free. */
interface FreeName {
  readonly name: string
  readonly lookedAt: Instant
}

/** The known facts of a parent: its record, its sub-projects, and the look by which the name is free in it. */
interface ParentContents {
  readonly present: JsonObject
  readonly before: readonly ListedProject[]
  readonly look: Look
}

export class CreateRename {
  constructor(private readonly parts: EditingParts) {}

  /**
   * A new project below this one, under the name as it was written.
   * @throws Failure 'another-thing' where the directory is another project now: nothing is sent
   */
  async make(
    { directory, name, lookedAt }: FreeName & { readonly directory: ProjectNode },
    given: RequestContext,
  ): Promise<void> {
    const { aliases, catalog, remote, rights } = this.parts
    const parent = directory.id
    const context = { ...given, names: parent }
    const refusal = rights.refusal(directory)
    if (refusal !== undefined) throw refusal
    const title = titleWritten(name)
    const again = this.#stillFree(parent, title)
    const before = (await catalog.children(parent).ask(context)).projects
    if (catalog.children(parent).stale() !== undefined) await again(context)
    const present = await remote.project(parent, context)
    refuseOther(directory, { record: present, notDone: 'nothing is made in it' }, this.parts)
    const near = { look: { at: lookedAt, again }, before, present }
    const day = new Date(this.parts.now()).toISOString().slice(0, 10)
    const said = { title, description: `Made as a directory on ${day}`, parent }
    const { made, all } = await this.#post(said, near, context).catch((thrown: unknown) => {
      // It may have been made all the same: the next question reads the list again.
      catalog.refreshProject(parent)
      throw thrown
    })
    catalog.learnSubProjects(parent, all)
    await this.#meet(made, parent, context)
    aliases.made(made.id)
    aliases.add(parent, name, { kind: 'project', id: made.id, title: made.title, parent })
  }

  /**
   * One POST; where its answer was lost or the place is in doubt, a look at the list. Answers what the parent's list says of
   * the project, and that list.
   * @throws Failure 'broken' where it was made, but is not seen below its parent; or what the service said
   */
  async #post(
    said: NewProject,
    { before, present, look }: ParentContents,
    context: RequestContext,
  ): Promise<{ made: ListedProject; all: readonly ListedProject[] }> {
    const { dialect, identities, now, remote } = this.parts
    const old = new Set(before.map(project => project.id))
    const list = () => remote.subProjects(said.parent, context)
    // The parent's own record tells how this service calls things.
    const body = dialect.newProject(said, [present])
    /** @throws Failure of the look, or 'another-thing' for what it was to be made in */
    const again = async (within: RequestContext) => {
      if (dialect.isAnother(present, await remote.project(said.parent, within)))
        throw new Failure('another-thing', `project ${said.parent} is another one now: nothing is made in it`)
      await look.again(within)
    }
    /** Another client may have made one of this name: ours says what was sent. */
    const isOurs = async (id: ProjectId) => {
      const like = dialect.retitled(await remote.project(id, context), said.title)
      return unstoredFields(editsBetween(emptyObject, dialect.retitled(body, said.title)), like).length === 0
    }
    let id: ProjectId
    const answers = sentOnce({ ...context, look: { at: look.at, again } }, now())
    try {
      id = await remote.createProject(body, answers.context)
      identities.renew({ kind: 'project', id })
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
    const told = { since: born, born, published: false, bundle: undefined, place: before.length }
    const made: ListedProject = { kind: 'project', id, title, parent: said.parent, ...told }
    return { made, all: [...all, made] }
  }

  /** The thing gets another name in its place. */
  async retitle(
    node: NamedNode,
    { parent, name, lookedAt }: FreeName & { readonly parent: ProjectId },
    given: RequestContext,
  ): Promise<void> {
    const { aliases, catalog, dialect, rights } = this.parts
    const refusal = rights.refusal(node)
    if (refusal !== undefined) throw refusal
    const target = recordOfChild(node)
    const editable = this.parts.editable(target)
    const record = await editable.read(given)
    refuseOther(node, { record, notDone: 'it is not renamed' }, this.parts)
    const base = prettyPrint(record)
    const text = Buffer.from(prettyPrint(dialect.retitled(record, titleWritten(name))))
    const draft = await this.parts.drafts.begin(target, { base, text })
    let title = titleWritten(name)
    const look = { at: lookedAt, again: this.#stillFree(parent, title, node) }
    const context = { ...given, names: parent, look }
    try {
      const saved = await saveRecord(this.parts, target, { record: editable, draft, own: base }, context)
      if (saved.outcome === 'stored') title = dialect.facts(saved.record).title ?? title
    } finally {
      // A name is no text that could be lost: the caller gets the failure.
      await draft.discard()
    }
    if (node.parent === undefined) return
    catalog.retitleIn(node.parent, { kind: node.kind, id: node.id } as Readable, title)
    const { kind, id, parent: above, published, born } = node
    const renamed = { kind, id, title, parent: above, published, born } as NamedNode
    aliases.add(node.parent, name, renamed, dialect.facts(record).title)
  }

  /** As the service has it now: what is known here may be of before a change that was answered late. */
  #stillFree(parent: ProjectId, title: string, self?: NamedNode): Look['again'] {
    const { remote } = this.parts
    return async context => {
      const lists = await Promise.all([
        remote.subProjects(parent, context),
        remote.calculations(parent, context),
      ])
      for (const other of lists.flat())
        if (isSpelling(other.title, title) && !(other.kind === self?.kind && other.id === self.id))
          throw new Failure('exists', `${title}: there is something of this name by now`)
    }
  }

  /** Only this very project may be taken away again, and no other that has its number one day. */
  async #meet({ id, title, born }: ListedProject, parent: ProjectId, context: RequestContext): Promise<void> {
    const thing = { kind: 'project', id } as const
    const { catalog, identities } = this.parts
    identities.observe(thing, { born, owner: undefined, title, parent }, 'listing')
    catalog.forget(thing)
    // The project is made whatever this answers; `rmdir` asks again.
    await recover<unknown, unknown>(catalog.record(thing).ask(context), asFailure)
  }
}
