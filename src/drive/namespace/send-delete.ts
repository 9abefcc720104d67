// Sending of a deletion, by kind: checked once more, sent once, forgotten here.
import type { Catalog, ChildRef } from '../../cache/metadata/catalog.js'
import { type DeleteOperation, deleteOnce } from '../../edit/save/delete.js'
import { editsBetween } from '../../edit/save/diff.js'
import { Failure, unlessAbsent } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import type {
  Dialect,
  FileTitle,
  Instant,
  ProjectId,
  Remote,
  RequestContext,
  Share,
} from '../../remote/remote.js'
import { isSameName } from '../../spelling.js'
import type { KnownReports } from '../names/known-reports.js'
import type { NameAliases } from '../names/name-aliases.js'
import type { CalculationNode, ProjectNode, RecordNode } from '../nodes/node.js'

export interface DeleteSenderParts {
  readonly catalog: Catalog
  readonly reports: KnownReports
  readonly aliases: NameAliases
  readonly remote: Remote
  readonly dialect: Dialect
  /** No `new*.json` stands for a record that is gone. */
  readonly forgetNames: (node: RecordNode) => void
  readonly now: () => Instant
}

/** A calculation as it was when its removal was asked for. */
export interface RemovedCalculation {
  readonly node: CalculationNode
  /** The last part of the path by which it was reached. */
  readonly name: string
  readonly project: ProjectId | undefined
  readonly record: JsonObject | undefined
  readonly files: readonly FileTitle[]
}

/** A project that was found empty. */
export interface RemovedProject {
  readonly node: ProjectNode
  /** The last part of the path by which it was reached. */
  readonly name: string
  /** When it was begun to look whether it is empty. */
  readonly lookedAt: Instant
}

type ShareRecord = Extract<RecordNode, { of: 'share' }>

export type DeleteTarget = CalculationNode | ProjectNode | RecordNode

export interface ObservedTarget {
  readonly title: string
  readonly record?: JsonObject
  readonly files?: readonly FileTitle[]
}

export interface DeleteSender {
  /** @throws Failure 'not-empty' where the service has anything in it */
  refuseFull(node: ProjectNode, path: string, context: RequestContext): Promise<void>
  emptyProject(removed: RemovedProject, context: RequestContext): Promise<void>
  /** @throws Failure 'conflict' where it was changed since */
  calculation(removed: RemovedCalculation, context: RequestContext): Promise<void>
  /** @throws Failure 'conflict' where it was changed since */
  record(node: RecordNode, unlinked: JsonObject | undefined, context: RequestContext): Promise<void>
  /** What the service says of it now: its title, and the files of a calculation. */
  look(node: DeleteTarget, context: RequestContext): Promise<ObservedTarget>
  /** @throws Failure 'another-thing' where the listing that showed it is old: the next look asks for a new one */
  refuseRenamed(node: CalculationNode | ProjectNode, title: string | undefined): void
  /** @throws Failure 'another-thing' where it is known to have another name than the one that was shown */
  refuseKnownRenamed(node: CalculationNode): void
  /** The record as it is known here, without a request. */
  known(node: RecordNode | CalculationNode): JsonObject | undefined
}

/** How many of the children of each kind that were listed before are asked for by their numbers. */
const childrenAsked = 2
const elsewhere = { parent: '', title: undefined }

