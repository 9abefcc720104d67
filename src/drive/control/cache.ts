// Control of the kept contents: their size, clearing, verification, of all or of what lies below a path.

import { setImmediate } from 'node:timers/promises'
import { dueIn } from '../../remote/clock.js'
import type { ProjectId } from '../../remote/remote.js'
import type { CachedProject, Control } from '../interface/control.js'
import type { CalculationNode } from '../nodes/node.js'
import { knownSubtree } from '../pins/subtree.js'
import type { ControlParts } from './context.js'
import { nodeAt } from './path-node.js'

export function openCacheControl(
  parts: ControlParts,
): Pick<Control, 'cacheInfo' | 'cacheClear' | 'cacheVerify'> {
  const { content, cacheDirectory, pins, tree } = parts

  /** Which contents are meant, by name: all without a path, else those that are known to lie there. */
  async function meantAt(given: string | undefined): Promise<(name: string) => boolean> {
    if (given === undefined) return () => true
    const found = await nodeAt(tree, given, dueIn(parts.deadlines.metadata, parts))
    const { dialect } = parts.writeSide.ports
    const { contents } = await knownSubtree(found, { ...parts, dialect })
    const names = new Set(contents.map(one => content.nameOf(one.content)))
    return name => names.has(name)
  }

  return {
    async cacheInfo() {
      // Files of earlier days are counted in the background.
      await content.maintain()
      const { files, bytes, limitBytes, downloads } = content.stats()
      const projects = await keptByProject(parts)
      return { directory: cacheDirectory, files, bytes, limitBytes, downloads, projects }
    },
    async cacheClear({ path, pinned = false }) {
      const isMeant = await meantAt(path)
      let kept = 0
      const gone = await content.clear(name => {
        if (!isMeant(name)) return false
        if (pinned || !pins.keepsContent(name)) return true
        kept += 1
        return false
      })
      return { ...gone, pinned: kept }
    },
    async cacheVerify({ path }) {
      const { checked, dropped, swept } = await content.scrub('all', await meantAt(path))
      return { checked, damaged: dropped, swept }
    },
  }
}

type Parts = Pick<
  ControlParts,
  'calculationsWithFiles' | 'catalog' | 'content' | 'identities' | 'pins' | 'tree'
>

/** A project that lies so deep lies in itself. */
const deepest = 64

/** Each project of which anything is kept, the largest first. */
async function keptByProject(parts: Parts): Promise<readonly CachedProject[]> {
  const found: CachedProject[] = []
  for (const [id, calculations] of calculationsByProject(parts)) {
    // A project may have a hundred thousand files.
    await setImmediate()
    const kept = keptOf(calculations, parts)
    const pinned = parts.pins.coverOf({ kind: 'project', id }) !== undefined
    if (kept.files > 0) found.push({ id, path: titlesOf(id, parts).join('/'), ...kept, pinned })
  }
  return found.sort((one, other) => other.bytes - one.bytes)
}

/** Those whose files are known, each with the project that was told to hold it. */
function calculationsByProject({
  calculationsWithFiles,
  catalog,
  identities,
}: Parts): ReadonlyMap<ProjectId, readonly CalculationNode[]> {
  const wanted = new Set(calculationsWithFiles())
  const parents = new Set<string>()
  for (const id of wanted) {
    const parent = identities.known({ kind: 'calculation', id })?.parent
    if (parent !== undefined) parents.add(parent)
  }
  return new Map(
    [...parents].map(parent => {
      const id = parent as ProjectId
      const { calculations = [] } = catalog.children(id).known() ?? {}
      return [id, calculations.filter(one => wanted.has(one.id))]
    }),
  )
}

function keptOf(
  calculations: readonly CalculationNode[],
  { content, tree }: Parts,
): Pick<CachedProject, 'files' | 'bytes'> {
  let [files, bytes] = [0, 0]
  for (const calculation of calculations)
    for (const { node } of tree.listKnown(calculation) ?? []) {
      const kept = node.kind === 'content' ? content.keptBytes(content.nameOf(node.content)) : undefined
      if (kept === undefined || kept === 0) continue
      files += 1
      bytes += kept
    }
  return { files, bytes }
}

/** From the top on, as far as they are known. */
function titlesOf(id: ProjectId, { identities }: Parts): readonly string[] {
  const titles: string[] = []
  for (let at: string | undefined = id; at !== undefined && titles.length < deepest; ) {
    const known = identities.known({ kind: 'project', id: at })
    if (known?.title === undefined) break
    titles.unshift(known.title)
    at = known.parent
  }
  return titles.length === 0 ? [id] : titles
}
