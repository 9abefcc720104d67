// Deletion: what rm and rmdir refuse, what they delete after the pause, and what cancels that.

import type { Identities } from '../../cache/identity.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import { Failure, unlessAbsent } from '../../failure.js'
import { lastNameOf, parentOf } from '../../layout.js'
import { recover } from '../../maybe-promise.js'
import { noop } from '../../noop.js'
import type {
  CalculationId,
  Dialect,
  Instant,
  Remote,
  ReportId,
  RequestContext,
} from '../../remote/remote.js'
import type { NameAliases } from '../names/name-aliases.js'
import {
  type CalculationNode,
  type ContentNode,
  type Dentry,
  type DirectoryNode,
  isDirectory,
  type Node,
  nodeKey,
  type ProjectNode,
  type RecordNode,
} from '../nodes/node.js'
import { readOnlyBecause, refuseOldName } from '../nodes/refusals.js'
import { pauseMs } from '../records/open-record.js'
import type { AccessRights } from '../tree/access.js'
import { openMarks } from '../tree/identity-mark.js'
import type { Tree } from '../tree/tree.js'
import { type IntentionParts, itself, openIntentions } from './intentions.js'
import { seriesPauseMs } from './removal-series.js'
import type { DeleteSender } from './send-delete.js'

export interface DeleteParts extends IntentionParts {
  readonly catalog: Catalog
  readonly tree: Tree
  readonly rights: AccessRights
  readonly deleteSender: DeleteSender
  readonly aliases: NameAliases
  readonly identities: Identities
  readonly dialect: Dialect
  readonly remote: Pick<Remote, 'allFileTitles'>
  /** When a program of this mount last wrote the record, or had it open to write, as far as that is remembered. */
  readonly changedAt: (node: RecordNode) => Instant | undefined
  /** Whether an unsaved text of it waits. */
  readonly hasDraft: (node: RecordNode) => boolean
  /** How long a delete may take that no call waits for. */
  readonly patience: () => RequestContext
  readonly now: () => Instant
}

const ownCleanup =
  'it was written here less than two seconds before it was removed, as a program does that is not content with its own copy: it is not deleted; remove it again if it is to go'

const unsavedText =
  'a text of it waits that was not saved, and a program that removes its own copy would take away what was there before: it is not deleted; give that text up (calcfs drafts drop), then remove it again'

export interface DeleteRules {
  /** A file of a calculation is unlinked: that counts for the rmdir that follows. @throws Failure where it cannot */
  unlinkContent(path: string, node: ContentNode, folder: CalculationNode): void
  /** Before a record's file is taken away. @throws Failure where deleting it would be refused */
  admitUnlink(path: string, node: RecordNode, context: RequestContext): Promise<void>
  /** The record's file was taken away: it is deleted after the pause, or with its calculation. */
  recordUnlinked(path: string, node: RecordNode): void
  rmdir(path: string, node: DirectoryNode, context: RequestContext): Promise<void>
  /** One of a directory's own files was to be removed: that is where `rm -r` of it begins. */
  ownFileTried(directory: string, node: DirectoryNode): void
  /** One of them could not be looked at: `rm -r` passes it by, and goes on with what it can see. */
  ownFileUnseen(directory: string, node: DirectoryNode): void
  /** The file was created again: an editor was at work. */
  createdAgain(node: Node): void
  /** Calls off what waits in a directory, or what was unlinked there. False if nothing did. */
  takeBack(path: string, node: Node): boolean
  /** The same for a calculation that waits at this path, where nothing is seen of it. */
  takeBackAt(path: string, context: RequestContext): Promise<boolean>
  /** Once the calculation that waits at this path is deleted; at once where none does. */
  removalEnds(path: string, context: RequestContext): Promise<void>
  /** A call at this path waits for the service until the answer is called. */
  waits(path: string): () => void
  /** What is hidden, because it waits to be deleted. */
  hides(node: Node): boolean
  /** The entries of a folder as readdir gives them. */
  listed(directory: DirectoryNode, entries: readonly Dentry[]): readonly Dentry[]
}

