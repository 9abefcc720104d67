// Another client changes, makes and deletes things on the platform's web pages.
import { numberJson, stringJson, withField } from '../../../src/record/json/json.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { compactPrint } from '../../../src/record/json/print.js'
import { type Row, rowsOf } from '../expected/content.js'
import { stored, storedText } from '../expected/database.js'
import { fresh, live, pick, type Stage, type Thing, thingOf } from '../stage.js'
import type { Step } from '../steps.js'
import { listingChanged, recordChanged, vanish } from './spreading.js'

type Elsewhere = Extract<Step, { does: 'elsewhere' }>

export async function elsewhere(stage: Stage, { kind, at, change }: Elsewhere): Promise<void> {
  const thing = pick(
    live(stage, kind).filter(one => one !== stage.root),
    at,
  )
  if (change === 'make') return make(stage, kind, at)
  if (thing === undefined) return
  switch (change) {
    case 'delete':
      return remove(stage, thing)
    case 'reverse':
      return reorder(stage, thing, rowsOf(thing.truth ?? {}).toReversed())
    case 'drop':
      return reorder(stage, thing, rowsOf(thing.truth ?? {}).slice(1))
    case 'permission':
      return put(stage, thing, 'permission', thing.truth?.['permission'] === 'READ' ? 'WRITE' : 'READ')
    default:
      return put(stage, thing, change, fresh(stage, `web ${change}`))
  }
}

/** The whole record as the service has it, with one field said otherwise. */
async function put(stage: Stage, thing: Thing, field: string, value: string): Promise<void> {
  const text = storedText(stage.theatre.database, thing.kind, thing.id)
  if (text === undefined) throw new Error(`the service has no ${thing.kind} ${thing.id}`)
  const body = compactPrint(withField(parseObject(text), field, stringJson(value)))
  await stage.theatre.testbed.service.elsewhere('PUT', pathOf(thing), body)
  recordChanged(stage, thing, { ...thing.truth, [field]: value })
  if (field !== 'name') return
  // The name that was written here is free once the new one is listed.
  thing.written = undefined
  listingChanged(stage, thing, 'elsewhere')
}

async function reorder(stage: Stage, report: Thing, rows: readonly Row[]): Promise<void> {
  const listCalculations = rows.map(({ calculation }) => calculation).join(',')
  const body = withField(parseObject('{}'), 'id', numberJson(report.id))
  const whole = withField(body, 'listCalculations', stringJson(listCalculations))
  await stage.theatre.testbed.service.elsewhere('PUT', '/report/calculations', compactPrint(whole))
  // If a calculation stands twice, the service decides which title a row keeps.
  recordChanged(stage, report, stored(stage.theatre.database, 'report', report.id))
}

async function remove(stage: Stage, thing: Thing): Promise<void> {
  await stage.theatre.testbed.service.elsewhere(
    'DELETE',
    `${pathOf(thing)}?${thing.kind === 'share' ? 'shareId' : 'id'}=${thing.id}`,
  )
  vanish(stage, thing, 'elsewhere')
}

async function make(stage: Stage, kind: Elsewhere['kind'], at: number): Promise<void> {
  const parent = pick(live(stage, 'project'), at)
  if (parent === undefined || (kind !== 'project' && kind !== 'calculation')) return
  const name = fresh(stage, `web ${kind}`)
  const { seed } = stage.theatre.testbed.service
  const id =
    kind === 'project'
      ? seed.addProject({ name, owner: 'demo', parent: parent.id })
      : seed.addCalculation({ name, project: parent.id, files: { 'a.txt': 'a\n' } })
  const made = thingOf(stage.theatre, kind, { id, parent, name })
  stage.things.push(made)
  listingChanged(stage, made, 'elsewhere')
}

const pathOf = ({ kind }: Thing): string => (kind === 'share' ? '/project/share' : `/${kind}`)
