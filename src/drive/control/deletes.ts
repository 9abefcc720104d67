// Control of `calcfs delete`: lists what some paths stand for, and deletes one thing as it was shown.
import { Failure } from '../../failure.js'
import { lastNameOf } from '../../layout.js'
import { recover } from '../../maybe-promise.js'
import type { CalculationId, ProjectId, ReportId, RequestContext, ShareId } from '../../remote/remote.js'
import type { ControlParts } from '../context.js'
import type { CallArgument, DeletableItem } from '../interface/control.js'
import type { Node } from '../nodes/node.js'
import type { DeleteTarget, Sight } from '../removal/burst.js'
import { placeOf } from './path-node.js'

export function openDeleteControl(parts: ControlParts) {
  const { catalog, reports, tree, until, writeSide } = parts
  const { burst, deleteSender, rights, aliases } = writeSide
  const { dialect } = writeSide.ports

  async function deletion({ paths }: CallArgument<'deletion'>): Promise<readonly DeletableItem[]> {
    const found = new Map<string, DeletableItem>()
    for (const path of paths) {
      const thing = await itemAt(path, until.save())
      found.set(`${thing.kind} ${thing.id}`, thing)
    }
    return [...found.values()]
  }

  async function itemAt(path: string, context: RequestContext): Promise<DeletableItem> {
    const found = await tree.walk(await placeOf(tree, path, context), context)
    const node = targetOf(path, writeSide.meant(found))
    refuseRights(path, node)
    // The listing's present facts are compared with a look at it.
    if (node.kind !== 'record') await tree.markOf(node, context)
    const { thing, seen } = await described(path, node, context)
    if (node.kind === 'calculation') deleteSender.refuseOther(node, seen)
    return thing
  }

  function refuseRights(path: string, node: DeleteTarget): void {
    const refusal = rights.refusalToDelete(node, node.kind === 'project' && aliases.hasMade(node.id))
    if (refusal !== undefined) throw new Failure(refusal.kind, `${path}: ${refusal.message}`)
  }

  async function described(
    path: string,
    node: DeleteTarget,
    context: RequestContext,
  ): Promise<{ readonly thing: DeletableItem; readonly seen: Sight }> {
    if (node.kind === 'project') await deleteSender.refuseFull(node, path, context)
    const seen = await deleteSender.look(node, context)
    const same = { path, id: node.id, title: seen.title ?? '' }
    if (node.kind === 'calculation') {
      const reports = await holders(node.id, context)
      return { thing: { ...same, kind: 'calculation', files: seen.files?.length ?? 0, reports }, seen }
    }
    const project = 'project' in node ? node.project : undefined
    const kind = node.kind === 'project' ? 'project' : project === undefined ? 'report' : 'share'
    return { thing: { ...same, kind, project, reports: [] }, seen }
  }

  /** Of the reports that are known here; one that cannot be read now says nothing. */
  async function holders(id: CalculationId, context: RequestContext): Promise<readonly string[]> {
    const held = await Promise.all(
      reports.list().map(async report => {
        const known = { kind: 'report', id: report.id } as const
        const record = await recover(catalog.record(known).ask(context), () => catalog.record(known).known())
        const rows = record === undefined ? [] : (dialect.lists.rows(record) ?? [])
        return rows.some(row => row.calculation === id) ? [report.id] : []
      }),
    )
    return held.flat()
  }

  async function deleteAsShown({ thing: shown }: CallArgument<'delete'>) {
    const node = nodeOf(shown)
    refuseRights(shown.path, node)
    if (node.kind !== 'project') await burst.release(node)
    const lookedAt = parts.clock.now()
    const { thing, seen } = await described(shown.path, node, until.save())
    if (thing.title !== shown.title || thing.files !== shown.files)
      throw new Failure('conflict', `${shown.path}: it is another than was shown; look again`)
    // Looking takes several requests: the time for deleting, and for looking what became of it, begins after that.
    const context = until.save()
    const name = lastNameOf(shown.path)
    if (node.kind === 'project') {
      const listed = { ...node, parent: catalog.parentOf(node.id) }
      await deleteSender.emptyProject({ node: listed, name, lookedAt }, context)
    } else await deleteSender.thing({ node, name, before: seen }, context)
    parts.failureLog.gone(shown.path)
    return {}
  }

  return { deletion, delete: deleteAsShown }
}

/** @throws Failure 'refused' where nothing is that can be deleted by itself */
function targetOf(path: string, node: Node): DeleteTarget {
  if (node.kind === 'calculation' || node.kind === 'project') return node
  if (node.kind === 'record' && (node.of === 'report' || node.of === 'share')) return node
  if (node.kind === 'link') throw new Failure('refused', `${path} is a link; name the thing itself`)
  throw new Failure(
    'refused',
    `${path} cannot be deleted by itself: name a calculation, an empty project, a report (reports/42.json) or a share (.shares/17.json)`,
  )
}

function nodeOf({ kind, id, title, project }: DeletableItem): DeleteTarget {
  if (kind === 'calculation') return { kind, id: id as CalculationId, title }
  if (kind === 'project') return { kind, id: id as ProjectId }
  if (kind === 'report') return { kind: 'record', of: kind, id: id as ReportId }
  return { kind: 'record', of: kind, id: id as ShareId, project: (project ?? '') as ProjectId }
}
