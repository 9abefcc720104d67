// After each step: the drive and the service's database must both be what the model says.
import { outcome } from '../../testbed/testbed.js'
import { read } from '../actions/writing.js'
import { children, live, placeOf, reachable, type Stage, type Thing, titleOf } from '../stage.js'
import { away, type Content, cellsIn, type Kind, mark, printed, rowsOf, same } from './content.js'
import { childrenOf, rawField, reportsAfter, stored, storedText } from './database.js'
import { loaded } from './looking.js'
import { observe } from './shown.js'

/** `all`: every text is read; else those that may have changed, and some of the others in turn. */
export async function compare(stage: Stage, all?: 'all'): Promise<void> {
  compareService(stage)
  stage.turns += 1
  try {
    await compareDrive(stage, all)
  } catch (thrown) {
    // A rename by another client may become visible between a listing and a stat of its entry: once.
    if (!(thrown instanceof Error && thrown.message.includes('ENOENT'))) throw thrown
    await compareDrive(stage, all)
  }
}

async function compareDrive(stage: Stage, all: 'all' | undefined): Promise<void> {
  await compareDrafts(stage)
  await compareFolder(stage, stage.root)
  for (const [index, thing] of stage.things.entries()) {
    const isDue = all === 'all' || (index + stage.turns) % 4 === 0 || mayChange(thing)
    if (isDue) await compareRecord(stage, thing)
    if (isDue && thing.kind === 'report' && thing.truth !== undefined) await compareOrder(stage, thing)
  }
  await compareReports(stage)
}

const mayChange = ({ draft, order, record, isKnown }: Thing): boolean =>
  draft !== undefined || order !== undefined || record.past.length > 0 || !isKnown

/** The database has each thing as the model says, and no others. */
function compareService(stage: Stage): void {
  const { database } = stage.theatre
  for (const { kind, id, truth } of stage.things) {
    const has = stored(database, kind, id)
    if (!same(has, truth))
      throw new Error(`the service has ${kind} ${id} as ${printed(has)}, not ${printed(truth)}`)
  }
  for (const project of live(stage, 'project')) {
    for (const kind of ['project', 'calculation', 'share'] as const) {
      expectIds(
        `the service: each ${kind} in project ${project.id}`,
        childrenOf(database, kind, project.id),
        of(stage, kind, project),
      )
    }
  }
  const reports = stage.things.filter(({ kind }) => kind === 'report')
  const [first] = reports
  if (first !== undefined)
    expectIds(
      'the reports of the service',
      reportsAfter(database, String(BigInt(first.id) - 1n)),
      of(stage, 'report', undefined),
    )
  const text =
    first === undefined || first.truth === undefined ? undefined : storedText(database, 'report', first.id)
  if (text !== undefined && rawField(text, 'serial') !== '12345678901234567890')
    throw new Error(`the service has lost a digit of ${text}`)
}

const of = (stage: Stage, kind: Kind, parent: Thing | undefined): string[] =>
  live(stage, kind)
    .filter(thing => thing.parent === parent)
    .map(({ id }) => id)

function expectIds(what: string, found: readonly string[], wanted: readonly string[]): void {
  const sorted = [...wanted].sort()
  if (!same([...found].sort(), sorted)) throw new Error(`${what}: ${printed(found)}, not ${printed(sorted)}`)
}

/** What waits is listed, each with its why, and nothing else is. */
async function compareDrafts(stage: Stage): Promise<void> {
  const { files } = stage.theatre.testbed
  const listed = [...(await files.readdir('.calcfs/drafts')).keys()]
    .filter(name => !name.includes('.theirs.'))
    .sort()
  const names = draftsOf(stage)
  const wanted = names.flatMap(name => [name, `${name}.why`]).sort()
  if (!same(listed, wanted)) throw new Error(`the drafts are ${printed(listed)}, not ${printed(wanted)}`)
  for (const [name, { draft }] of stage.slots) {
    if (draft === undefined) continue
    const text = await read(stage, `.calcfs/drafts/${name}`)
    if (text !== draft) throw new Error(`the draft ${name} is ${text}, not ${draft}`)
  }
}

export function draftsOf(stage: Stage): string[] {
  return [
    ...stage.things.filter(({ draft }) => draft !== undefined).map(draftName),
    ...stage.things.filter(({ order }) => order !== undefined).map(({ id }) => `${id}-order.txt`),
    ...[...stage.slots].filter(([, { draft }]) => draft !== undefined).map(([name]) => name),
  ]
}

