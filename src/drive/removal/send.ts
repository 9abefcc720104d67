// Sending of a deletion: the record is read and compared with what was removed, then one DELETE; what was kept of it is forgotten.
import { editsBetween } from '../../edit/save/diff.js'
import { sentOnce } from '../../edit/save/reconcile.js'
import { asFailure, Failure, isA, isAbsent } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import type { Instant, ProjectId, RequestContext } from '../../remote/remote.js'
import { type CalculationNode, type ProjectNode, readableOf, recordOfChild } from '../nodes/node.js'
import type { EditingParts } from '../records/editable-files.js'
import type { KeptDrafts } from '../records/kept-drafts.js'
import type { NewFiles } from '../records/new.js'
import { refuseOther } from '../tree/identity-mark.js'
import type { Deletable, DeleteTarget, RemovedThing, Sight } from './burst.js'

export interface DeleteSenderParts
  extends Pick<
    EditingParts,
    'catalog' | 'identities' | 'reports' | 'aliases' | 'remote' | 'dialect' | 'now' | 'editable'
  > {
  /** No `new*.json` stands for a record that is gone. */
  readonly newFiles: Pick<NewFiles, 'forget'>
  /** A text of it that waits can be saved no more. */
  readonly keptDrafts: Pick<KeptDrafts, 'deleted'>
}

export class DeleteSender {
  constructor(private readonly parts: DeleteSenderParts) {}

  known(node: Deletable): Sight {
    const { catalog } = this.parts
    if (node.kind === 'calculation')
      return { record: catalog.record(node).known(), files: catalog.files(node.id).known() }
    if (node.of === 'report') return { record: catalog.record(readableOf(node)).known() }
    const shares = catalog.shares(node.project).known() ?? []
    return { record: shares.find(({ id }) => id === node.id)?.record }
  }

  async look(node: DeleteTarget, context: RequestContext): Promise<Sight> {
    const { dialect, editable, remote } = this.parts
    const files = node.kind === 'calculation' ? await remote.allFileTitles(node.id, context) : undefined
    const record = await editable(node.kind === 'record' ? node : recordOfChild(node)).read(context)
    const isShare = node.kind === 'record' && node.of === 'share'
    const words = isShare
      ? [dialect.shares.sharedWith(record), dialect.shares.permission(record)]
      : [dialect.facts(record).title]
    return { title: words.filter(word => word !== undefined).join(' '), record, files }
  }

  /** The project of a calculation; undefined where neither a listing nor a record has shown it. */
  projectOf({ id, parent }: CalculationNode, record: JsonObject | undefined): ProjectId | undefined {
    const known = record ?? this.parts.catalog.record({ kind: 'calculation', id }).known()
    return parent ?? (known && (this.parts.dialect.facts(known).parent as ProjectId | undefined))
  }

  /** @throws Failure 'another-thing' where the record or the listing that led to it is old */
  refuseOther(node: CalculationNode | ProjectNode, { record }: Sight): void {
    if (record !== undefined) refuseOther(node, { record, notDone: 'it is not deleted' }, this.parts)
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
    const again = async (within: RequestContext): Promise<void> => {
      this.refuseOther(node, await this.look(node, within))
      await this.refuseFull(node, name, within)
    }
    this.refuseOther(node, await this.look(node, context))
    // A project that is being made in it is not there yet.
    await this.#deleteOnce(node, { look: { at: lookedAt, again }, names: node.id }, context)
    this.parts.keptDrafts.deleted(node)
    this.parts.aliases.gone(node.id)
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
    const again = async (within: RequestContext): Promise<void> => {
      this.#refuseChanged(node, before, await this.look(node, within))
    }
    try {
      await again(context)
      await this.#deleteOnce(node, { look: { at, again } }, context)
    } catch (thrown) {
      if (!isAbsent(thrown)) throw thrown
    }
    this.#forget(node, name, before)
    this.parts.keptDrafts.deleted(node)
  }

  /**
   * One DELETE; where its answer was lost, a look tells whether the thing is gone, whichever client has deleted it.
   * @throws Failure: why it is still there, or why that is not known
   */
  async #deleteOnce(
    node: DeleteTarget,
    sent: Pick<RequestContext, 'look' | 'names'>,
    context: RequestContext,
  ): Promise<void> {
    const late = sentOnce(context, this.parts.now())
    try {
      await this.#send(node, { ...late.context, ...sent })
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (failure.kind === 'absent') return
      const isGone = isA('undecided', failure) && (await this.look(node, context).then(() => false, isAbsent))
      if (!isGone) throw failure
      late.seen()
    }
  }

  /** Once it is deleted, the next thing with its id is another one. */
  async #send(node: DeleteTarget, context: RequestContext): Promise<void> {
    const { identities, remote } = this.parts
    if (node.kind === 'record' && node.of === 'share') return remote.deleteShare(node.id, context)
    if (node.kind === 'project') await remote.deleteProject(node.id, context)
    else if (node.kind === 'calculation') await remote.deleteCalculation(node.id, context)
    else await remote.deleteReport(node.id, context)
    identities.renew(node.kind === 'record' ? readableOf(node) : node)
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
    const { catalog, newFiles, reports } = this.parts
    if (node.kind === 'calculation') {
      this.#forgetChild(this.projectOf(node, before.record), node, name)
      return
    }
    newFiles.forget(node)
    if (node.of === 'share') catalog.forgetIn(node.project, { kind: 'share', id: node.id })
    if (node.of !== 'report') return
    reports.drop(node.id)
    catalog.forget({ kind: 'report', id: node.id })
  }

  #forgetChild(parent: ProjectId | undefined, child: CalculationNode | ProjectNode, name: string): void {
    const { aliases, catalog } = this.parts
    catalog.forget(child)
    if (parent === undefined) return
    catalog.forgetIn(parent, child)
    aliases.drop(parent, name)
  }
}

const notDeleted = (sentence: string): Failure =>
  new Failure('conflict', `it is not deleted, for it ${sentence}`)
