// Removals: what rm and rmdir may remove, what each means for the burst, and what is said of those that wait.
import { asFailure, Failure, isA, unlessAbsent } from '../failure.js'
import { lastNameOf } from '../layout.js'
import { attempt, recover } from '../maybe-promise.js'
import type { Instant, RequestContext } from '../remote/remote.js'
import type { DriveParts } from './context.js'
import {
  type CalculationNode,
  type ContentNode,
  type DirectoryNode,
  type Node,
  nodeKey,
  type ProjectNode,
  questionOf,
  type RecordNode,
} from './nodes/node.js'
import { type Name, pathOf } from './nodes/place.js'
import { readOnlyBecause } from './nodes/refusals.js'
import { ownCopyMs } from './records/open-record.js'
import { type Burst, pauseMs, type WaitingRemoval } from './removal/burst.js'

/** `back`: why the file is back after the pause. `isUnsaved`: only its unsaved text goes with the burst. Neither: it is deleted. */
export interface Admission {
  readonly back?: string
  readonly isUnsaved?: boolean | undefined
}

export class Removals {
  constructor(private readonly parts: DriveParts) {}

  /** A file of a calculation: it is hidden, and goes with its folder or comes back. */
  unlinkContent(path: string, node: ContentNode, folder: CalculationNode): void {
    this.#refuse(folder, path, { because: readOnlyBecause(node) })
    this.parts.writeSide.burst.unlink(folder.id, lastNameOf(path), path)
  }

  async admit(path: string, node: RecordNode, context: RequestContext): Promise<Admission> {
    const { clock, writeSide } = this.parts
    const { burst, records, rights } = writeSide
    if (rights.access !== 'manage') return { back: 'this drive deletes only with --access manage' }
    if (node.of === 'project') burst.spoil(path, wholeMeant)
    if (node.of === 'calculation') {
      burst.attempt(path)
      return {}
    }
    const refusal = rights.refusal(node)
    if (refusal !== undefined) return { back: refusal.message }
    burst.attempt(path)
    // A text that nothing has looked at yet cannot be compared. What cannot be seen now is looked at before the DELETE.
    await recover<unknown, unknown>(questionOf(this.parts.catalog, node).ask(context), asFailure)
    if (node.of === 'share') return {}
    if (records.draftOf(nodeKey(node)) !== undefined) return { isUnsaved: true }
    // A program that saves by unlink and create, or finds fault with its own copy (rclone, make), means no deletion.
    return clock.now() - writeSide.writtenAt(node) < ownCopyMs ? { back: ownCopy } : {}
  }

  /** The record's file was taken away. @throws Failure 'not-permitted' where its burst has been refused meanwhile */
  unlinked(path: string, node: RecordNode, { isUnsaved }: Admission): void {
    const { burst, deleteSender } = this.parts.writeSide
    const name = lastNameOf(path)
    if (node.of === 'calculation') burst.unlink(node.id, name, path)
    else if (node.of === 'project') burst.spoil(path, wholeMeant)
    else {
      const before = deleteSender.known(node)
      burst.remove({ node, parent: directoryOf(node), name, path, before, isUnsaved })
    }
  }

  /** A file or a directory that the drive itself makes: a program that removes it means all that is beside it. */
  refuseOwn(path: string, node: Node): never {
    const { burst, rights } = this.parts.writeSide
    if (rights.access === 'manage') burst.spoil(path, wholeMeant)
    const isOfProject = node.kind === 'shares' || (node.kind === 'generated' && node.id !== '')
    throw new Failure('not-permitted', `${path}: ${isOfProject ? withProject : readOnlyBecause(node)}`)
  }

  async rmdir(path: string, node: DirectoryNode, context: RequestContext): Promise<void> {
    if (node.kind === 'calculation') await this.#rmdirCalculation(path, node, context)
    else if (node.kind === 'project') await this.#rmdirProject(path, node, context)
    else this.refuseOwn(path, node)
  }

  /** All of the burst comes back where this name, which may be hidden, is part of it, or the directory of a part. */
  async touch(name: Name, context: RequestContext): Promise<boolean> {
    const node = await this.#hiddenAt(name, context)
    return node !== undefined && this.parts.writeSide.burst.touch(node, name.name, pathOf(name))
  }

  /** Once what was removed under this name is deleted, or is back. */
  async settled(name: Name, context: RequestContext): Promise<void> {
    const node = await this.#hiddenAt(name, context)
    if (node !== undefined) await this.parts.writeSide.burst.settled(nodeKey(node))
  }

