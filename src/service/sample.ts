// The sample that is shipped with the service: real calculations, read from a folder with a manifest.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { permissions } from './rights.js'
import type { FileSeed, Seed } from './seed.js'

const manifestShape = z.strictObject({
  users: z.array(z.strictObject({ name: z.string(), password: z.string(), email: z.string() })),
  projects: z.array(
    z.strictObject({
      path: z.string(),
      description: z.string(),
      owner: z.string(),
      fields: z.looseObject({}).optional(),
    }),
  ),
  calculations: z.array(
    z.strictObject({
      project: z.string(),
      name: z.string(),
      type: z.string(),
      description: z.string(),
      dir: z.string(),
    }),
  ),
  reports: z.array(
    z.strictObject({
      name: z.string(),
      title: z.string(),
      description: z.string(),
      type: z.union([z.string(), z.number()]),
      configuration: z.string(),
      owner: z.string().optional(),
      calculations: z.array(z.strictObject({ path: z.string(), title: z.string() })),
    }),
  ),
  shares: z.array(z.strictObject({ project: z.string(), user: z.string(), permission: z.enum(permissions) })),
})
type Manifest = z.infer<typeof manifestShape>

const typeNames: Readonly<Record<string, string>> = {
  'supporting information': '1',
  'reaction energy profile': '2',
  'reaction graph': '3',
}

/** Where the shipped sample lies: in the package, whether this runs from `src` or from `dist/src`. */
export function sampleDirectory(): string {
  let at = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(at, 'package.json'))) {
    if (at === dirname(at)) throw new Error('the package of the sample is not found')
    at = dirname(at)
  }
  return join(at, 'src', 'service', 'sample', 'data')
}

/**
 * Puts the sample of a folder into a service, in one transaction.
 * @throws Error if the manifest is missing or is not what it should be
 */
export function loadSample(seed: Seed, directory: string = sampleDirectory()): void {
  const manifest = manifestShape.parse(JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8')))
  seed.together(() => {
    for (const user of manifest.users) seed.addUser(user)
    const projects = addProjects(seed, manifest)
    const calculations = addCalculations(seed, manifest, { directory, projects })
    for (const { project, ...share } of manifest.shares) {
      seed.addShare({ project: known(projects, project), ...share })
    }
    for (const report of manifest.reports)
      addReport(seed, { report, calculations, owner: firstUser(manifest) })
  })
}

function firstUser({ users }: Manifest): string {
  const [first] = users
  if (first === undefined) throw new Error('the sample has no user')
  return first.name
}

type Ids = ReadonlyMap<string, string>

function known(ids: Ids, path: string): string {
  const id = ids.get(path)
  if (id === undefined) throw new Error(`the sample speaks of "${path}", which it does not hold`)
  return id
}

/** Parents first, as the manifest lists them. */
function addProjects(seed: Seed, { projects }: Manifest): Ids {
  const ids = new Map<string, string>()
  for (const { path, description, owner, fields } of projects) {
    const cut = path.lastIndexOf('/')
    const parent = cut < 0 ? seed.rootOf(owner) : known(ids, path.slice(0, cut))
    const extra = fields === undefined ? {} : { fields: JSON.stringify(fields) }
    ids.set(path, seed.addProject({ name: path.slice(cut + 1), owner, parent, description, ...extra }))
  }
  return ids
}

function addCalculations(
  seed: Seed,
  { calculations }: Manifest,
  { directory, projects }: { directory: string; projects: Ids },
): Ids {
  const ids = new Map<string, string>()
  for (const { project, dir, ...calculation } of calculations) {
    const folder = join(directory, dir)
    const files: Record<string, FileSeed> = {}
    for (const name of readdirSync(folder).sort()) files[name] = { path: join(folder, name) }
    const id = seed.addCalculation({ project: known(projects, project), files, ...calculation })
    ids.set(`${project}/${calculation.name}`, id)
  }
  return ids
}

interface ReportJob {
  readonly report: Manifest['reports'][number]
  readonly calculations: Ids
  readonly owner: string
}

function addReport(seed: Seed, { report, calculations, owner }: ReportJob): void {
  const type = String(report.type)
  seed.addReport({
    ...report,
    owner: report.owner ?? owner,
    type: typeNames[type.toLowerCase()] ?? type,
    calculations: report.calculations.map(({ path, title }) => ({ id: known(calculations, path), title })),
  })
}
