// Resolves a path of the platform's web pages, `/db/<user>/<project>/…/<calculation>`, to an id.
import { userByName } from '../people/users.js'
import type { Store } from '../store/store.js'
import { nameKey, rootOf } from './projects.js'

export interface Question {
  readonly path: string
  readonly type: 'project' | 'calculation'
}

/** The id of the thing at a path; undefined if there is none. Among equal names the lowest id counts. */
export function idAt(store: Store, query: Question): string | undefined {
  const [empty, db, user, ...names] = segments(query.path)
  if (empty !== '' || db !== 'db' || user === undefined) return undefined
  const owner = userByName(store, user)
  if (owner === undefined || owner.name !== user) return undefined
  const root = rootOf(store, owner.id)
  const found = descend(store, { from: root, names, type: query.type })
  if (found !== undefined || names.at(-1) !== '') return found
  return descend(store, { from: root, names: names.slice(0, -1), type: query.type })
}

const separator = '/'
const segments = (path: string): readonly string[] => path.split(separator)

interface Step {
  readonly from: string
  readonly names: readonly string[]
  readonly type: Question['type']
}

// A name may hold a slash: several path segments may be one name, so every way to join them is tried.
function descend(store: Store, { from, names, type }: Step): string | undefined {
  if (names.length === 0) return type === 'project' ? from : undefined
  if (type === 'calculation') {
    const found = childNamed(store, 'calculation', from, names.join(separator))[0]
    if (found !== undefined) return found
  }
  for (let taken = 1; taken <= names.length; taken += 1) {
    for (const child of childNamed(store, 'project', from, names.slice(0, taken).join(separator))) {
      const found = descend(store, { from: child, names: names.slice(taken), type })
      if (found !== undefined) return found
    }
  }
  return undefined
}

function childNamed(
  store: Store,
  kind: 'project' | 'calculation',
  parent: string,
  name: string,
): readonly string[] {
  const column = kind === 'project' ? 'parent' : 'project'
  return store
    .all<{ id: string }>(
      `SELECT CAST(id AS TEXT) AS id FROM ${kind} WHERE ${column} = ? AND name = ? ORDER BY ${kind}.id`,
      parent,
      nameKey(name),
    )
    .map(row => row.id)
}
