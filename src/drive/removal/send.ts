// Sending of a deletion: the record is read and compared with what was removed, then one DELETE; what was kept of it is forgotten.
import { isOtherRecord } from '../../cache/identity.js'
import type { ChildRef } from '../../cache/metadata/catalog.js'
import { editsBetween } from '../../edit/save/diff.js'
import { sentOnce } from '../../edit/save/reconcile.js'
import { asFailure, Failure, isA, isAbsent } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import type { Instant, ProjectId, RequestContext } from '../../remote/remote.js'
import type { CalculationNode, ProjectNode, RecordNode } from '../nodes/node.js'
import type { EditingParts } from '../records/editable-files.js'
import type { Deletable, RemovedThing, Sight } from './burst.js'

export type DeleteTarget = Deletable | ProjectNode

export interface DeleteSenderParts
  extends Pick<EditingParts, 'catalog' | 'reports' | 'aliases' | 'remote' | 'dialect' | 'now'> {
  /** No `new*.json` stands for a record that is gone. */
  readonly forgetNames: (node: RecordNode) => void
  /** A text of it that waits can be saved no more. */
  readonly deleted: (node: DeleteTarget) => void
}

export class DeleteSender {
  constructor(private readonly parts: DeleteSenderParts) {}

  known(node: Deletable): Sight {
    const { catalog } = this.parts
    if (node.kind === 'calculation') {
      const record = catalog.record({ kind: 'calculation', id: node.id }).known()
      return { record, files: catalog.files(node.id).known() }
    }
    if (node.of === 'report') return { record: catalog.record({ kind: 'report', id: node.id }).known() }
    if (node.of !== 'share') return {}
    const shares = catalog.shares(node.project).known() ?? []
    return { record: shares.find(({ id }) => id === node.id)?.record }
  }

  async look(node: DeleteTarget, context: RequestContext): Promise<Sight> {
    const { remote } = this.parts
    if (node.kind === 'project') return this.#sight(await remote.project(node.id, context))
    if (node.kind === 'calculation') {
      const files = await remote.allFileTitles(node.id, context)
      return { ...this.#sight(await remote.calculation(node.id, context)), files }
    }
    if (node.of === 'report') return this.#sight(await remote.report(node.id, context))
    if (node.of !== 'share') return {}
    const share = (await remote.shares(node.project, context)).find(({ id }) => id === node.id)
    if (share === undefined) throw new Failure('absent', `share ${node.id} is gone`)
    const words = [share.user, share.permission].filter(word => word !== undefined)
    return { title: words.join(' '), record: share.record }
  }

  /** The project of a calculation; undefined where neither a listing nor a record has shown it. */
  projectOf({ id, parent }: CalculationNode, record: JsonObject | undefined): ProjectId | undefined {
    const known = record ?? this.parts.catalog.record({ kind: 'calculation', id }).known()
    return parent ?? (known && (this.parts.dialect.facts(known).parent as ProjectId | undefined))
  }

  /** @throws Failure 'another-thing' where the record or the listing that led to it is old: the next look asks for a new one */
  refuseOther(node: CalculationNode | ProjectNode, { record, title }: Sight): void {
    const { catalog, dialect } = this.parts
    if (record === undefined) return
    const known = catalog.record(node).known()
    const isOther = known !== undefined && dialect.isAnother(known, record)
    if (!isOther && !isOtherRecord(node, dialect.facts(record))) return
    if (node.parent !== undefined) catalog.refreshProject(node.parent)
    throw new Failure(
      'another-thing',
      `${node.kind} ${node.id} is called ${JSON.stringify(title)} now, or is another one: it is not deleted`,
    )
  }

  async refuseFull({ id }: ProjectNode, path: string, context: RequestContext): Promise<void> {
    const count = await this.parts.remote.countChildren(id, context)
    const what = count === 1 ? 'one thing' : `${count} things`
    if (count > 0) throw new Failure('not-empty', `${path}: the service has ${what} in it`)
  }

  /** A project that was found empty at that time. */
  async emptyProject(
    { node, name, lookedAt }: { node: ProjectNode; name: string; lookedAt: Instant },
    context: RequestContext,
  ): Promise<void> {
    const { remote, catalog, aliases } = this.parts
    const again = async (a: RequestContext): Promise<void> => {
      this.refuseOther(node, await this.look(node, a))
      await this.refuseFull(node, name, a)
    }
    this.refuseOther(node, await this.look(node, context))
    const look = { at: lookedAt, again }
    // A project that is being made in it is not there yet.
    const send = (a: RequestContext) => remote.deleteProject(node.id, { ...a, look, names: node.id })
    await this.#deleteOnce(send, a => remote.project(node.id, a), context)
    catalog.forget({ kind: 'project', id: node.id })
    this.parts.deleted(node)
    aliases.gone(node.id)
    this.#forgetChild(node.parent, node, name)
  }

  /**
   * One that is gone already may be another thing elsewhere by now: nothing is sent.
   * @throws Failure 'conflict' or 'another-thing' where it is not what was removed
   */
  async thing(
    { node, name, before }: Pick<RemovedThing, 'node' | 'name' | 'before'>,
    context: RequestContext,
  ): Promise<void> {
    const at = this.parts.now()
    const again = async (a: RequestContext): Promise<void> => {
      this.#refuseChanged(node, before, await this.look(node, a))
    }
    const look = { at, again }
    try {
      await again(context)
      const send = (a: RequestContext) => this.#send(node, { ...a, look })
      await this.#deleteOnce(send, a => this.look(node, a), context)
    } catch (thrown) {
      if (!isAbsent(thrown)) throw thrown
    }
    this.#forget(node, name, before)
    this.parts.deleted(node)
  }

  /**
   * One DELETE; where its answer was lost, a look tells whether the thing is gone, whichever client has deleted it.
   * @throws Failure: why it is still there, or why that is not known
   */
  async #deleteOnce(
    send: (context: RequestContext) => Promise<void>,
    look: (context: RequestContext) => Promise<unknown>,
    context: RequestContext,
  ): Promise<void> {
    const late = sentOnce(context, this.parts.now())
    try {
      await send(late.context)
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (failure.kind === 'absent') return
      const isGone = isA('undecided', failure) && (await look(context).then(() => false, isAbsent))
      if (!isGone) throw failure
      late.seen()
    }
  }