  async #hiddenAt(name: Name, context: RequestContext): Promise<Node | undefined> {
    if (!this.parts.writeSide.burst.isUnderWay) return undefined
    return attempt<Node | undefined>(() => this.parts.tree.child(name, context), unlessAbsent)
  }

  async #rmdirCalculation(path: string, node: CalculationNode, context: RequestContext): Promise<void> {
    const { burst, deleteSender } = this.parts.writeSide
    this.#refuse(node, path)
    burst.attempt(path)
    const entries = await this.parts.tree.list(node, context)
    const left = entries.filter(entry => !burst.hides(entry.node, entry.name))
    if (left.length > 0)
      throw new Failure('not-empty', `${path}: ${left.map(({ name }) => name).join(', ')} is still there`)
    const before = deleteSender.known(node)
    const project = deleteSender.projectOf(node, before.record)
    const parent = project === undefined ? '' : nodeKey({ kind: 'project', id: project })
    burst.remove({ node, parent, name: lastNameOf(path), path, before })
  }

  async #rmdirProject(path: string, node: ProjectNode, context: RequestContext): Promise<void> {
    const { clock, failureLog } = this.parts
    const { aliases, burst, deleteSender, records } = this.parts.writeSide
    const made = aliases.hasMade(node.id)
    this.#refuse(node, path, { made })
    burst.attempt(path)
    const lookedAt = clock.now()
    await deleteSender.refuseFull(node, path, context)
    // One that this mount has made can be made again.
    if (!made) burst.count(nodeKey(node), path)
    const empty = { node, name: lastNameOf(path), lookedAt }
    await deleteSender.emptyProject(empty, context).catch(thrown => {
      // One that may be deleted, for its DELETE has no answer, counts.
      if (!isA('undecided', asFailure(thrown))) burst.uncount(nodeKey(node))
      throw thrown
    })
    // Nothing that was told of it is true any more.
    records.known(nodeKey({ kind: 'record', of: 'project', id: node.id }))?.bringBack()
    failureLog.gone(path)
  }

  #refuse(
    node: Node,
    path: string,
    { made = false, because }: { made?: boolean; because?: string } = {},
  ): void {
    const refusal = this.parts.writeSide.rights.refusalToDelete(node, made)
    if (refusal === undefined) return
    const isShown = because !== undefined && refusal.kind !== 'read-only'
    throw new Failure(refusal.kind, `${path}: ${isShown ? `${because}; ` : ''}${refusal.message}`)
  }
}

const ownCopy =
  'it was written here within the last minute, and its program may only make it again: remove it after a minute, or use calcfs delete'

const withProject = 'it goes with its project: rmdir takes an empty one away, and rm -r none'

const wholeMeant = 'a file or a directory of its project, or of the drive itself, was to be removed with it'

const directoryOf = (node: RecordNode): string =>
  nodeKey(node.of === 'share' ? { kind: 'shares', project: node.project } : { kind: 'reports' })

function sentencesOf(removal: WaitingRemoval, now: Instant): readonly string[] {
  const { path, since, isSent, isUnsaved } = removal
  if (isSent && isUnsaved !== true) return [`${path} (${whatGoes(removal)}) is being deleted now.`]
  const seconds = Math.max(0, Math.round((now - since) / 1000))
  return [
    `${path} (${whatGoes(removal)}) was removed ${seconds} s ago, and is deleted once nothing was removed for ${pauseMs / 1000} s.`,
    `To keep it: touch '${path.slice(1)}' (below the mount) before that.`,
  ]
}

export const waitingRemovals = (burst: Burst): readonly { path: string; what: string; since: Instant }[] =>
  burst.waiting().map(removal => ({ path: removal.path, what: whatGoes(removal), since: removal.since }))

/** Sentences about a thing, and about what was removed below its path; none where nothing was. */
export function aboutRemoval(
  path: string,
  node: Node | undefined,
  burst: Burst,
  now: Instant,
): readonly string[] {
  const key = node === undefined ? undefined : nodeKey(node)
  const isHere = (at: string): boolean => at === path || at.startsWith(`${path}/`)
  const waiting = burst.waiting().filter(one => nodeKey(one.node) === key || isHere(one.path))
  if (waiting.length > 0) return waiting.flatMap(one => sentencesOf(one, now))
  if (!burst.unlinked().some(isHere)) return []
  return [
    `${path}: files were unlinked, which are back in ${pauseMs / 1000} s: the service deletes a calculation as a whole only (rm -r CALCULATION).`,
  ]
}

function whatGoes({ node, isUnsaved }: WaitingRemoval): string {
  if (node.kind === 'calculation') return `calculation ${node.id}`
  return isUnsaved === true ? `the unsaved text of ${node.of} ${node.id}` : `${node.of} ${node.id}`
}
