// Control of `calcfs info` and `calcfs resolve`: what is known of a path, without a request where that is enough, and what it leads to.
import type { Readable } from '../../cache/metadata/catalog.js'
import { unlessAbsent, unlessFailure } from '../../failure.js'
import { fixedNames } from '../../layout.js'
import { recover } from '../../maybe-promise.js'
import { prettyBytes } from '../../record/json/print.js'
import type { Identity, ProjectId, RecordFacts, ServicePath } from '../../remote/remote.js'
import { isoText } from '../../system/time-text.js'
import type { ControlParts } from '../context.js'
import type { CallArgument, CallResult, KeptShare, PathInfo } from '../interface/control.js'
import { titlesIn } from '../nodes/name.js'
import { isEditable, type Node, nodeKey, thingOf } from '../nodes/node.js'
import { knownSubtree, type PlacedNode } from '../pins/subtree.js'
import { nodeAt } from './path-node.js'

export function openInfoControl(parts: ControlParts) {
  const { catalog, content, identities, pins, tree, until, writeSide, xattrs } = parts
  const { dialect } = writeSide.ports

  async function info({ path: given }: CallArgument<'info'>): Promise<PathInfo> {
    const { path, node: named } = await nodeAt(tree, given, until.metadata())
    const node = writeSide.meant(named)
    const found = { path, node }
    const isShare = node.kind === 'shares' || (node.kind === 'record' && node.of === 'share')
    const thing = isShare ? undefined : thingOf(node)
    const facts = thing === undefined ? undefined : await factsOf(thing)
    const identity = thing === undefined ? undefined : identities.known(thing)
    const { id, kind, draft, stale } = xattrs.all(path, node)
    return {
      path,
      kind,
      id,
      title: facts?.title ?? identity?.title,
      owner: facts?.owner ?? identity?.owner ?? (await ownerAbove(facts, identity)),
      created: dated(facts?.created ?? facts?.born ?? identity?.born),
      modified: dated(facts?.modified),
      web: webPathOf(found),
      size: await sizeOf(node),
      cached: await shareOf(found),
      pinned: pins.store.coverOf(node)?.path,
      draft,
      stale,
    }
  }

  /** Asked for only where it was never told. */
  async function factsOf(thing: Readable): Promise<RecordFacts | undefined> {
    const entry = catalog.record(thing)
    const record = entry.known() ?? (await recover(entry.ask(until.metadata()), unlessFailure))
    return record && dialect.facts(record)
  }

  /** Where a record does not say it, a project owns what lies in it. */
  async function ownerAbove(...said: readonly (Identity | undefined)[]): Promise<string | undefined> {
    const parent = said.find(one => one?.parent !== undefined)?.parent
    return parent === undefined
      ? undefined
      : (await factsOf({ kind: 'project', id: parent as ProjectId }))?.owner
  }

  function webPathOf({ path, node }: PlacedNode): string | undefined {
    if (node.kind === 'user') return `/${fixedNames.users}/${node.name}`
    const own = xattrs.all(path, node).path
    if (own !== undefined || node.kind === 'top') return own
    const isRecord = node.kind === 'record' && (node.of === 'project' || node.of === 'calculation')
    return isRecord && path.startsWith(`/${fixedNames.projects}/`)
      ? parts.roots.servicePath(titlesIn(path).slice(2, -1))
      : undefined
  }

  async function sizeOf(node: Node): Promise<number | undefined> {
    if (node.kind === 'content')
      return content.knownSize(node.content) ?? content.size(node.content, until.metadata())
    if (!isEditable(node)) return undefined
    const draft = writeSide.records.draftOf(nodeKey(node))
    if (draft !== undefined) return draft.size
    const thing = node.kind === 'record' && node.of !== 'share' ? thingOf(node) : undefined
    const known = thing && catalog.record(thing).known()
    return known && prettyBytes(known).length
  }

  /** Of a file its own bytes, of a directory those of all files that are known below it. */
  async function shareOf(found: PlacedNode): Promise<KeptShare | undefined> {
    const { contents, unlisted } = await knownSubtree(found, { tree, catalog, dialect, identities })
    if (contents.length === 0 && unlisted === 0) return undefined
    let [bytes, bytesKept, filesKept, begun] = [0, 0, 0, false]
    for (const one of contents) {
      const known = content.knownSize(one.content)
      const size = known ?? 0
      const share = known === 0 ? 1 : content.cached(one.content)
      bytes += size
      bytesKept += Math.floor(size * share)
      if (share === 1) filesKept += 1
      if (share > 0) begun = true
    }
    const files = contents.length
    const known = filesKept === files ? 'whole' : begun ? 'part' : 'not'
    // Of what was never listed something may be here, or all of it missing.
    const is = unlisted > 0 && known !== 'part' ? 'unknown' : known
    const share = { is, files, filesKept, bytes, bytesKept } as const
    return unlisted > 0 ? { ...share, unlisted } : share
  }

  /** Below `projects/` by the names that are shown there; a path of the web pages is asked for whole, for titles hold slashes. */
  async function resolve({ path }: CallArgument<'resolve'>): Promise<CallResult<'resolve'>> {
    const isTop = path === `/${fixedNames.projects}`
    // The top is known once it was listed.
    if (isTop) await tree.list(await tree.directory(path, until.metadata()), until.metadata())
    const service = isTop ? parts.roots.servicePath([]) : (path as ServicePath)
    if (service === undefined) return []
    if (service.startsWith(`/${fixedNames.users}/`)) {
      const project = await recover(catalog.project(service).ask(until.metadata()), unlessAbsent)
      const calculation = await recover(catalog.calculation(service).ask(until.metadata()), unlessAbsent)
      const found = [
        ...(project === undefined ? [] : [{ kind: 'project' as const, id: project }]),
        ...(calculation === undefined ? [] : [{ kind: 'calculation' as const, id: calculation }]),
      ]
      if (found.length > 0) return found
    }
    // A name of the drive may have escapes.
    const node = (await nodeAt(tree, path, until.metadata()).catch(unlessAbsent))?.node
    return node?.kind === 'project' || node?.kind === 'calculation' ? [{ kind: node.kind, id: node.id }] : []
  }

  return { info, resolve }
}

const dated = (at: number | undefined): string | undefined => (at === undefined ? undefined : isoText(at))
