// The verbs that change the tree: what each means for the service, or in which words it is refused.
import { asFailure, Failure } from '../failure.js'
import type { Ask } from '../remote/remote.js'
import type { DriveParts } from './context.js'
import type { Changing } from './interface/verbs.js'
import type { Named } from './names/name-aliases.js'
import { isHiddenByLibfuse, isLockName } from './nodes/local-names.js'
import { escapeTitle, titleWritten } from './nodes/name.js'
import { type EditableNode, isDirectory, isEditable, keyOf, type Node } from './nodes/node.js'
import { noProjectHere, noUpload, readOnlyBecause, refusalOf } from './nodes/refusals.js'
import { pauseMs } from './records/saving.js'
import { isDirectorysOwn, nameOf, type Places, parentOf } from './tree/path-resolver.js'

export function openChanging(
  parts: DriveParts,
  places: Places,
  until: Record<'metadata' | 'save', () => Ask>,
): Changing {
  const { making, records, removing, scratch, tree } = parts

  async function unlink(path: string): Promise<void> {
    if (places.closed(path)) return
    if (!isDirectorysOwn(path)) return unlinkAt(path)
    const directory = await tree.directory(parentOf(path), until.save())
    // Whatever becomes of it: an rm -r of the directory has begun, unless the file is created again.
    await unlinkAt(path).finally(() => removing.ownFileTried(parentOf(path), directory))
  }

  async function unlinkAt(path: string): Promise<void> {
    const ask = until.save()
    const node = await places.node(path, ask)
    if (node.kind === 'scratch') return scratch.remove(node.place)
    if (node.kind === 'link' && node.place !== undefined) return scratch.unlink(node.place)
    if (node.kind === 'draft-text') return parts.giveUp(node.name)
    if (isEditable(node)) return unlinkEditable(path, node, ask)
    if (node.kind === 'content') return unlinkContent(path, node, ask)
    throw new Failure(refusalOf(node), `${path}: ${readOnlyBecause(node)}`)
  }

  /** Editors unlink a record to make it anew; who means it takes the directory away, or waits. */
  async function unlinkEditable(path: string, node: EditableNode, ask: Ask): Promise<void> {
    const source = parts.source(node)
    const isUnsentNew = node.kind === 'new' && parts.records.draftOf(source.key) !== undefined
    if (isUnsentNew) return records.drop(source.key)
    if (node.kind === 'record' && !isDirectorysOwn(path)) removing.admitUnlink(path, node)
    await records.takeAway(source, ask, 'replaced')
    removeRecord(path, node)
  }

  async function unlinkContent(path: string, node: Content, ask: Ask): Promise<void> {
    const folder = await tree.directory(parentOf(path), ask)
    if (folder.kind === 'calculation') removing.unlinkContent(path, node, folder)
    else throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
  }

  /** The record's file was unlinked: what that means beyond the pause. */
  function removeRecord(path: string, node: EditableNode): void {
    if (node.kind !== 'record' || parts.rights.access !== 'manage') sayIfBack(path, node)
    else removing.recordUnlinked(path, node)
  }

  /** Nobody has made it anew, so somebody meant to delete it; his rm was answered long ago. */
  function sayIfBack(path: string, node: EditableNode): void {
    const why =
      parts.rights.access === 'manage'
        ? 'it is another name of a record; remove that one by its number'
        : 'this drive deletes only with --access manage'
    const back = new Failure(
      'not-permitted',
      `it was removed here and is back, for the service has it still: ${why}`,
    )
    setTimeout(() => {
      if (records.isBack(keyOf(node))) parts.failed(path, back)
    }, pauseMs).unref()
  }

  /** A finished text over a record is an edit; a record under another name is an editor's backup of it. */
  async function rename(from: string, to: string): Promise<void> {
    const ask = until.save()
    const node = await places.node(from, ask)
    if (node.kind === 'project' || node.kind === 'calculation') return retitle(node, { from, to }, ask)
    const target = await places.editable(to, ask)
    const place = await places.scratch(to, ask)
    if (node.kind === 'scratch' && target !== undefined) {
      const began = parts.now()
      await parts.madeAnew(target)
      await records.replace(parts.source(target), { text: await scratch.read(node.place) }, ask)
      parts.doneWell(to, began)
      return scratch.remove(node.place)
    }
    if (node.kind === 'scratch' && place !== undefined) return scratch.rename(node.place, place)
    if (node.kind === 'content' && isUnlinkOfOpenFile(to)) {
      await unlinkContent(from, node, ask)
      return places.keepOpen(to, node)
    }
    if (isEditable(node) && target === undefined && place !== undefined) {
      const isUnlink = isUnlinkOfOpenFile(to)
      if (isUnlink && node.kind === 'record' && !isDirectorysOwn(from)) removing.admitUnlink(from, node)
      // libfuse renames an open file away before another takes its place.
      const handlesAre = isUnlink ? 'replaced' : 'moved'
      await records.takeAway(parts.source(node), ask, handlesAre, text => scratch.put(place, text))
      if (isUnlink) removeRecord(from, node)
      return
    }
    throw new Failure('not-permitted', `${from}: this cannot be moved to ${to}`)
  }

  async function retitle(node: Named, { from, to }: { from: string; to: string }, ask: Ask): Promise<void> {
    const [there, here] = await Promise.all([
      tree.directory(parentOf(to), ask),
      tree.directory(parentOf(from), ask),
    ])
    if (keyOf(there) !== keyOf(here) || here.kind !== 'project') {
      throw new Failure(
        'not-permitted',
        `${from}: the service moves nothing to another project; in its own it may get another name`,
      )
    }
    if (!making.isFormer(here.id, nameOf(to)) && (await isTaken(to, ask)))
      throw new Failure('exists', `${to}: there is something of this name already`)
    await making.retitle(node, nameOf(to), ask)
    parts.doneWell(to, parts.now())
  }

  /** By its name, or by the other way to write it: `%25` is `%`. */
  async function isTaken(path: string, ask: Ask): Promise<boolean> {
    const usual = `${parentOf(path)}/${escapeTitle(titleWritten(nameOf(path)))}`
    return (await isThere(path, ask)) || (usual !== path && (await isThere(usual, ask)))
  }

  async function isThere(path: string, ask: Ask): Promise<boolean> {
    try {
      await places.node(path, ask)
      return true
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.kind === 'absent') return false
      throw thrown
    }
  }

  async function mkdir(path: string): Promise<void> {
    const ask = until.save()
    const directory = await tree.directory(parentOf(path), ask)
    if (directory.kind !== 'project')
      throw new Failure('not-permitted', `${path}: ${noProjectHere(directory)}`)
    if (await isTaken(path, ask))
      throw new Failure('exists', `${path}: there is something of this name already`)
    await making.make(directory.id, nameOf(path), ask)
    parts.doneWell(path, parts.now())
  }

  async function rmdir(path: string): Promise<void> {
    const ask = until.save()
    const node = await places.node(path, ask)
    if (!isDirectory(node)) throw new Failure('not-directory', `${path} is not a directory`)
    await removing.rmdir(path, node, ask)
  }

  /** Where a program may have files of its own, emacs has its lock. */
  async function symlink(target: string, path: string): Promise<void> {
    const place = isLockName(nameOf(path)) ? await places.scratch(path, until.metadata()) : undefined
    if (place === undefined) throw new Failure('not-permitted', `${path}: the service holds no links`)
    if (await isTaken(path, until.metadata())) throw new Failure('exists', `${path}: it is locked already`)
    scratch.link(place, target)
  }

  const refuse = (sentence: string) => async (path: string) => {
    throw new Failure('not-permitted', `${path}: ${sentence}`)
  }

  return {
    async truncate(path, size) {
      const ask = until.metadata()
      const node = await places.node(path, ask)
      if (isEditable(node)) return records.truncate(parts.source(node), size, ask)
      if (node.kind === 'scratch') return scratch.truncate(node.place, size)
      throw new Failure(refusalOf(node), `${path}: ${readOnlyBecause(node)}`)
    },
    unlink,
    async rename(from, to) {
      try {
        await rename(from, to)
      } catch (thrown) {
        // Whoever asks why asks at the file that should have become another.
        parts.failed(to, asFailure(thrown))
        throw thrown
      }
    },
    mkdir,
    rmdir,
    symlink,
    link: refuse('the service holds no links'),
    mknod: refuse(noUpload),
    async change(path) {
      const node = await places.node(path, until.metadata())
      if (isEditable(node) || node.kind === 'scratch') return
      throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
    },
    async touch(path, mtime) {
      const ask = until.metadata()
      if (await parts.takenBackAt(path, ask)) return
      const node = await places.node(path, ask)
      if (node.kind === 'scratch') return scratch.setTime(node.place, mtime)
      const wasRemoved = removing.takeBack(path, isDirectory(node) ? await tree.directory(path, ask) : node)
      if (isDirectory(node)) return tree.refresh(node, ask)
      if (wasRemoved) return parts.doneWell(path, parts.now())
      if (!isEditable(node)) throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
    },
    async setxattr(path) {
      throw new Failure('unsupported', `${path}: extended attributes cannot be set`)
    },
  }
}

type Content = Extract<Node, { kind: 'content' }>

/** A file that is still open is unlinked, or replaced by the rename that follows. */
const isUnlinkOfOpenFile = (to: string): boolean => isHiddenByLibfuse(nameOf(to))
