// Meant project: whether a project's number still stands for the project that a path meant.
import type { Identities } from '../../cache/identity.js'
import { Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import { type Dialect, type Instant, isSameMoment } from '../../remote/remote.js'
import { isSameName } from '../../spelling.js'
import type { NamedNode } from '../names/name-aliases.js'
import type { ProjectNode } from '../nodes/node.js'

/** Milliseconds after a number was found to stand for another project in which that one is not meant: its name may be the same. */
const newThingMs = 10_000

/**
 * Watches from now on what the number stands for.
 * @returns what throws a Failure 'another-thing' where that has changed since, or shortly before
 */
export function watchNumber(
  node: ProjectNode,
  { identities, now }: { readonly identities: Pick<Identities, 'changeOf'>; readonly now: () => Instant },
): (path: string, notDone: string) => void {
  const before = identities.changeOf(node)
  return (path, notDone) => {
    const change = identities.changeOf(node)
    if (change === before && (change === undefined || now() - change.at >= newThingMs)) return
    throw new Failure('another-thing', `${path}: its number stands for another project now: ${notDone}`)
  }
}

/** Whether the record is of another name or date than the listing that showed the node said. */
export function isOtherRecord(node: NamedNode, record: JsonObject, dialect: Pick<Dialect, 'facts'>): boolean {
  const { title, born } = dialect.facts(record)
  const isSame = node.born === undefined || born === undefined || isSameMoment(node.born, born, 'loosely')
  return !isSameName(node.title, title) || !isSame
}
