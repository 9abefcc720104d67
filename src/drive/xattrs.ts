// Extended attributes user.calcfs.*: answered from memory only, because `ls -l` and `cp` ask for every file.
import type { ContentCache } from '../cache/content/content.js'
import type { Catalog } from '../cache/metadata/catalog.js'
import { stateWord } from '../edit/journal/draft-meta.js'
import type { FailureLog } from './failure-log.js'
import type { Roots } from './names/roots.js'
import { titlesIn } from './nodes/name.js'
import { isEditable, type Node, nodeId, nodeKey, nodeKind, questionOf } from './nodes/node.js'
import type { Records } from './records/records.js'

interface XattrSources {
  readonly catalog: Catalog
  readonly content: ContentCache
  readonly records: Records
  readonly failureLog: FailureLog
  readonly roots: Roots
  readonly service: string
}

const below = '/projects/'

export function openXattrs(sources: XattrSources) {
  /** By their names behind `user.calcfs.`. */
  function all(path: string, node: Node) {
    const { catalog, content, failureLog, records } = sources
    const draft = isEditable(node) ? records.draftOf(nodeKey(node)) : undefined
    return {
      id: nodeId(node),
      kind: nodeKind(node),
      path: webPathOf(path, node),
      url: sources.service,
      cached: node.kind === 'content' ? String(Math.round(content.cached(node.content) * 100)) : undefined,
      draft: draft && stateWord(draft.meta),
      error: failureLog.why(path, nodeKey(node)),
      stale: staleFailure(node, catalog)?.message,
    }
  }

  function named(path: string, node: Node): Map<string, string> {
    const found = Object.entries(all(path, node))
    return new Map(
      found.flatMap(([name, text]) => (text === undefined ? [] : [[`user.calcfs.${name}`, text]])),
    )
  }

  /** As the platform's web pages show it; below by-id/ and reports/ none is known. */
  function webPathOf(path: string, node: Node): string | undefined {
    if (node.kind !== 'project' && node.kind !== 'calculation' && node.kind !== 'content') return undefined
    return path.startsWith(below) ? sources.roots.servicePath(titlesIn(path.slice(below.length))) : undefined
  }

  return {
    all,
    get: (path: string, node: Node, name: string): string | undefined => named(path, node).get(name),
    list: (path: string, node: Node): readonly string[] => [...named(path, node).keys()],
  }
}

export type Xattrs = ReturnType<typeof openXattrs>

function staleFailure(node: Node, catalog: Catalog) {
  switch (node.kind) {
    case 'project':
      return catalog.children(node.id).stale()
    case 'calculation':
      return catalog.files(node.id).stale()
    case 'record':
      return questionOf(catalog, node).stale()
    default:
      return undefined
  }
}