  #sight(record: JsonObject): Sight {
    return { title: this.parts.dialect.facts(record).title ?? '', record }
  }

  #send(node: Deletable, context: RequestContext): Promise<void> {
    const { remote } = this.parts
    if (node.kind === 'calculation') return remote.deleteCalculation(node.id, context)
    if (node.of === 'share') return remote.deleteShare(node.id, context)
    if (node.of === 'report') return remote.deleteReport(node.id, context)
    throw new Failure('internal', `the record of a ${node.of} is not deleted by itself`)
  }

  #refuseChanged(node: Deletable, before: Sight, present: Sight): void {
    if (node.kind === 'calculation') {
      this.refuseOther(node, present)
      const from = this.projectOf(node, before.record)
      const to = present.record && this.parts.dialect.facts(present.record).parent
      if (from !== undefined && to !== undefined && from !== to)
        throw notDeleted(`was in project ${from}, and is in project ${to} now: another client has moved it`)
      const added = (present.files ?? []).filter(title => before.files?.includes(title) === false)
      if (added.length > 0) throw notDeleted(`has ${added.join(', ')} since it was removed here`)
    }
    const { plain } = this.parts.dialect
    const { record } = before
    if (record === undefined || present.record === undefined) return
    if (editsBetween(plain(record), plain(present.record)).size > 0)
      throw notDeleted('is not as it was: another client has changed it since it was removed here')
  }

  #forget(node: Deletable, name: string, before: Sight): void {
    const { catalog, reports, forgetNames } = this.parts
    if (node.kind === 'calculation') {
      const project = this.projectOf(node, before.record)
      catalog.forget({ kind: 'calculation', id: node.id })
      this.#forgetChild(project, node, name)
      return
    }
    forgetNames(node)
    if (node.of === 'share') catalog.forgetIn(node.project, { kind: 'share', id: node.id })
    if (node.of !== 'report') return
    reports.drop(node.id)
    catalog.forget({ kind: 'report', id: node.id })
  }

  #forgetChild(parent: ProjectId | undefined, child: ChildRef, name: string): void {
    if (parent === undefined) return
    this.parts.catalog.forgetIn(parent, child)
    this.parts.aliases.drop(parent, name)
  }
}

const notDeleted = (sentence: string): Failure =>
  new Failure('conflict', `it is not deleted, for it ${sentence}`)
