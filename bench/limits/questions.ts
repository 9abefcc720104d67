// Requests of a traversal of the REST interface, each as soon as the answer before it makes it known.
import type { RawClient } from './client.js'

/** A file, or the geometry that the service makes. */
export interface Item {
  readonly name: string
  /** Below the REST base. */
  readonly address: string
}

interface Listed {
  readonly id: number
  readonly name: string
}

export interface Questions {
  /** The id of a project by its path below the user's own; '' is the user's own. */
  resolve(path: string): Promise<number>
  /** Everything below a project; `each` is called for a file as soon as it is known, and waited for. */
  walk(project: number, wish: Wish): Promise<void>
}

export interface Wish {
  readonly each: (item: Item) => Promise<void>
  /** Request the record of every project and calculation as well. */
  readonly records: boolean
}

export function openQuestions(client: RawClient, listing: 'levels' | 'all'): Questions {
  const list = async (id: number, type: string, depth: string): Promise<readonly Listed[]> =>
    JSON.parse(await client.text(`project/descendant?id=${id}&type=${type}&depth=${depth}`)) as Listed[]

  async function byLevel(project: number, wish: Wish): Promise<void> {
    await Promise.all([
      recordOf('project', project, wish),
      list(project, 'project', '1').then(found => Promise.all(found.map(({ id }) => byLevel(id, wish)))),
      list(project, 'calculation', '1').then(found => Promise.all(found.map(it => inside(it, wish)))),
    ])
  }

  async function atOnce(project: number, wish: Wish): Promise<void> {
    await Promise.all([
      recordOf('project', project, wish),
      list(project, 'project', 'all').then(found =>
        Promise.all(found.map(({ id }) => recordOf('project', id, wish))),
      ),
      list(project, 'calculation', 'all').then(found => Promise.all(found.map(it => inside(it, wish)))),
    ])
  }

  async function inside({ id, name }: Listed, wish: Wish): Promise<void> {
    const files = client.text(`calculation/files?id=${id}&type=files`)
    await Promise.all([
      recordOf('calculation', id, wish),
      files.then(text => Promise.all(itemsOf({ id, name }, JSON.parse(text) as string[]).map(wish.each))),
    ])
  }

  async function recordOf(kind: 'project' | 'calculation', id: number, { records }: Wish): Promise<void> {
    if (records) await client.text(`${kind}?id=${id}`)
  }

  return {
    async resolve(path) {
      const whole = path === '' ? '/db/demo' : `/db/demo/${path}`
      const query = new URLSearchParams({ path: whole, type: 'project' })
      return Number(await client.text(`navigation/path/resolve?${query}`))
    },
    walk: (project, wish) => (listing === 'all' ? atOnce(project, wish) : byLevel(project, wish)),
  }
}

/** The drive shows a geometry wherever there is a CML file. */
function itemsOf({ id, name }: Listed, files: readonly string[]): readonly Item[] {
  const items = files.map(file => ({
    name: file,
    address: `calculation/files/bitstream?id=${id}&fileId=${encodeURIComponent(file)}`,
  }))
  if (!files.some(file => file.endsWith('.cml'))) return items
  return [...items, { name: `${name}.xyz`, address: `calculation/xyz?id=${id}&filename=${name}.xyz` }]
}
