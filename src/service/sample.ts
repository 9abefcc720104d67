// The sample shipped with the service: real calculations, read from a folder with a manifest.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { permissions } from './people/rights.js'
import type { FileSeed, Seed } from './seed.js'

/** The names from the top of the owner's space down; a list, for a name may hold a slash. */
const path = z.array(z.string()).min(1)
const described = { owner: z.string(), description: z.string() }

const manifestShape = z.strictObject({
  users: z.array(z.strictObject({ name: z.string(), password: z.string(), email: z.string() })),
  projects: z.array(z.strictObject({ ...described, path })),
  calculations: z.array(
    z.strictObject({ ...described, project: path, name: z.string(), type: z.string(), dir: z.string() }),
  ),
  reports: z.array(
    z.strictObject({
      ...described,
      name: z.string(),
      title: z.string(),
      type: z.enum(['Supporting information', 'Reaction energy profile', 'Reaction Graph']),
      configuration: z.string(),
      calculations: z.array(z.strictObject({ owner: z.string(), path, title: z.string() })),
    }),
  ),
  shares: z.array(
    z.strictObject({ owner: z.string(), project: path, user: z.string(), permission: z.enum(permissions) }),
  ),
})
type Manifest = z.infer<typeof manifestShape>

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

/**
 * Loads the sample of a folder into a service: all of it or nothing.
 * @throws Error that says in one sentence what is wrong with the sample
 */
export function loadSample(seed: Seed, directory: string = sampleDirectory()): void {
  const manifest = readManifest(join(directory, 'manifest.json'))
  seed.together(() => {
    for (const user of manifest.users) seed.addUser(user)
    const projects = addProjects(seed, manifest)
    const calculations = addCalculations(seed, manifest, { projects, directory })
    for (const { owner, project, ...share } of manifest.shares) {
      seed.addShare({ project: known(projects, owner, project), ...share })
    }
    for (const { calculations: list, type, ...report } of manifest.reports) {
      const rows = list.map(({ owner, path, title }) => ({ id: known(calculations, owner, path), title }))
      seed.addReport({ ...report, type: typeIds[type], calculations: rows })
    }
  })
}

/** The users of the shipped sample. */
export function sampleUsers(): readonly { readonly name: string; readonly password: string }[] {
  return readManifest(join(sampleDirectory(), 'manifest.json')).users
}

function readManifest(file: string): Manifest {
  const read = manifestShape.safeParse(JSON.parse(readFileSync(file, 'utf8')))
  if (read.success) return read.data
  const [first] = read.error.issues
  throw new Error(`${file} is not a sample: ${first?.path.join('.')}: ${first?.message}`)
}

/** Ids by owner and path, for projects and calculations apart: one of each may share a name. */
type Ids = ReadonlyMap<string, string>
const key = (owner: string, path: readonly string[]): string => JSON.stringify([owner, ...path])

function known(ids: Ids, owner: string, path: readonly string[]): string {
  const id = ids.get(key(owner, path))
  if (id === undefined) throw new Error(`the sample mentions ${key(owner, path)}, which it does not hold`)
  return id
}

/** Parents first, as the manifest lists them. */
function addProjects(seed: Seed, { projects }: Manifest): Ids {
  const ids = new Map<string, string>()
  for (const { owner, path, description } of projects) {
    const above = path.slice(0, -1)
    const parent = above.length === 0 ? seed.rootOf(owner) : known(ids, owner, above)
    const [name = ''] = path.slice(-1)
    ids.set(key(owner, path), seed.addProject({ name, owner, parent, description }))
  }
  return ids
}

interface Place {
  readonly projects: Ids
  readonly directory: string
}

function addCalculations(seed: Seed, { calculations }: Manifest, { projects, directory }: Place): Ids {
  const ids = new Map<string, string>()
  for (const { owner, project, dir, ...calculation } of calculations) {
    const folder = join(directory, dir)
    const names = readdirSync(folder).sort()
    const files = Object.fromEntries(
      names.map((name): [string, FileSeed] => [name, readFileSync(join(folder, name))]),
    )
    const id = seed.addCalculation({ project: known(projects, owner, project), files, ...calculation })
    ids.set(key(owner, [...project, calculation.name]), id)
  }
  return ids
}
