// Tree of a calculation: its record, its files under their names, and the generated geometry.
import type { Catalog } from '../../cache/metadata/catalog.js'
import { type DerivedName, derivedKinds } from '../../content-kinds.js'
import { fixedNames } from '../../layout.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import { RecentMap } from '../../recent-map.js'
import type { FileTitle, RequestContext } from '../../remote/remote.js'
import { nameDerived, nameFiles } from '../nodes/name.js'
import { type CalculationNode, type Dentry, type Node, nodesByName } from '../nodes/node.js'
import type { DirectoryKind } from './directory-kind.js'
import type { Marks } from './identity-mark.js'

const foldersAtMost = 1024

/** The parts of a folder, and its entries; made again once a part is another. */
interface FolderListing {
  readonly titles: readonly FileTitle[]
  readonly derived: readonly DerivedName[]
  readonly entries: readonly Dentry[]
  readonly byName: ReadonlyMap<string, Node>
}

export function openCalculationKind(catalog: Catalog, marks: Marks): DirectoryKind<CalculationNode> {
  // A listing gives each calculation one node for as long as it counts, and may have a hundred thousand of them.
  const folders = new RecentMap<CalculationNode, FolderListing>(foldersAtMost)

  function folderOf(
    node: CalculationNode,
    mark: string,
    { titles, derived }: Pick<FolderListing, 'titles' | 'derived'>,
  ): FolderListing {
    const known = folders.get(node)
    if (known !== undefined && known.titles === titles && `${known.derived}` === `${derived}`) return known
    const all = entriesOf(node, { titles, derived, mark })
    const entries = catalog.lacks('calculation-record') ? all.slice(1) : all
    const folder = { titles, derived, entries, byName: nodesByName(entries) }
    folders.set(node, folder)
    return folder
  }

  function folderAt(node: CalculationNode, context: RequestContext): MaybePromise<FolderListing> {
    return chain(marks.of(node, context), mark =>
      chain(catalog.files(node.id).ask(context), titles =>
        chain(catalog.derived.of(node.id, titles, context), derived =>
          folderOf(node, mark, { titles, derived }),
        ),
      ),
    )
  }

  function knownFolder(node: CalculationNode): FolderListing | undefined {
    const mark = marks.known(node)
    const titles = catalog.files(node.id).known()
    if (mark === undefined || titles === undefined) return undefined
    return folderOf(node, mark, { titles, derived: catalog.derived.known(node.id, titles) })
  }

  return {
    list: (node, context) => chain(folderAt(node, context), ({ entries }) => entries),
    known: node => knownFolder(node)?.entries,
    lookup: (node, name, context) => chain(folderAt(node, context), ({ byName }) => byName.get(name)),
    refresh: ({ id }) => catalog.refreshCalculation(id),
  }
}

function entriesOf(
  { id, title, date, since, parent }: CalculationNode,
  { titles, derived, mark }: Pick<FolderListing, 'titles' | 'derived'> & { mark: string },
): readonly Dentry[] {
  const files = nameFiles(titles)
  const record = { kind: 'record', of: 'calculation', id, parent } as const
  const entries: Dentry[] = [{ name: fixedNames.calculation, node: record }]
  for (const [name, file] of files) {
    const content = { of: 'file', calculation: id, title: file as FileTitle, mark } as const
    entries.push({ name, node: { kind: 'content', content, date, since } })
  }
  for (const of of derived) {
    const name = nameDerived({ id, title }, derivedKinds[of].ending, files)
    const content = { of, calculation: id, title: name as FileTitle, mark } as const
    entries.push({ name, node: { kind: 'content', content, date, since } })
  }
  return entries
}
