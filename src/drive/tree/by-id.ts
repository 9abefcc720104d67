// Tree below by-id/: everything that has a number is reachable by it, even when nothing lists it.
import type { Catalog } from '../../cache/metadata/catalog.js'
import {
  type CalculationId,
  type Dialect,
  idForm,
  type ProjectId,
  type ReportId,
  type RequestContext,
} from '../../remote/remote.js'
import type { Dentry, Node } from '../nodes/node.js'
import type { AccessRights } from './access.js'

const idKinds = ['project', 'calculation', 'report'] as const
export type IdDirectory = (typeof idKinds)[number]

export const idDirectories: readonly Dentry[] = idKinds.map(of => ({
  name: of,
  node: { kind: 'number-room', of },
}))

/** The node of a number; the service is asked whether it exists. A report is a link to its file. */
export async function lookupById(
  { of, name }: { of: IdDirectory; name: string },
  { catalog, dialect, rights }: { catalog: Catalog; dialect: Dialect; rights: AccessRights },
  context: RequestContext,
): Promise<Node | undefined> {
  if (!idForm.test(name)) return undefined
  switch (of) {
    case 'project': {
      const id = name as ProjectId
      const [record] = await Promise.all([
        catalog.record({ kind: 'project', id }).ask(context),
        // What no listing of the caller's own names is a colleague's, and perhaps shared for reading only.
        catalog.parentOf(id) === undefined ? rights.meet(id, context) : undefined,
      ])
      const { born, title, created, modified } = dialect.facts(record)
      return { kind: 'project', id, title, born, date: modified ?? created, parent: catalog.parentOf(id) }
    }
    case 'calculation': {
      const id = name as CalculationId
      const { born, title, created, modified } = dialect.facts(
        await catalog.record({ kind: 'calculation', id }).ask(context),
      )
      return { kind: 'calculation', id, title: title ?? '', born, date: modified ?? created }
    }
    case 'report':
      await catalog.record({ kind: 'report', id: name as ReportId }).ask(context)
      return { kind: 'link', to: `../../reports/${name}.json` }
  }
}