export function openDeleteSender(parts: DeleteSenderParts): DeleteSender {
  const { catalog, remote, aliases, now } = parts

  function forgetChild(parent: ProjectId | undefined, child: ChildRef, name: string): void {
    if (parent === undefined) return
    catalog.forgetIn(parent, child)
    aliases.drop(parent, name)
  }

  /** Empty lists may come from a cache in front of the service: what was listed here before must be gone, or elsewhere. */
  async function refuseListedBefore(node: ProjectNode, path: string, context: RequestContext): Promise<void> {
    const { calculations = [], projects = [] } = catalog.children(node.id).known() ?? {}
    const records = [
      ...calculations.slice(0, childrenAsked).map(({ id }) => remote.calculation(id, context)),
      ...projects.slice(0, childrenAsked).map(({ id }) => remote.project(id, context)),
    ]
    for (const record of await Promise.all(records.map(asked => asked.catch(unlessAbsent)))) {
      const { parent = node.id, title = 'something' } =
        record === undefined ? elsewhere : parts.dialect.facts(record)
      if (parent !== node.id) continue
      throw new Failure('not-empty', `${path}: the service lists nothing in it, and yet has ${title} there`)
    }
  }

  /**
   * False where it is gone already: the number may be that of another thing elsewhere, and nothing is sent.
   * @throws Failure 'conflict' where it was changed since: then it is not what was to be deleted
   */
  async function isStillThere(
    removed: JsonObject | undefined,
    looked: Promise<JsonObject>,
    project?: ProjectId,
  ): Promise<boolean> {
    const { facts, plain } = parts.dialect
    const present = await looked.catch(unlessAbsent)
    if (present === undefined) return false
    refuseMoved(project, facts(present).parent)
    if (removed === undefined || editsBetween(plain(removed), plain(present)).size === 0) return true
    throw new Failure(
      'conflict',
      'another client has changed it since it was removed here: it is not deleted',
    )
  }

  /** Looked at before it is sent, and once more where that was long ago when it goes out. */
  async function deleteChecked(
    isThere: (context: RequestContext) => Promise<boolean>,
    deletion: DeleteOperation,
    context: RequestContext,
  ): Promise<void> {
    const again = async (within: RequestContext): Promise<void> => {
      if (!(await isThere(within))) throw new Failure('absent', 'it is gone')
    }
    const look = { at: now(), again }
    if (!(await isThere(context))) return
    await deleteOnce({ ...deletion, delete: a => deletion.delete({ ...a, look }) }, context, now())
  }

  async function refuseFull(node: ProjectNode, path: string, context: RequestContext): Promise<void> {
    const count = await remote.countChildren(node.id, context)
    if (count > 0)
      throw new Failure(
        'not-empty',
        `${path}: the service has ${count === 1 ? 'one thing' : `${count} things`} in it`,
      )
    await refuseListedBefore(node, path, context)
  }

  const toldTitle = (record: JsonObject): string | undefined => parts.dialect.facts(record).title

  function refuseRenamed(node: CalculationNode | ProjectNode, title: string | undefined): void {
    if (isSameName(node.title, title)) return
    if (node.parent !== undefined) catalog.refreshProject(node.parent)
    const name = JSON.stringify(title)
    throw new Failure('another-thing', `${node.kind} ${node.id} is called ${name} now: it is not deleted`)
  }

  function known(node: RecordNode | CalculationNode): JsonObject | undefined {
    if (node.kind === 'calculation') return catalog.record({ kind: 'calculation', id: node.id }).known()
    if (node.of === 'report') return catalog.record({ kind: 'report', id: node.id }).known()
    return node.of === 'share'
      ? catalog
          .shares(node.project)
          .known()
          ?.find(({ id }) => id === node.id)?.record
      : undefined
  }

  const titleOf = (record: JsonObject): string => toldTitle(record) ?? ''

  async function shareNow(node: ShareRecord, context: RequestContext): Promise<Share> {
    const share = (await remote.shares(node.project, context)).find(({ id }) => id === node.id)
    if (share === undefined) throw new Failure('absent', `share ${node.id} is gone`)
    return share
  }

  return {
    known,
    refuseRenamed,
    refuseKnownRenamed(node) {
      const record = known(node)
      if (record !== undefined) refuseRenamed(node, toldTitle(record))
    },

    async look(node, context) {
      if (node.kind === 'project') return { title: titleOf(await remote.project(node.id, context)) }
      if (node.kind === 'calculation') {
        const files = await remote.allFileTitles(node.id, context)
        const record = await remote.calculation(node.id, context)
        refuseMoved(node.parent, parts.dialect.facts(record).parent)
        return { title: titleOf(record), record, files }
      }
      if (node.of === 'report') {
        const record = await remote.report(node.id, context)
        return { title: titleOf(record), record }
      }
      if (node.of !== 'share') return { title: '' }
      const { user, permission, record } = await shareNow(node, context)
      return { title: [user, permission].filter(word => word !== undefined).join(' '), record }
    },

    refuseFull,

    async emptyProject({ node, name, lookedAt }, context) {
      const again = async (within: RequestContext): Promise<void> => {
        refuseRenamed(node, toldTitle(await remote.project(node.id, within)))
        await refuseFull(node, name, within)
      }
      const look = { at: lookedAt, again }
      if (node.title !== undefined) refuseRenamed(node, toldTitle(await remote.project(node.id, context)))
      await deleteOnce(
        {
          // A project that is being made in it is not there yet.
          delete: a => remote.deleteProject(node.id, { ...a, look, names: node.id }),
          look: a => remote.project(node.id, a),
        },
        context,
        now(),
      )
      catalog.forget({ kind: 'project', id: node.id })
      aliases.gone(node.id)
      forgetChild(node.parent, node, name)
    },

    async calculation({ node, name, project, record, files }, context) {
      const look = async (a: RequestContext): Promise<JsonObject> => {
        refuseAdded(files, await remote.allFileTitles(node.id, a))
        const present = await remote.calculation(node.id, a)
        refuseRenamed(node, toldTitle(present))
        return present
      }
      await deleteChecked(
        a => isStillThere(record, look(a), project),
        { delete: a => remote.deleteCalculation(node.id, a), look: a => remote.calculation(node.id, a) },
        context,
      )
      catalog.forget({ kind: 'calculation', id: node.id })
      forgetChild(project, node, name)
    },

    async record(node, unlinked, context) {
      if (node.of === 'report') {
        await deleteChecked(
          a => isStillThere(unlinked, remote.report(node.id, a)),
          { delete: a => remote.deleteReport(node.id, a), look: a => remote.report(node.id, a) },
          context,
        )
        parts.reports.drop(node.id)
        parts.forgetNames(node)
        return catalog.forget({ kind: 'report', id: node.id })
      }
      if (node.of !== 'share') return
      const look = async (a: RequestContext) => (await shareNow(node, a)).record
      await deleteChecked(
        a => isStillThere(unlinked, look(a)),
        { delete: a => remote.deleteShare(node.id, a), look },
        context,
      )
      parts.forgetNames(node)
      catalog.forgetIn(node.project, { kind: 'share', id: node.id })
    },
  }
}

/** Where two sources say in which project it is, and do not agree, another client has moved it. */
function refuseMoved(from: string | undefined, to: string | undefined): void {
  if (from === undefined || to === undefined || from === to) return
  throw new Failure(
    'conflict',
    `it was listed in project ${from}, and is in project ${to} now: another client has moved it, and it is not deleted`,
  )
}

function refuseAdded(before: readonly FileTitle[], present: readonly FileTitle[]): void {
  const added = present.filter(title => !before.includes(title))
  if (added.length === 0) return
  throw new Failure('conflict', `${added.join(', ')} was added since it was removed here: it is not deleted`)
}
