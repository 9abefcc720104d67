// Where one sequence is played: its own projects, calculations and reports on a shared ground, and the model of them.
import { openStore, type Store } from '../../src/service/store/store.js'
import { inProcess } from '../testbed/in-process.js'
import { cml, opaque } from '../testbed/sample-data.js'
import type { Testbed, TestLifetime } from '../testbed/testbed.js'
import { type Content, type Kind, printed } from './expected/content.js'
import { stored } from './expected/database.js'
import { type Shown, shown } from './expected/shown.js'

/** What lies in a project. */
export const children = ['project', 'calculation', 'share'] as const
export type Child = (typeof children)[number]

export type Access = 'edit' | 'manage'

/** A ground on which many sequences are played one after another. */
export interface Theatre {
  readonly testbed: Testbed
  readonly access: Access
  readonly database: Store
  played: number
}

/** A text that waits: what is in the file, and its writer's base. */
export interface Draft {
  text: string
  /** The last text of it that was JSON. */
  json: string
  base: Content
  /** What else the drive may have taken for its base, which stays that while it waits. */
  others?: readonly Content[] | undefined
}

/** A record, and with it the thing it is the record of. */
export interface Thing {
  readonly kind: Kind
  readonly id: string
  /** What the service has; undefined where it is gone. */
  truth: Content | undefined
  readonly record: Shown
  /** Projects only: what their listings show. */
  readonly listings: Readonly<Record<Child, Shown>>
  readonly parent: Thing | undefined
  /** Whether the drive shows it in its place, as seen last; a report is found by its number. */
  isListed: boolean
  /** The name under which the parent lists it, as seen last. */
  name: string
  /** Every name that the service ever had it under. */
  readonly names: Set<string>
  /** The name under which this mount has made or renamed it: it answers until the mount ends. */
  written: string | undefined
  draft: Draft | undefined
  /** Reports: the text of `order.txt` that waits. */
  order: Draft | undefined
  /** Texts that were shown or saved, and from which on it was after this mount's last save. */
  readonly met: Content[]
  metSince: number
  /** Whether the drive has shown its record, and for a project its folder, before. */
  isKnown: boolean
  isFolderKnown: boolean
  /** Whether a program has read the record since that save. */
  hasRead: boolean
  madeHere: boolean
}

/** A file `new*.json`: the draft that it is, or what it has made. */
export interface Slot {
  draft: string | undefined
  thing: Thing | undefined
}

export interface Stage {
  readonly theatre: Theatre
  readonly number: number
  readonly root: Thing
  readonly things: Thing[]
  /** By the name that its draft has, or would have. */
  readonly slots: Map<string, Slot>
  /** Milliseconds that have passed by `pass`. */
  clock: number
  /** A calculation that was removed and is in its pause. */
  waiting: Thing | undefined
  isUp: boolean
  /** How many comparisons there were. */
  turns: number
  /** Makes every text unlike any other. */
  counter: number
}

export const people = ['ada', 'ben', 'cleo', 'dora'] as const

export async function openTheatre(t: TestLifetime, access: Access): Promise<Theatre> {
  const testbed = await inProcess(t, {
    fill(seed) {
      for (const name of people) seed.addUser({ name, password: name })
    },
    settings: { access, deadlineMetadata: '200s', deadlineSave: '400s' },
    speedup: 20,
  })
  const database = openStore(testbed.service.database)
  t.teardown(() => database.close())
  return { testbed, access, database, played: 0 }
}

/** Another text than any before. */
export const fresh = (stage: Stage, word: string): string => `${word} ${stage.number}.${stage.counter++}`

export const live = (stage: Stage, kind: Kind): Thing[] =>
  stage.things.filter(thing => thing.kind === kind && thing.truth !== undefined)

/** A thing of this kind by a number that always means one of those there are. */
export function pick(things: readonly Thing[], at: number): Thing | undefined {
  return things[at % Math.max(1, things.length)]
}

export const calculationsOf = (stage: Stage): ReadonlySet<string> =>
  new Set(live(stage, 'calculation').map(({ id }) => id))

/** What a file name says; the names that are tried need one escape only. */
export const titleOf = (name: string): string => name.replaceAll('%2F', '/')

