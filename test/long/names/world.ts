// A service in memory that holds any title, lone surrogates included, and writes down what it was asked to store.
import { type Answer, said } from '../hostile/answer.js'
import type { Asked } from '../hostile/origin.js'

interface Thing {
  readonly id: string
  readonly kind: 'project' | 'calculation'
  readonly parent: string
  name: string
  /** Of a calculation: its files' titles. */
  readonly files: readonly string[]
}

export interface NamesWorld {
  add(thing: Omit<Thing, 'id' | 'files'> & { readonly files?: readonly string[] }): string
  /** The titles below a project, in the order in which they were made. */
  titlesBelow(id: string): readonly string[]
  answer(asked: Asked): Answer
}

/** What is in a file; no two titles share it. */
export const bytesOf = (title: string): string => `${JSON.stringify(title)}\n`

export function openNamesWorld(): NamesWorld {
  const things = new Map<string, Thing>()
  let newest = 1_000

  const below = (id: string, kind?: string | null): Thing[] =>
    [...things.values()].filter(thing => thing.parent === id && (kind == null || thing.kind === kind))
  const recordOf = ({ id, name, parent }: Thing): Record<string, unknown> => ({
    id: Number(id),
    name,
    description: 'd',
    parentId: Number(parent),
    creationDate: '2024-01-02T03:04:05Z',
  })
  const json = (value: unknown): Answer => said(200, JSON.stringify(value))
  const nothing = { ...said(404, '{}'), reason: 'Not Found' }

  function add(thing: Omit<Thing, 'id' | 'files'> & { readonly files?: readonly string[] }): string {
    newest += 1
    const id = String(newest)
    things.set(id, { files: [], ...thing, id })
    return id
  }

  function store({ method, body }: Asked): Answer {
    const record: { id?: number; name: string; parentId?: number } = JSON.parse(body)
    if (method === 'POST') {
      const id = add({ kind: 'project', parent: String(record.parentId ?? ''), name: record.name })
      return said(200, id)
    }
    const thing = things.get(String(record.id))
    if (thing === undefined) return nothing
    thing.name = record.name
    return said(200, '{}')
  }

  return {
    add,
    titlesBelow: id => below(id).map(({ name }) => name),
    answer(asked) {
      const { path, method, query } = asked
      const id = query.get('id') ?? ''
      if (path === '/login') return said(200, 'token', 'text/plain')
      if (method === 'POST' || method === 'PUT') return store(asked)
      const thing = things.get(id)
      switch (path) {
        case '/user/info':
          return json({ username: 'demo' })
        case '/project/share':
          return json([])
        case '/project/descendant':
          return json(below(id, query.get('type') ?? 'calculation').map(recordOf))
        case '/project':
        case '/calculation':
          return thing === undefined ? nothing : json(recordOf(thing))
        case '/calculation/files':
          return json(query.get('type') === 'cml' ? [] : (thing?.files ?? []))
        case '/calculation/files/bitstream': {
          const title = query.get('fileId') ?? ''
          return thing?.files.includes(title) === true ? said(200, bytesOf(title), 'text/plain') : nothing
        }
        default:
          return nothing
      }
    },
  }
}
