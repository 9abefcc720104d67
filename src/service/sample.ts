// The sample shipped with the service: real calculations, read from a folder with a manifest.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Permission } from './people/rights.js'
import type { Seed } from './seed.js'

/** The names from the top of the owner's space down; a list, for a name may hold a slash. */
type Path = readonly string[]

type Owned<Fields> = Fields & { readonly owner: string; readonly description: string }

interface Manifest {
  readonly users: readonly { readonly name: string; readonly password: string; readonly email: string }[]
  readonly projects: readonly Owned<{ readonly path: Path }>[]
  readonly calculations: readonly Owned<{
    readonly project: Path
    readonly name: string
    readonly type: string
    readonly dir: string
  }>[]
  readonly reports: readonly Owned<{
    readonly name: string
    readonly title: string
    readonly type: keyof typeof typeIds
    readonly configuration: string
    readonly calculations: readonly { readonly owner: string; readonly path: Path; readonly title: string }[]
  }>[]
  readonly shares: readonly {
    readonly owner: string
    readonly project: Path
    readonly user: string
    readonly permission: Permission
  }[]
}

const typeIds = {
  'Supporting information': '1',
  'Reaction energy profile': '2',
  'Reaction Graph': '3',
} as const

/** The path of the shipped sample: in the package, whether this runs from its modules or bundled. */
export function sampleDirectory(): string {
  let at = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(at, 'package.json'))) {
    if (at === dirname(at)) throw new Error('the package that the sample is shipped in is not found')
    at = dirname(at)
  }
  return join(at, 'src', 'service', 'sample', 'data')
}

/** All of it or nothing. @throws Error that says in one sentence what is wrong with the sample */
export function loadSample(seed: Seed, directory: string = sampleDirectory()): void {
  const manifest = readManifest(directory)
  const projects = new Map<string, string>()
  const calculations = new Map<string, string>()
  seed.together(() => {
    for (const user of manifest.users) seed.addUser(user)
    // Parents first, as the manifest lists them.
    for (const { owner, path, description } of manifest.projects) {
      const above = path.slice(0, -1)
      const parent = above.length === 0 ? seed.rootOf(owner) : known(projects, owner, above)
      const [name = ''] = path.slice(-1)
      projects.set(key(owner, path), seed.addProject({ name, owner, parent, description }))
    }
    for (const { owner, project, dir, ...calculation } of manifest.calculations) {
      const names = readdirSync(join(directory, dir)).sort()
      const files = Object.fromEntries(names.map(name => [name, readFileSync(join(directory, dir, name))]))
      const id = seed.addCalculation({ project: known(projects, owner, project), files, ...calculation })
      calculations.set(key(owner, [...project, calculation.name]), id)
    }
    for (const { owner, project, ...share } of manifest.shares)
      seed.addShare({ project: known(projects, owner, project), ...share })
    for (const { calculations: list, type, ...report } of manifest.reports) {
      const rows = list.map(({ owner, path, title }) => ({ id: known(calculations, owner, path), title }))
      seed.addReport({ ...report, type: typeIds[type], calculations: rows })
    }
  })
}

export function sampleUsers(): readonly { readonly name: string; readonly password: string }[] {
  return readManifest(sampleDirectory()).users
}

const readManifest = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'))

/** Ids by owner and path, for projects and calculations apart: one of each may share a name. */
type Ids = ReadonlyMap<string, string>
const key = (owner: string, path: readonly string[]): string => JSON.stringify([owner, ...path])

function known(ids: Ids, owner: string, path: readonly string[]): string {
  const id = ids.get(key(owner, path))
  if (id === undefined) throw new Error(`the sample mentions ${key(owner, path)}, which it does not hold`)
  return id
}