/** The directory of a project or a calculation. */
export const placeOf = (thing: Thing): string =>
  thing.parent === undefined ? `projects/${thing.name}` : `${placeOf(thing.parent)}/${thing.name}`

export function fileOf(thing: Thing): string {
  switch (thing.kind) {
    case 'report':
      return `reports/${thing.id}.json`
    case 'share':
      return `${thing.parent === undefined ? '' : placeOf(thing.parent)}/.shares/${thing.id}.json`
    default:
      return `${placeOf(thing)}/.${thing.kind}.json`
  }
}

/** What the listings of a project are, from the truth of its children. */
export function listingOf(stage: Stage, project: Thing, kind: Child): string {
  const there = live(stage, kind).filter(({ parent }) => parent === project)
  return printed(there.map(({ id, truth }) => (kind === 'share' ? id : String(truth?.['name']))).sort())
}

/** Things of this kind that exist and that the drive shows. */
export const reachable = (stage: Stage, kind: Kind): Thing[] =>
  live(stage, kind).filter(thing => isShown(thing) && thing !== stage.root)

const isShown = ({ isListed, parent }: Thing): boolean =>
  isListed && (parent === undefined || isShown(parent))

/** A thing that the service has just now, with what it says of itself. */
export function thingOf(
  theatre: Theatre,
  kind: Kind,
  { id, parent, name }: { id: string; parent: Thing | undefined; name: string },
): Thing {
  const truth = stored(theatre.database, kind, id)
  if (truth === undefined) throw new Error(`the service has no ${kind} ${id}`)
  return {
    kind,
    id,
    truth,
    record: shown(printed(truth)),
    listings: { project: shown('[]'), calculation: shown('[]'), share: shown('[]') },
    isListed: kind === 'report',
    parent,
    name,
    names: new Set([String(truth['name'])]),
    written: undefined,
    draft: undefined,
    order: undefined,
    met: [truth],
    metSince: 0,
    hasRead: true,
    isKnown: false,
    isFolderKnown: false,
    madeHere: false,
  }
}

/** A fresh set of things: a project with a sub-project and three calculations, a share, a report and an energy profile. */
export async function openStage(theatre: Theatre): Promise<Stage> {
  const number = theatre.played++
  const { seed } = theatre.testbed.service
  const name = `M${number}`
  const owner = 'demo'
  const project = seed.addProject({ name, owner })
  const sub = seed.addProject({ name: `Sub ${number}`, owner, parent: project })
  const files = { 'input.inp': '! opt\n', 'output.cml': cml }
  const calculations = ['One', 'Two', 'Three'].map(title =>
    seed.addCalculation({ name: `${title} ${number}`, project, files }),
  )
  const rows = calculations.map((id, at) => (at === 2 ? { id } : { id, title: `Row ${at}` }))
  const texts = { owner, calculations: rows }
  const report = seed.addReport({ ...texts, name: `R${number}`, fields: opaque })
  const profile = seed.addReport({
    ...texts,
    name: `P${number}`,
    type: '2',
    configuration: 'c1\nc1+c2',
    calculations: rows.slice(0, 2),
  })
  const share = seed.addShare({ project, user: people[0], permission: 'READ' })

  const root = thingOf(theatre, 'project', { id: project, parent: undefined, name })
  const add = (kind: Kind, id: string, parent: Thing | undefined): Thing => {
    const thing = thingOf(theatre, kind, { id, parent, name: '' })
    thing.name = String(thing.truth?.['name'])
    return thing
  }
  const stage: Stage = {
    theatre,
    number,
    root,
    things: [
      root,
      add('project', sub, root),
      ...calculations.map(id => add('calculation', id, root)),
      add('report', report, undefined),
      add('report', profile, undefined),
      add('share', share, root),
    ],
    slots: new Map(),
    clock: 0,
    waiting: undefined,
    isUp: true,
    turns: 0,
    counter: 0,
  }
  for (const kind of children) root.listings[kind].now = listingOf(stage, root, kind)
  for (const thing of stage.things) thing.isListed = true
  await theatre.testbed.files.touch('projects')
  await theatre.testbed.files.readdir(placeOf(root))
  // The last burst of the sequence before has ended then.
  await theatre.testbed.pass(3_200)
  return stage
}
