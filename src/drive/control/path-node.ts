// Node of a path that a command names: links are followed, and what is known is found without a request.
import { posix } from 'node:path'
import { unlessFailure } from '../../failure.js'
import { fixedNames, idOfRecordFile } from '../../layout.js'
import { idForm, type ReportId, type RequestContext } from '../../remote/remote.js'
import { type EditableNode, isDirectory, isEditable, nodeIn, recordOf } from '../nodes/node.js'
import { pathOf, placeBehindLinks } from '../nodes/place.js'
import type { PlacedNode } from '../pins/subtree.js'
import type { Tree } from '../tree/tree.js'

/** The node, and the path at which it is found once all links were followed. A name that the last listings tell needs no request. @throws Failure 'absent' */
export async function nodeAt(tree: Tree, path: string, context: RequestContext): Promise<PlacedNode> {
  const place = await placeBehindLinks(path, name => {
    const { node } = name.parent
    const known = isDirectory(node) ? nodeIn(tree.listKnown(node) ?? [], name.name) : undefined
    return known ?? tree.child(name, context)
  })
  return { path: pathOf(place), node: place.node }
}

/** The same place without links on the way to its last name, as the drive's failures are noted; as it was given where that is nowhere. */
export async function placeOf(tree: Tree, path: string, context: RequestContext): Promise<string> {
  const given = path.replace(/(?<=.)\/+$/, '')
  if (given === '/') return given
  const above = await nodeAt(tree, posix.dirname(given), context).catch(unlessFailure)
  return above === undefined ? given : posix.join(above.path, posix.basename(given))
}

/**
 * The record that stands at the path, or is that of the directory there; undefined where there is neither. A report that is gone
 * is found still: it may have a history, or a draft. @throws Failure 'absent'
 */
export async function recordNodeAt(
  tree: Tree,
  path: string,
  context: RequestContext,
): Promise<EditableNode | undefined> {
  const report = reportAt(path)
  if (report !== undefined) return report
  const { node } = await nodeAt(tree, path, context)
  return isEditable(node) ? node : recordOf(node)
}

/** Of a report the path says all, and no question is needed. */
function reportAt(path: string): EditableNode | undefined {
  const [top, name = '', inner, ...rest] = path.split('/').slice(1)
  if (top !== fixedNames.reports || rest.length > 0) return undefined
  const id = inner === undefined ? (idOfRecordFile(name) ?? name) : name
  if (!idForm.test(id)) return undefined
  if (inner === undefined) return { kind: 'record', of: 'report', id: id as ReportId }
  return inner === fixedNames.order ? { kind: 'order', of: 'report', id: id as ReportId } : undefined
}
