// Tree below by-id/: every thing by its number; nothing is listed.
import type { Readable } from '../../cache/metadata/catalog.js'
import { fixedNames, recordFile } from '../../layout.js'
import { idForm, type RequestContext } from '../../remote/remote.js'
import type { Dentry, Node } from '../nodes/node.js'
import { type DirectoryKinds, knownHere, type TreeSources } from './directory-kind.js'

const rooms: readonly Dentry[] = (['project', 'calculation', 'report'] as const).map(of => ({
  name: of,
  node: { kind: 'number-room', of },
}))

export function openNumberKinds(sources: TreeSources): Pick<DirectoryKinds, 'numbers' | 'number-room'> {
  const { catalog, dialect, rights } = sources

  /** The service is asked whether it exists. A report is a link to its file. */
  async function lookup(thing: Readable, context: RequestContext): Promise<Node | undefined> {
    if (!idForm.test(thing.id)) return undefined
    const isUnlisted = thing.kind === 'project' && catalog.parentOf(thing.id) === undefined
    const [record] = await Promise.all([
      catalog.record(thing).ask(context),
      // A project in no listing of the caller's own is a colleague's, and perhaps shared for reading only.
      isUnlisted ? rights.meet(thing.id, context) : undefined,
    ])
    if (thing.kind === 'report')
      return { kind: 'link', to: `../../${fixedNames.reports}/${recordFile(thing.id)}` }
    const { born, title, created, modified } = dialect.facts(record)
    const date = modified ?? created
    return thing.kind === 'project'
      ? { ...thing, title, born, date, parent: catalog.parentOf(thing.id) }
      : { ...thing, title: title ?? '', born, date }
  }

  return {
    numbers: knownHere(() => rooms),
    'number-room': {
      list: () => [],
      lookup: ({ of }, name, context) => lookup({ kind: of, id: name } as Readable, context),
    },
  }
}
