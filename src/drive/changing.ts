// The verbs that change the tree: an editor's dance around a record is understood, everything else is refused in words.
import { Failure } from '../failure.js'
import type { Ask } from '../remote/remote.js'
import { isDirectory } from './node.js'
import type { DriveParts } from './parts.js'
import type { Places } from './places.js'
import { noUpload, readOnlyBecause, refusalOf } from './refusals.js'
import type { Changing } from './verbs.js'

export function openChanging(
  parts: DriveParts,
  places: Places,
  until: Record<'metadata' | 'save', () => Ask>,
): Changing {
  const { records, scratch, tree } = parts

  async function unlink(path: string): Promise<void> {
    const ask = until.metadata()
    const node = await places.node(path, ask)
    if (node.kind === 'scratch') return scratch.remove(node.place)
    if (node.kind === 'draft-text') return parts.giveUp(node.name)
    if (node.kind !== 'record') throw new Failure(refusalOf(node), `${path}: ${readOnlyBecause(node)}`)
    await records.takeAway(parts.source(node), ask)
  }

  /** A finished text over a record is an edit; a record under another name is an editor's backup of it. */
  async function rename(from: string, to: string): Promise<void> {
    const ask = until.save()
    const node = await places.node(from, ask)
    const record = await places.record(to, ask)
    const place = await places.scratch(to, ask)
    if (node.kind === 'scratch' && record !== undefined) {
      await records.replace(parts.source(record), await scratch.read(node.place), ask)
      return scratch.remove(node.place)
    }
    if (node.kind === 'scratch' && place !== undefined) return scratch.rename(node.place, place)
    if (node.kind === 'record' && record === undefined && place !== undefined) {
      return scratch.put(place, await records.takeAway(parts.source(node), ask))
    }
    throw new Failure('not-permitted', `${from}: this cannot be moved to ${to}`)
  }

  const refuse = (sentence: string) => async (path: string) => {
    throw new Failure('not-permitted', `${path}: ${sentence}`)
  }

  return {
    async truncate(path, size) {
      const ask = until.metadata()
      const node = await places.node(path, ask)
      if (node.kind === 'record') return records.truncate(parts.source(node), size, ask)
      if (node.kind === 'scratch') return scratch.truncate(node.place, size)
      throw new Failure(refusalOf(node), `${path}: ${readOnlyBecause(node)}`)
    },
    unlink,
    rename,
    mkdir: refuse('projects cannot be made through the drive'),
    rmdir: refuse('projects and calculations cannot be deleted through the drive'),
    symlink: (_target, path) => refuse('the service holds no links')(path),
    link: refuse('the service holds no links'),
    mknod: refuse(noUpload),
    async change(path) {
      const node = await places.node(path, until.metadata())
      if (node.kind === 'record' || node.kind === 'scratch') return
      throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
    },
    async touch(path, mtime) {
      const ask = until.metadata()
      const node = await places.node(path, ask)
      if (node.kind === 'scratch') return scratch.setTime(node.place, mtime)
      if (isDirectory(node)) return tree.refresh(node, ask)
      if (node.kind !== 'record') throw new Failure('not-permitted', `${path}: ${readOnlyBecause(node)}`)
    },
    async setxattr(path) {
      throw new Failure('unsupported', `${path}: extended attributes cannot be set`)
    },
  }
}
