// Namespace verbs: what each change of the tree means for the service, or the sentence that refuses it.
import { Turns } from '../edit/journal/lock.js'
import { mayBeMade } from '../edit/save/create.js'
import { asFailure, Failure, unlessAbsent } from '../failure.js'
import { attempt } from '../maybe-promise.js'
import { withDeadline } from '../remote/clock.js'
import type { RequestContext } from '../remote/remote.js'
import type { DriveParts } from './context.js'
import type { Call, NamespaceVerbs } from './interface/verbs.js'
import type { NamedNode } from './names/name-aliases.js'
import { escapeTitle, titleWritten } from './nodes/name.js'
import { type EditableNode, isDirectory, isEditable, type Node, nodeKey } from './nodes/node.js'
import { directoryIn, type Name, pathOf } from './nodes/place.js'
import { noProjectHere, noUpload, readOnlyBecause, refusalOf } from './nodes/refusals.js'
import { isLockName, refuseProgramsName } from './nodes/well-known-names.js'
import { awayMs } from './records/open-record.js'
import type { Removals } from './removals.js'

export function openNamespaceVerbs(
  parts: DriveParts,
  removals: Removals,
  until: Record<'metadata' | 'save', () => RequestContext>,
): NamespaceVerbs {
  const { failureLog, scratch, tree, writeSide } = parts
  const { createRename, records } = writeSide
  /** The kernel lets one at a time into a directory, and does not know that two of its own are one project. */
  const naming = new Turns()

  async function unlink(name: Name): Promise<void> {
    const context = until.save()
    const node = await tree.shown(name, context)
    if (node.kind === 'scratch') return scratch.remove(node.place)
    if (node.kind === 'link' && node.place !== undefined) return scratch.unlink(node.place)
    if (node.kind === 'draft-text')
      return void (await writeSide.keptDrafts.giveUp(parts.drafts.named(node.name)))
    if (isEditable(node)) return unlinkEditable(name, node, context)
    const path = pathOf(name)
    const folder = name.parent.node
    if (node.kind === 'content' && folder.kind === 'calculation')
      return removals.unlinkContent(path, node, folder)
    if (isDirectory(node)) throw new Failure(refusalOf(node), `${path}: ${readOnlyBecause(node)}`)
    if (node.kind === 'content' || (node.kind === 'link' && folder.kind === 'report'))
      throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
    removals.refuseOwn(path, node)
  }

  /** Editors unlink a record to create it again; a deletion that is meant outlasts its burst. */
  async function unlinkEditable(name: Name, node: EditableNode, context: RequestContext): Promise<void> {
    const source = writeSide.source(node)
    const unsentNew = node.kind === 'new' ? records.draftOf(source.key) : undefined
    // `mv` and `install` unlink before they create: what may have been made is not made once more by the next text.
    if (unsentNew !== undefined && mayBeMade(unsentNew.meta)) return records.record(source.key).setAside()
    if (unsentNew !== undefined) return void (await writeSide.keptDrafts.giveUp(unsentNew))
    const path = pathOf(name)
    const meant = writeSide.meant(node)
    const admission =
      meant.kind === 'record' ? await removals.admit(path, meant, context) : { back: anotherName }
    await records.record(source.key).takeAway(source, context, 'replaced')
    if (meant.kind !== 'record' || admission.back !== undefined)
      return sayIfBack(path, node, admission.back ?? anotherName)
    try {
      removals.unlinked(path, meant, admission)
    } catch (thrown) {
      records.known(nodeKey(node))?.bringBack()
      throw thrown
    }
  }

  /** Not created again within the pause: records why the file reappears, because rm has already returned success. */
  function sayIfBack(path: string, node: EditableNode, why: string): void {
    const back = new Failure(
      'not-permitted',
      `it was removed here and is back, for the service has it still: ${why}`,
    )
    const look = (): void => {
      if (records.known(nodeKey(node))?.isBack) failureLog.note('removing', path, back)
    }
    // A timer may be a millisecond early by the clock on the wall.
    parts.clock.after(awayMs + 20, look, 'in-background')
  }

  /** A finished text over a record is an edit; a record under another name is an editor's backup of it. */
  async function rename(from: Name, to: Name, call?: Call): Promise<void> {
    const context = until.save()
    const node = await tree.shown(from, context)
    if (node.kind === 'project' || node.kind === 'calculation') return retitle(node, { from, to }, context)
    const target = await tree.editable(to, context)
    const place = await tree.scratch(to, context)
    if (node.kind === 'scratch' && target !== undefined) {
      const began = parts.clock.now()
      await writeSide.recreated(target)
      const source = writeSide.source(target)
      const put = (text: Uint8Array, isUnread: boolean) =>
        records.record(source.key).replace(source, { ...call, text, isUnread }, context)
      await scratch.moveOver(node.place, put)
      return failureLog.forget(pathOf(to), began)
    }
    if (node.kind === 'scratch' && place !== undefined) return scratch.rename(node.place, place)
    if (isEditable(node) && target === undefined && place !== undefined) {
      const keep = (text: Uint8Array, isUnread: boolean) => scratch.put(place, text, isUnread)
      const source = writeSide.source(node)
      return records.record(source.key).takeAway(source, context, 'moved', keep)
    }
    throw new Failure('not-permitted', `${pathOf(from)}: this cannot be moved to ${pathOf(to)}`)
  }

  async function retitle(
    node: NamedNode,
    { from, to }: { from: Name; to: Name },
    context: RequestContext,
  ): Promise<void> {
    const [there, here] = await Promise.all(
      [to, from].map(({ parent }) => tree.actual(directoryIn(parent), context)),
    )
    if (here?.kind !== 'project' || there?.kind !== 'project' || there.id !== here.id)
      throw new Failure(
        'not-permitted',
        `${pathOf(from)}: the service moves nothing to another project; in its own it may get another name`,
      )
    refuseProgramsName(to)
    // `rm -r A/c1 && mv A/c2 A/c1`: the name is free once what was removed is gone.
    const waits = `${pathOf(to)}: what was removed there is not deleted yet`
    await withDeadline(removals.settled(to, context), context, parts.clock, waits)
    await naming.take(here.id, async () => {
      const lookedAt = parts.clock.now()
      parts.catalog.refreshProject(here.id)
      await refuseTaken(to, context)
      await createRename.retitle(node, { parent: here.id, name: to.name, lookedAt }, context)
    })
    failureLog.forget(pathOf(to), parts.clock.now())
  }

  /** By its name, or by the other way to write it: `50%50` is `50%2550`; also by what waits to be deleted. @throws Failure 'exists' */
  async function refuseTaken({ parent, name }: Name, context: RequestContext): Promise<void> {
    for (const written of new Set([name, escapeTitle(titleWritten(name))])) {
      const look = () => tree.child({ parent, name: written }, context)
      const found = await attempt<Node | undefined>(look, unlessAbsent)
      if (found === undefined) continue
      throw new Failure(
        'exists',
        `${pathOf({ parent, name })}: there is something of this name already, or it waits to be deleted`,
      )
    }
  }

  async function mkdir(wanted: Name): Promise<void> {
    const context = until.save()
    const directory = await tree.actual(directoryIn(wanted.parent), context)
    const path = pathOf(wanted)
    if (directory.kind !== 'project')
      throw new Failure('not-permitted', `${path}: ${noProjectHere(directory)}`)
    refuseProgramsName(wanted)
    await naming.take(directory.id, async () => {
      const lookedAt = parts.clock.now()
      // Another client, or a daemon that was killed, may have made it since the list was read.
      parts.catalog.refreshProject(directory.id)
      await refuseTaken(wanted, context)
      await createRename.make({ directory, name: wanted.name, lookedAt }, context)
    })
    failureLog.forget(path, parts.clock.now())
  }

  async function rmdir(name: Name): Promise<void> {
    const context = until.save()
    const node = await tree.shown(name, context)
    if (!isDirectory(node)) throw new Failure('not-directory', `${pathOf(name)} is not a directory`)
    await removals.rmdir(pathOf(name), node, context)
  }

  /** Where a program may have files of its own, emacs has its lock. */
  async function symlink(target: string, name: Name): Promise<void> {
    const place = isLockName(name.name) ? await tree.scratch(name, until.metadata()) : undefined
    if (place === undefined) throw new Failure('not-permitted', `${pathOf(name)}: the service holds no links`)
    await refuseTaken(name, until.metadata())
    scratch.link(place, target)
  }

  const refuse = (sentence: string) => async (name: Name) => {
    throw new Failure('not-permitted', `${pathOf(name)}: ${sentence}`)
  }

  return {
    async truncate(place, size) {
      const { node } = place
      if (isEditable(node)) return records.truncate(writeSide.source(node), { place, size }, until.metadata())
      if (node.kind === 'scratch') return scratch.truncate(node.place, size)
      throw new Failure(refusalOf(node), `${pathOf(place)}: ${readOnlyBecause(node)}`)
    },
    unlink,
    async rename(from, to, call) {
      try {
        await rename(from, to, call)
      } catch (thrown) {
        // `calcfs why` is asked at the file that should have become another.
        failureLog.note('rename', pathOf(to), asFailure(thrown))
        throw thrown
      }
    },
    mkdir,
    rmdir,
    symlink,
    link: refuse('the service holds no links'),
    mknod: refuse(noUpload),
    async change(place) {
      const { node } = place
      if (isEditable(node) || node.kind === 'scratch') return
      throw new Failure('not-permitted', `${pathOf(place)}: ${fixedModes}`)
    },
    async touch(place, mtime) {
      const context = until.metadata()
      const { node } = place
      const isBack = writeSide.burst.touch(node, place.name, pathOf(place))
      if (node.kind === 'scratch') return scratch.setTime(node.place, mtime)
      if (isDirectory(node)) {
        await tree.refresh(node, context)
        return parts.news.tell('all')
      }
      if (!isEditable(node) && !isBack)
        throw new Failure('not-permitted', `${pathOf(place)}: ${readOnlyBecause(node)}`)
    },
    async setxattr(place) {
      throw new Failure('unsupported', `${pathOf(place)}: extended attributes cannot be set`)
    },
  }
}

const fixedModes = 'modes and owners here follow from --access and the shares; change those of a copy'
const anotherName = 'it is another name of a record; remove that one by its number'