export function openDeleteRules(parts: DeleteParts): DeleteRules {
  const { catalog, tree, rights, lineage, series, guard, whiteouts, pending, deleteSender } = parts
  const { scopesOf } = lineage
  // What the listing says of a directory is looked at before it is removed.
  const marks = openMarks(parts)
  const { judge, refuseBurst, refuseWhole, takeBackIn } = openIntentions(parts)

  function refuseGuarded(path: string, node: Node): void {
    guard.refuse(path, [...scopesOf(node), 'all'])
  }

  function tryCalculation(path: string, node: CalculationNode): void {
    series.active(path)
    refuseGuarded(path, node)
    judge(scopesOf(node)[0], nodeKey(node), parentOf(path))
    refuseGuarded(path, node)
  }

  async function rmdirCalculation(
    path: string,
    node: CalculationNode,
    context: RequestContext,
  ): Promise<void> {
    refuseOldName(path, node)
    await marks.of(node, context)
    refuse(rights.refusal({ do: 'delete-calculation', node }), path)
    tryCalculation(path, node)
    // Asked for here and now: an old answer would not show what another client has added meanwhile.
    const files = await parts.remote.allFileTitles(node.id, context)
    catalog.files(node.id).learn(files)
    const left = (await tree.list(node, context)).filter(
      entry => !whiteouts.has(node.id, nodeKey(entry.node)),
    )
    if (left.length > 0)
      throw new Failure('not-empty', `${path}: ${left.map(({ name }) => name).join(', ')} is still there`)
    refuseGuarded(path, node)
    deleteSender.refuseKnownRenamed(node)
    const project = lineage.projectOf(node)
    if (pending.has(nodeKey(node))) return
    refuseBurst(path, nodeKey(node))
    series.active(path)
    const record = deleteSender.known(node)
    const removed = { node, name: lastNameOf(path), project, record, files }
    pending.begin({
      node,
      path,
      scopes: scopesOf(node),
      pause: seriesPauseMs,
      carryOut: () => deleteSender.calculation(removed, parts.patience()),
    })
  }

  async function rmdirProject(path: string, node: ProjectNode, context: RequestContext): Promise<void> {
    refuseOldName(path, node)
    await marks.of(node, context)
    const made = parts.aliases.hasMade(node.id)
    const [own = 'all', ...above] = scopesOf(node)
    series.active(path)
    takeBackIn(own, `${path}: ${itself}`)
    refuse(rights.refusal({ do: 'delete-project', id: node.id, made }), path)
    guard.refuse(path, [...above, 'all'])
    judge(above[0], own, parentOf(path))
    guard.refuse(path, above)
    const lookedAt = parts.now()
    await deleteSender.refuseFull(node, path, context).catch(thrown => {
      series.tried(own, own)
      throw thrown
    })
    guard.refuse(path, [own])
    // A project that this mount has made can be made again.
    if (!made) refuseBurst(path, nodeKey(node))
    await deleteSender.emptyProject({ node, name: lastNameOf(path), lookedAt }, context)
  }

  /** An `rm -r` of all that is in it: what was removed just before is not meant by itself. */
  async function rmdirOther(path: string, node: DirectoryNode, context: RequestContext): Promise<void> {
    series.active(path)
    const actual = node.kind === 'top' ? await tree.directory(path, context) : node
    if (actual.kind === 'shares') wholeTried(parentOf(path), actual)
    else if (actual.kind === 'project' || actual.kind === 'reports') wholeTried(path, actual)
    else if (isAbove(actual)) takeBackIn('all', `${path} was to be removed`)
    throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
  }

  function wholeTried(directory: string, node: DirectoryNode): void {
    const [own, above] = scopesOf(node)
    if (own === undefined) return
    series.active(`${directory}/`)
    refuseWhole(own, directory, own === 'reports' ? 'all reports were to be removed' : itself)
    judge(above, own, parentOf(directory))
  }

  function takeBack(path: string, node: Node): boolean {
    const why = `${path} was touched`
    if (node.kind === 'content') return whiteouts.remove(node.content.calculation, nodeKey(node))
    if (!isDirectory(node)) return false
    if (node.kind === 'calculation') {
      const wasMarked = whiteouts.clear(node.id)
      return pending.takeBack(one => nodeKey(one.node) === nodeKey(node), why).length > 0 || wasMarked
    }
    if (node.kind === 'shares')
      return pending.takeBack(({ node: one }) => isShareOf(one, node.project), why).length > 0
    const [own = isAbove(node) ? 'all' : undefined] = scopesOf(node)
    if (own === undefined) return false
    whiteouts.clearIn(own)
    return takeBackIn(own, why).length > 0
  }

  /** Where an unsent text is shown in its place, nothing has looked at it yet. */
  async function lookAt(node: RecordNode, context: RequestContext): Promise<void> {
    const looked =
      node.of === 'share'
        ? catalog.shares(node.project).ask(context)
        : catalog.record({ kind: 'report', id: node.id as ReportId }).ask(context)
    // What cannot be seen now is looked at before it is deleted.
    await recover<unknown, unknown>(looked, noop)
  }

  /**
   * Why it stays: a program that has saved the file, or tried to, and takes it away finds fault with its own copy: rclone with
   * the size, make with the command that wrote it. It would take away what was there before it came, too. A right that is taken back right after it was given goes.
   */
  function ownCopy(node: RecordNode): string | undefined {
    if (node.of !== 'report') return undefined
    if (parts.hasDraft(node)) return unsavedText
    const isJustSaved = parts.now() - (parts.changedAt(node) ?? Number.NEGATIVE_INFINITY) < pauseMs
    return isJustSaved ? ownCleanup : undefined
  }

  function hides(node: Node): boolean {
    if (pending.count === 0) return false
    if (node.kind === 'content') return pending.has(calculationKey(node.content.calculation))
    if (node.kind === 'record' && node.of === 'calculation') return pending.has(calculationKey(node.id))
    return pending.has(nodeKey(node))
  }

  /** What waits at this path to be deleted. */
  async function hiddenAt(path: string, context: RequestContext): Promise<Node | undefined> {
    if (pending.count === 0) return undefined
    const node = await (async () => tree.walk(path, context))().catch(unlessAbsent)
    return node !== undefined && hides(node) ? node : undefined
  }

  return {
    unlinkContent(path, node, folder) {
      const { calculation } = node.content
      const refusal = rights.refusal({ do: 'delete-calculation', node: folder })
      if (refusal?.kind === 'read-only') refuse(refusal, path)
      if (refusal !== undefined) throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
      refuseGuarded(path, folder)
      if (!whiteouts.wasListed(calculation))
        throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}; ${onlyWhole}`)
      tryCalculation(parentOf(path), folder)
      whiteouts.add({ calculation, key: nodeKey(node), path, scopes: scopesOf(folder) })
    },
    async admitUnlink(path, node, context) {
      if (rights.access !== 'manage') return
      refuseGuarded(path, node)
      if (node.of === 'share') {
        series.active(path)
        judge(scopesOf(node)[0], nodeKey(node), parentOf(parentOf(path)))
        refuseGuarded(path, node)
      }
      if (!isDeletable(node) || rights.refusal({ do: 'delete-record', node }) !== undefined) return
      await lookAt(node, context)
      refuseGuarded(path, node)
      refuseBurst(path, nodeKey(node))
    },
    recordUnlinked(path, node) {
      if (node.of === 'calculation')
        whiteouts.add({ calculation: node.id, key: nodeKey(node), path, scopes: scopesOf(node) })
      if (!isDeletable(node) || rights.refusal({ do: 'delete-record', node }) !== undefined) return
      const unlinked = deleteSender.known(node)
      series.active(path)
      const kept = ownCopy(node)
      pending.begin({
        node,
        path,
        scopes: scopesOf(node),
        pause: pauseMs,
        async carryOut() {
          if (kept !== undefined) throw new Failure('not-permitted', `${path}: ${kept}`)
          await deleteSender.record(node, unlinked, parts.patience())
        },
      })
    },
    async rmdir(path, node, context) {
      if (node.kind === 'project') return rmdirProject(path, node, context)
      if (node.kind === 'calculation') return rmdirCalculation(path, node, context)
      return rmdirOther(path, node, context)
    },
    ownFileTried: wholeTried,
    ownFileUnseen(directory, node) {
      const [own] = scopesOf(node)
      if (own !== undefined) refuseWhole(own, directory, 'a file of its own could not be looked at')
    },
    createdAgain(node) {
      const [own, above] = scopesOf(node)
      if (node.kind !== 'record' || own === undefined) return
      if (node.of === 'share') series.notTried(own, nodeKey(node))
      if (node.of !== 'project') return
      guard.end(own)
      if (above !== undefined) series.notTried(above, own)
    },
    takeBack,
    async takeBackAt(path, context) {
      const node = await hiddenAt(path, context)
      return node?.kind === 'calculation' && takeBack(path, node)
    },
    async removalEnds(path, context) {
      const node = await hiddenAt(path, context)
      if (node !== undefined) await pending.settled(nodeKey(node))
    },
    waits(path) {
      const began = parts.now()
      const ended = series.waits(path)
      return () => {
        ended()
        guard.waited(path, parts.now() - began)
      }
    },
    hides,
    listed(directory, entries) {
      if (directory.kind !== 'calculation' || rights.access !== 'manage') return entries
      whiteouts.listed(directory.id)
      const isLeft = ({ node }: Dentry): boolean => !whiteouts.has(directory.id, nodeKey(node))
      const left = entries.filter(isLeft)
      if (left.length === entries.length) return entries
      if (!whiteouts.isUnderWay(directory.id)) {
        whiteouts.shownAgain(directory.id)
        return entries
      }
      // A program that lists again what is left, and deletes it, must come to an end.
      return left.length === 0 ? left : [...left, ...entries.filter(entry => !isLeft(entry))]
    },
  }
}

const onlyWhole = 'the service deletes a calculation as a whole only: rm -r CALCULATION'

const calculationKey = (id: CalculationId): string => nodeKey({ kind: 'calculation', id, title: '' })

const isDeletable = ({ of }: RecordNode): boolean => of === 'report' || of === 'share'

const isShareOf = (node: Node, project: string): boolean =>
  node.kind === 'record' && node.of === 'share' && node.project === project

/** The directories above all projects and reports. */
function isAbove({ kind }: Node): boolean {
  return ['root', 'top', 'users', 'user', 'numbers', 'number-room'].includes(kind)
}

function refuse(refusal: Failure | undefined, path: string): void {
  if (refusal !== undefined) throw new Failure(refusal.kind, `${path}: ${refusal.message}`)
}
