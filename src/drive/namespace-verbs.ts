// Namespace verbs: what each change of the tree means for the service, or the sentence that refuses it.

import { openKeyedQueue } from '../edit/journal/keyed-queue.js'
import { mayBeMade } from '../edit/save/create.js'
import { asFailure, Failure, isAbsent } from '../failure.js'
import { lastNameOf, parentOf } from '../layout.js'
import { withDeadline } from '../remote/clock.js'
import type { RequestContext } from '../remote/remote.js'
import type { DriveParts } from './context.js'
import type { NamespaceVerbs } from './interface/verbs.js'
import type { NamedNode } from './names/name-aliases.js'
import { isHiddenByLibfuse, isLockName } from './nodes/local-names.js'
import { escapeTitle, titleWritten } from './nodes/name.js'
import {
  type ContentNode,
  type EditableNode,
  isDirectory,
  isEditable,
  type Node,
  nodeKey,
} from './nodes/node.js'
import { noProjectHere, noUpload, readOnlyBecause, refusalOf } from './nodes/refusals.js'
import { refuseProgramsName } from './nodes/well-known-names.js'
import { awayMs } from './records/open-record.js'
import type { PathResolver } from './tree/path-resolver.js'

export function openNamespaceVerbs(
  parts: DriveParts,
  resolver: PathResolver,
  until: Record<'metadata' | 'save', () => RequestContext>,
): NamespaceVerbs {
  const { createRename, records, removals, scratch, tree } = parts
  /** The kernel lets one at a time into a directory, and does not know that two paths are one project. */
  const naming = openKeyedQueue()

  async function unlink(path: string): Promise<void> {
    if (resolver.closed(path)) return
    const context = until.save()
    const node = await resolver.node(path, context)
    if (node.kind === 'scratch') return scratch.remove(node.place)
    if (node.kind === 'link' && node.place !== undefined) return scratch.unlink(node.place)
    if (node.kind === 'draft-text') return parts.discardDraft(node.name)
    if (isEditable(node)) return unlinkEditable(path, node, context)
    if (node.kind === 'content') return unlinkContent(path, node, context)
    if (isDirectory(node)) throw new Failure(refusalOf(node), `${path}: ${readOnlyBecause(node)}`)
    const isRow = node.kind === 'link' && (await tree.directory(parentOf(path), context)).kind === 'report'
    if (isRow) throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
    removals.refuseOwn(path, node)
  }

  /** Editors unlink a record to create it again; a deletion that is meant outlasts its burst. */
  async function unlinkEditable(path: string, node: EditableNode, context: RequestContext): Promise<void> {
    const source = parts.source(node)
    const unsentNew = node.kind === 'new' ? records.draftOf(source.key) : undefined
    // `mv` and `install` unlink before they create: what may have been made is not made once more by the next text.
    if (unsentNew !== undefined && mayBeMade(unsentNew.meta)) return records.setAside(source.key)
    if (unsentNew !== undefined) return records.drop(source.key)
    await takeAway(path, node, { context })
  }

  /** The record's file goes: it is deleted with its burst, or back after the pause. */
  async function takeAway(
    path: string,
    node: EditableNode,
    { context, keep }: { context: RequestContext; keep?: KeepText },
  ): Promise<void> {
    // libfuse renames an open file away before another takes its place: a save, or a removal.
    const isOpen = keep !== undefined
    const meant = parts.meant(node)
    const admission =
      meant.kind === 'record' ? await removals.admit(path, meant, { context, isOpen }) : { back: anotherName }
    await records.takeAway(parts.source(node), context, 'replaced', keep)
    if (meant.kind !== 'record' || admission.back !== undefined)
      return sayIfBack(path, node, admission.back ?? anotherName)
    try {
      removals.unlinked(path, meant, admission)
    } catch (thrown) {
      records.bringBack(nodeKey(node))
      throw thrown
    }
  }

  async function unlinkContent(path: string, node: ContentNode, context: RequestContext): Promise<void> {
    const folder = await tree.directory(parentOf(path), context)
    if (folder.kind === 'calculation') removals.unlinkContent(path, node, folder)
    else throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
  }

  /** Not created again within the pause: records why the file reappears, because rm has already returned success. */
  function sayIfBack(path: string, node: EditableNode, why: string): void {
    const back = new Failure(
      'not-permitted',
      `it was removed here and is back, for the service has it still: ${why}`,
    )
    const sayIfBack = (): void => {
      if (records.isBack(nodeKey(node))) parts.failed('removing', path, back)
    }
    // A timer may be a millisecond early by the clock on the wall.
    parts.clock.after(awayMs + 20, sayIfBack, 'in-background')
  }

  /** A finished text over a record is an edit; a record under another name is an editor's backup of it. */
  async function rename(from: string, to: string): Promise<void> {
    const context = until.save()
    const node = await resolver.node(from, context)
    if (node.kind === 'project' || node.kind === 'calculation') return retitle(node, { from, to }, context)
    const target = await resolver.editable(to, context)
    const place = await resolver.scratch(to, context)
    if (node.kind === 'scratch' && target !== undefined) {
      const began = parts.clock.now()
      await parts.recreated(target)
      if (scratch.isUntouched(node.place)) refuseBackup(to, target)
      const moved = { text: await scratch.read(node.place), isUnread: scratch.isUnread(node.place) }
      await records.replace(parts.source(target), moved, context)
      parts.succeeded(to, began)
      return scratch.remove(node.place)
    }
    if (node.kind === 'scratch' && place !== undefined) return scratch.rename(node.place, place)
    if (node.kind === 'content' && isUnlinkOfOpenFile(to)) {
      await unlinkContent(from, node, context)
      return resolver.keepOpen(to, node)
    }
    if (node.kind === 'draft-text' && isUnlinkOfOpenFile(to)) {
      await parts.discardDraft(node.name)
      return resolver.keepOpen(to, node)
    }
    if (isEditable(node) && target === undefined && place !== undefined) {
      const keep: KeepText = (text, isUnread) => scratch.put(place, text, isUnread)
      if (isUnlinkOfOpenFile(to)) return takeAway(from, node, { context, keep })
      return records.takeAway(parts.source(node), context, 'moved', keep)
    }
    throw new Failure('not-permitted', `${from}: this cannot be moved to ${to}`)
  }

  /**
   * A backup that is put back is no wish to make another record where the one of its name is gone: the text that was
   * refused for that stays, and the backup where it is.
   */
  function refuseBackup(path: string, target: EditableNode): void {
    if (target.kind !== 'new') return
    const { key } = parts.source(target)
    if (records.draftOf(key)?.meta.gone !== true) return
    records.bringBack(key)
    throw new Failure(
      'absent',
      `${path}: its ${target.of} is gone, and what was saved there since is kept as its draft: save that once more to make another one, or copy (cp) the backup there`,
    )
  }

  async function retitle(
    node: NamedNode,
    { from, to }: { from: string; to: string },
    context: RequestContext,
  ): Promise<void> {
    const [there, here] = await Promise.all([
      tree.directory(parentOf(to), context),
      tree.directory(parentOf(from), context),
    ])
    if (nodeKey(there) !== nodeKey(here) || here.kind !== 'project') {
      throw new Failure(
        'not-permitted',
        `${from}: the service moves nothing to another project; in its own it may get another name`,
      )
    }
    refuseProgramsName(to)
    // `rm -r A/c1 && mv A/c2 A/c1`: the name is free once what was removed is gone.
    const waits = `${to}: what was removed there is not deleted yet`
    await withDeadline(removals.settled(to, context), context, parts.clock, waits)
    await naming({ kind: 'project', id: here.id }, async () => {
      const name = lastNameOf(to)
      const lookedAt = parts.clock.now()
      parts.catalog.refreshProject(here.id)
      const isFree = (found: Node, at: string) => isOldName(found) && createRename.isFormer(here.id, at)
      await refuseTaken(to, context, isFree)
      await createRename.retitle(node, { parent: here.id, name, lookedAt }, context)
    })
    parts.succeeded(to, parts.clock.now())
  }

  /**
   * By its name, or by the other way to write it: `%25` is `%`. `isFree` tells of what is found under a name that it
   * does not take it.
   * @throws Failure 'exists'
   */
  async function refuseTaken(
    path: string,
    context: RequestContext,
    isFree: IsFree = takesAny,
  ): Promise<void> {
    const name = lastNameOf(path)
    for (const written of new Set([name, escapeTitle(titleWritten(name))]))
      if (await isTaken(`${parentOf(path)}/${written}`, context, isFree))
        throw new Failure('exists', `${path}: there is something of this name already`)
  }

  async function isTaken(path: string, context: RequestContext, isFree: IsFree): Promise<boolean> {
    try {
      return !isFree(await resolver.node(path, context), lastNameOf(path))
    } catch (thrown) {
      if (isAbsent(thrown)) return false
      throw thrown
    }
  }

  async function mkdir(path: string): Promise<void> {
    const context = until.save()
    const directory = await tree.directory(parentOf(path), context)
    if (directory.kind !== 'project')
      throw new Failure('not-permitted', `${path}: ${noProjectHere(directory)}`)
    refuseProgramsName(path)
    const name = lastNameOf(path)
    await naming({ kind: 'project', id: directory.id }, async () => {
      const lookedAt = parts.clock.now()
      // Another client, or a daemon that was killed, may have made it since the list was read.
      parts.catalog.refreshProject(directory.id)
      await refuseTaken(path, context)
      await createRename.make({ path, directory, name, lookedAt }, context)
    })
    parts.succeeded(path, parts.clock.now())
  }

  async function rmdir(path: string): Promise<void> {
    const context = until.save()
    const node = await resolver.node(path, context)
    if (!isDirectory(node)) throw new Failure('not-directory', `${path} is not a directory`)
    await removals.rmdir(path, node, context)
  }

  /** Where a program may have files of its own, emacs has its lock. */
  async function symlink(target: string, path: string): Promise<void> {
    const place = isLockName(lastNameOf(path)) ? await resolver.scratch(path, until.metadata()) : undefined
    if (place === undefined) throw new Failure('not-permitted', `${path}: the service holds no links`)
    await refuseTaken(path, until.metadata())
    scratch.link(place, target)
  }

  const refuse = (sentence: string) => async (path: string) => {
    throw new Failure('not-permitted', `${path}: ${sentence}`)
  }

  return {
    async truncate(path, size) {
      const context = until.metadata()
      const node = await resolver.node(path, context)
      if (isEditable(node)) return records.truncate(parts.source(node), size, context)
      if (node.kind === 'scratch') return scratch.truncate(node.place, size)
      throw new Failure(refusalOf(node), `${path}: ${readOnlyBecause(node)}`)
    },
    unlink,
    async rename(from, to) {
      try {
        await rename(from, to)
      } catch (thrown) {
        // `calcfs why` is asked at the file that should have become another.
        parts.failed('rename', to, asFailure(thrown))
        throw thrown
      }
    },
    mkdir,
    rmdir,
    symlink,
    link: refuse('the service holds no links'),
    mknod: refuse(noUpload),
    async change(path) {
      const node = await resolver.node(path, until.metadata())
      if (isEditable(node) || node.kind === 'scratch') return
      throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
    },
    async touch(path, mtime) {
      const context = until.metadata()
      const isBack = await removals.touch(path, context)
      const node = await resolver.node(path, context)
      if (node.kind === 'scratch') return scratch.setTime(node.place, mtime)
      if (isDirectory(node)) {
        const directory = await tree.directory(path, context)
        await tree.refresh(directory, context)
        return parts.shownAgain(directory)
      }
      if (!isEditable(node) && !isBack)
        throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
    },
    async setxattr(path) {
      throw new Failure('unsupported', `${path}: extended attributes cannot be set`)
    },
  }
}

const anotherName = 'it is another name of a record; remove that one by its number'

type IsFree = (found: Node, name: string) => boolean
type KeepText = (text: Uint8Array, isUnread: boolean) => Promise<void>
const takesAny: IsFree = () => false

/** What is listed under a name has it, whatever had it before. */
const isOldName = (found: Node): boolean =>
  (found.kind === 'project' || found.kind === 'calculation') && found.isOldName === true

/** A file that is still open is unlinked, or replaced by the rename that follows. */
const isUnlinkOfOpenFile = (to: string): boolean => isHiddenByLibfuse(lastNameOf(to))