export const draftName = ({ kind, id }: Thing): string =>
  kind === 'report' ? `${id}.json` : `${kind}-${id}.json`

/** The backup is there where an edit renamed its project: its editor removes it by the old path. */
const own = ['.project.json', '.index.tsv', '.shares', '.project.json~'] as const

/** A project's folder, and those in it, show their children under names that lead to them. */
async function compareFolder(stage: Stage, project: Thing): Promise<void> {
  const { files } = stage.theatre.testbed
  const place = placeOf(project)
  const end = await outcome(files.readdir(place))
  if (!stage.isUp && !project.isFolderKnown && away.some(one => one === end)) return
  const names = [...(await files.readdir(place)).keys()].filter(name => !own.some(known => known === name))
  const shares = [...(await files.readdir(`${place}/.shares`)).keys()]
  project.isFolderKnown = true
  const listed = [
    ...names.map(name => `${place}/${name}`),
    ...shares.filter(isShare).map(name => `${place}/.shares/${name}`),
  ]
  const found = new Map<Thing, string>()
  for (const path of listed) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    const child = stage.things.find(thing => thing.parent === project && isNamed(thing, name))
    if (child === undefined) throw new Error(`${path} is nothing of the model's`)
    found.set(child, path.slice(path.lastIndexOf('/') + 1))
  }
  for (const child of stage.things.filter(({ parent }) => parent === project)) {
    child.isListed = found.has(child)
    child.name = found.get(child) ?? child.name
  }
  for (const kind of children) {
    const shown = [...found].filter(([thing]) => thing.kind === kind)
    const value = printed(shown.map(([thing, name]) => (kind === 'share' ? thing.id : titleOf(name))).sort())
    observe(`the ${kind}s in ${place}`, project.listings[kind], value, stage)
  }
  for (const child of stage.things) {
    if (child.parent !== project || child.truth === undefined) continue
    if (child.written !== undefined) await files.lstat(`${place}/${child.written}`)
    if (child.kind === 'project' && child.isListed) await compareFolder(stage, child)
  }
}

const isShare = (name: string): boolean => /^\d+\.json$/.test(name)
/** No two things of a sequence ever have the same name. */
const isNamed = ({ kind, id, names }: Thing, name: string): boolean =>
  kind === 'share' ? name === `${id}.json` : names.has(titleOf(name))

async function compareRecord(stage: Stage, thing: Thing): Promise<void> {
  const isGoneReport = thing.kind === 'report' && thing.truth === undefined && thing.draft === undefined
  if (thing !== stage.root && !isGoneReport && !reachable(stage, thing.kind).includes(thing)) return
  await loaded(stage, thing)
}

async function compareOrder(stage: Stage, report: Thing): Promise<void> {
  const text = await read(stage, `reports/${report.id}/order.txt`)
  if (report.order !== undefined && report.order.text !== text)
    throw new Error(`order.txt of ${report.id} shows ${mark(text)} and not its draft`)
  if (report.order === undefined) seeOrder(report, text)
}

/** The lines are of this list, with its titles. */
export const isShownBy = (text: string, content: Content): boolean =>
  same(
    rowsOf(content).map(({ calculation, title }) => [calculation, title ?? '']),
    cellsIn(text).map(cells => cells.slice(0, 2)),
  )

/** A read of the order has seen the record that it is made from. */
function seeOrder(report: Thing, text: string): void {
  const { now, past } = report.record
  const records = [now, ...past.map(({ value }) => value)].filter(value => value.startsWith('{'))
  const contents = records.map(value => JSON.parse(value) as Content)
  const seen = contents.filter(content => isShownBy(text, content))
  if (seen.length === 0) throw new Error(`order.txt of ${report.id} shows ${text}`)
  report.hasRead = true
  report.met.push(...seen)
}

/** Each live report that was opened is listed, and nothing that was never made. */
async function compareReports(stage: Stage): Promise<void> {
  const names = await stage.theatre.testbed.files.readdir('reports')
  for (const report of live(stage, 'report'))
    if (!names.has(`${report.id}.json`)) throw new Error(`reports/ does not list ${report.id}.json`)
  for (const name of names.keys()) {
    const isKnown =
      /^(\d+(\.json)?|INDEX\.tsv|README\.txt|by-name)$/.test(name) ||
      stage.slots.get(name)?.draft !== undefined
    if (!isKnown) throw new Error(`reports/ lists ${name}, which was never made`)
  }
}
