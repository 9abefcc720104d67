// Kept contents by project: how many files of each are on this disk, from what is known of its listings.
import { setImmediate } from 'node:timers/promises'
import type { ProjectId } from '../../remote/remote.js'
import type { CachedProject } from '../interface/control.js'
import type { CalculationNode } from '../nodes/node.js'
import type { ControlParts } from './context.js'

type Parts = Pick<
  ControlParts,
  'calculationsWithFiles' | 'catalog' | 'content' | 'identities' | 'pins' | 'tree'
>

/** A project that lies so deep lies in itself. */
const deepest = 64

/** Each project of which anything is kept, the largest first. */
export async function keptByProject(parts: Parts): Promise<readonly CachedProject[]> {
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
