// rm and rmdir: what is deleted on the service, when, and what must be seen before.
import type { Catalog } from '../cache/catalog.js'
import { deleteOnce } from '../edit/deleting.js'
import { editsBetween } from '../edit/diff.js'
import { Failure } from '../failure.js'
import type { JsonObject } from '../record/json.js'
import type { Ask, Dialect, Instant, ProjectId, Remote } from '../remote/remote.js'
import type { Rights } from './access.js'
import type { KnownReports } from './known-reports.js'
import { type CalculationNode, keyOf, type Node, type ProjectNode, type RecordNode } from './node.js'
import type { PendingDeletes } from './pending-deletes.js'
import { nameOf } from './places.js'
import { readOnlyBecause } from './refusals.js'
import type { Tree } from './tree.js'
import { openTreeGuard } from './tree-guard.js'
import type { Whiteouts } from './whiteouts.js'
import type { WrittenNames } from './written-names.js'

export interface RemovingParts {
  readonly catalog: Catalog
  readonly tree: Tree
  readonly rights: Rights
  readonly reports: KnownReports
  readonly whiteouts: Whiteouts
  readonly pending: PendingDeletes
  readonly written: WrittenNames
  readonly remote: Remote
  readonly dialect: Dialect
  /** No `new*.json` stands for a record that is gone. */
  readonly forgetNames: (node: RecordNode) => void
  /** How long a delete may take that nobody waits for. */
  readonly patience: () => Ask
  /** Told why something stays, for the path at which somebody will ask. */
  readonly failed: (path: string, failure: Failure) => void
  readonly now: () => Instant
}

export interface Removing {
  /** A file of a calculation is hidden until its directory goes too. @throws Failure where this mount deletes nothing */
  whiteOut(path: string, node: Node): void
  /** The record's file was unlinked: it is deleted after the pause, if this mount may. */
  deleteLater(path: string, node: RecordNode): void
  rmdir(path: string, node: Node, ask: Ask): Promise<void>
  /** `rm -r` of a directory begins at its own files: nothing else below it is deleted for a while. */
  guardTree(directory: string): void
  /** The file was made anew: an editor was at work. */
  unguardTree(directory: string): void
  /** @throws Failure 'not-permitted' below a directory that somebody seems to be deleting */
  refuseBelowGuard(path: string): void
  /** A call waited so many milliseconds for the service. */
  waited(path: string, milliseconds: number): void
}

export function openRemoving(parts: RemovingParts): Removing {
  const { catalog, tree, rights, whiteouts, pending, written, remote, now } = parts
  const guard = openTreeGuard(parts.failed, now)

  function guardTree(directory: string): void {
    if (rights.access !== 'manage') return
    guard.begin(directory)
    pending.cancelBelow(directory)
  }

  async function deleteProject(node: ProjectNode, path: string, ask: Ask): Promise<void> {
    const made = written.hasMade(node.id)
    refuse(rights.refusal({ do: 'delete-project', id: node.id, made }), path)
    const count = await remote.countChildren(node.id, ask)
    if (count > 0) throw new Failure('not-empty', `${path}: the service has ${count} things in it`)
    await deleteOnce(
      { delete: a => remote.deleteProject(node.id, a), look: a => remote.project(node.id, a) },
      ask,
      now(),
    )
    catalog.forget({ kind: 'project', id: node.id })
    written.gone(node.id)
    forgetChild(node.parent, path)
  }

  async function deleteCalculation(node: CalculationNode, path: string, ask: Ask): Promise<void> {
    refuse(rights.refusal({ do: 'delete-calculation', node }), path)
    // Asked for here and now: an old answer would not show what somebody has added meanwhile.
    catalog.learnFiles(node.id, await remote.allFileTitles(node.id, ask))
    const left = (await tree.list(node, ask)).filter(entry => !whiteouts.has(keyOf(entry.node)))
    if (left.length > 0)
      throw new Failure('not-empty', `${path}: ${left.map(({ name }) => name).join(', ')} is still there`)
    await deleteOnce(
      { delete: a => remote.deleteCalculation(node.id, a), look: a => remote.calculation(node.id, a) },
      ask,
      now(),
    )
    catalog.forget({ kind: 'calculation', id: node.id })
    forgetChild(node.parent, path)
  }

  function forgetChild(parent: ProjectId | undefined, path: string): void {
    if (parent === undefined) return
    catalog.refreshProject(parent)
    written.drop(parent, nameOf(path))
  }

  function knownRecord(node: RecordNode): JsonObject | undefined {
    if (node.of === 'report') return catalog.knownRecord({ kind: 'report', id: node.id })
    return node.of === 'share'
      ? catalog.knownShares(node.project)?.find(({ id }) => id === node.id)?.record
      : undefined
  }

  /** What somebody else has changed since it was unlinked is not what was to be deleted. */
  function refuseChanged(unlinked: JsonObject | undefined, now: JsonObject): void {
    const { plain } = parts.dialect
    if (unlinked === undefined || editsBetween(plain(unlinked), plain(now)).size === 0) return
    throw new Failure('conflict', 'somebody has changed it since it was removed here: it is not deleted')
  }

  async function deleteRecord(node: RecordNode, unlinked: JsonObject | undefined): Promise<void> {
    if (node.of === 'report') {
      refuseChanged(unlinked, await remote.report(node.id, parts.patience()))
      await deleteOnce(
        { delete: a => remote.deleteReport(node.id, a), look: a => remote.report(node.id, a) },
        parts.patience(),
        now(),
      )
      parts.reports.drop(node.id)
      parts.forgetNames(node)
      return catalog.forget({ kind: 'report', id: node.id })
    }
    if (node.of !== 'share') return
    const look = async (ask: Ask) => {
      const share = (await remote.shares(node.project, ask)).find(({ id }) => id === node.id)
      if (share === undefined) throw new Failure('absent', `share ${node.id} is gone`)
      return share.record
    }
    refuseChanged(unlinked, await look(parts.patience()))
    await deleteOnce({ delete: a => remote.deleteShare(node.id, a), look }, parts.patience(), now())
    parts.forgetNames(node)
    catalog.refreshShares(node.project)
  }

  return {
    whiteOut(path, node) {
      if (rights.access !== 'manage') throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
      guard.refuse(path)
      whiteouts.add(keyOf(node))
    },
    deleteLater(path, node) {
      if (rights.refusal({ do: 'delete-record', node }) !== undefined) return
      const unlinked = knownRecord(node)
      pending.begin(node, path, () => deleteRecord(node, unlinked))
    },
    async rmdir(path, node, ask) {
      guard.refuse(path)
      if (node.kind === 'project') return deleteProject(node, path, ask)
      if (node.kind === 'calculation') return deleteCalculation(node, path, ask)
      // An rm -r of all that is in it: what was removed just before is not meant by itself.
      pending.cancelBelow(path)
      throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
    },
    guardTree,
    unguardTree: guard.end,
    refuseBelowGuard: guard.refuse,
    waited: guard.waited,
  }
}

function refuse(refusal: Failure | undefined, path: string): void {
  if (refusal !== undefined) throw new Failure(refusal.kind, `${path}: ${refusal.message}`)
}
