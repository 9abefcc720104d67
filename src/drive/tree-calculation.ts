// A calculation's folder: its record, its files under their names, and the generated geometry.
import type { Catalog } from '../cache/catalog.js'
import type { Ask, FileTitle } from '../remote/remote.js'
import { nameFiles, nameGeometry } from './name.js'
import type { CalculationNode, Dentry } from './node.js'

export async function listCalculation(
  node: CalculationNode,
  catalog: Catalog,
  ask: Ask,
): Promise<readonly Dentry[]> {
  const { id, title, date, since, parent } = node
  const files = nameFiles(await catalog.files(id, ask))
  const record = { kind: 'record', of: 'calculation', id, parent } as const
  const entries: Dentry[] = [{ name: '.calculation.json', node: record }]
  for (const [name, file] of files) {
    const content = { of: 'file', calculation: id, title: file as FileTitle } as const
    entries.push({ name, node: { kind: 'content', content, date, since } })
  }
  if (await catalog.hasGeometry(id, ask)) {
    const name = nameGeometry({ id, title }, files)
    const content = { of: 'xyz', calculation: id, title: name as FileTitle } as const
    entries.push({ name, node: { kind: 'content', content, date, since } })
  }
  return entries
}
