// Path of a calculation: of the drive, of the mount as a shell sees it, or of the platform's web pages.
import { Failure, isAbsent } from '../../failure.js'
import type { CalculationId, Remote, RequestContext, ServicePath } from '../../remote/remote.js'
import { titlesIn } from '../nodes/name.js'
import type { Tree } from './tree.js'

interface PathSources {
  readonly tree: () => Tree
  readonly remote: Pick<Remote, 'resolveCalculation'>
  /** Where the drive is mounted; a path below it means the same as without it. */
  readonly mountPoint: string
}

const byNumber = /^\.\.\/\.\.\/by-id\/calculation\/(\d+)$/

/** @throws Failure 'absent' where no calculation is there */
export async function calculationAt(
  path: string,
  sources: PathSources,
  context: RequestContext,
): Promise<CalculationId> {
  const below = path.startsWith(`${sources.mountPoint}/`) ? path.slice(sources.mountPoint.length) : path
  if (/^\/db\//.test(below)) return calculationOfService(below, sources, context)
  const node = await sources.tree().walk(below, context)
  if (node.kind === 'calculation') return node.id
  const linked = node.kind === 'link' ? byNumber.exec(node.to)?.[1] : undefined
  if (linked !== undefined) return linked as CalculationId
  throw new Failure('absent', `${path}: there is no calculation at this path`)
}

/** As the web pages write it; else with the escapes of the drive, where it was completed by a shell. */
async function calculationOfService(
  path: string,
  { remote }: PathSources,
  context: RequestContext,
): Promise<CalculationId> {
  const plain = path.replace(/\/+$/, '')
  const unescaped = titlesIn(plain).join('/')
  try {
    return await remote.resolveCalculation(plain as ServicePath, context)
  } catch (thrown) {
    if (!isAbsent(thrown) || unescaped === plain) throw thrown
    return remote.resolveCalculation(unescaped as ServicePath, context)
  }
}
