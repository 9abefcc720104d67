// New reports and shares: a file `new*.json` is a draft until it is saved right, and a record afterwards.
import { outcome, overwrite } from '../../testbed/testbed.js'
import { away, printed, same } from '../expected/content.js'
import { childrenOf, reportsAfter } from '../expected/database.js'
import { endsOnOldWay } from '../expected/renamed.js'
import { fresh, live, people, pick, placeOf, reachable, type Stage, thingOf } from '../stage.js'
import type { Step } from '../steps.js'
import { listingChanged } from './spreading.js'
import { expect } from './writing.js'

export async function newReport(stage: Stage, step: Extract<Step, { does: 'new report' }>): Promise<void> {
  const file = `new-${stage.number}-${step.slot}.json`
  const path = `reports/${file}`
  const slot = stage.slots.get(file) ?? { draft: undefined, thing: undefined }
  if (slot.thing !== undefined) return
  const name = fresh(stage, 'New')
  const calculations = live(stage, 'calculation').slice(0, 2)
  const record = {
    name,
    title: fresh(stage, 'title'),
    description: 'made by a file',
    configuration: '',
    reportType: step.flaw === 'bad type' ? 'No such type' : 'Supporting information',
    ...(step.flaw === 'no list' ? {} : { calculations: calculations.map(({ id }) => Number(id)) }),
    ...(step.flaw === 'bad calculation' ? { calculations: [999_999_999] } : {}),
  }
  const text = step.flaw === 'no JSON' ? `{ ${name}` : printed(record)
  const end = await outcome(overwrite(stage.theatre.testbed, path, text))
  const isFlawed = step.flaw !== 'none' && step.flaw !== 'no list'
  const problems = [...(isFlawed ? ['EINVAL'] : []), ...(stage.isUp || step.flaw === 'no JSON' ? [] : away)]
  expect(`> ${path} (${step.flaw})`, end, problems.length > 0 ? problems : ['done'])
  if (end !== 'done') {
    stage.slots.set(file, { ...slot, draft: text })
    return
  }
  const first = stage.things.find(({ kind }) => kind === 'report')?.id ?? '0'
  const ids = reportsAfter(stage.theatre.database, first)
  const id = ids.find(one => !stage.things.some(thing => thing.kind === 'report' && thing.id === one))
  if (id === undefined) throw new Error(`> ${path}: the service has no new report`)
  const made = thingOf(stage.theatre, 'report', { id, parent: undefined, name: '' })
  const wanted = {
    ...record,
    reportType: 1,
    calculations:
      step.flaw === 'no list' ? [] : calculations.map(one => ({ calculation: one.id, title: null })),
  }
  if (!same(made.truth, wanted))
    throw new Error(`> ${path} made ${printed(made.truth)}, not ${printed(wanted)}`)
  stage.things.push(made)
  stage.slots.set(file, { draft: undefined, thing: made })
}

export async function newShare(stage: Stage, step: Extract<Step, { does: 'new share' }>): Promise<void> {
  const project = pick([stage.root, ...reachable(stage, 'project')], step.at)
  if (project === undefined) return
  const user = people[step.who % people.length] ?? 'ada'
  const file = `new-${fresh(stage, 'share').replaceAll(' ', '-')}.json`
  const path = `${placeOf(project)}/.shares/${file}`
  const draftName = `share-${project.id}-${file}`
  const permission = step.flaw === 'none' ? 'READ' : 'ADMIN'
  const text = printed({ user, permission })
  const end = await outcome(overwrite(stage.theatre.testbed, path, text))
  const isTaken = live(stage, 'share').some(
    ({ parent, truth }) => parent === project && truth?.['user'] === user,
  )
  const problems = [
    ...(step.flaw === 'none' ? [] : ['EINVAL']),
    ...(isTaken ? ['EINVAL'] : []),
    ...(stage.isUp ? [] : away),
  ]
  const old = endsOnOldWay(project)
  expect(`> ${path} for ${user}`, end, [...(problems.length > 0 ? problems : ['done']), ...old])
  if (end !== 'done') {
    stage.slots.set(draftName, { draft: text, thing: undefined })
    return
  }
  const id = childrenOf(stage.theatre.database, 'share', project.id).find(
    one => !stage.things.some(thing => thing.kind === 'share' && thing.id === one),
  )
  if (id === undefined) throw new Error(`> ${path}: the service has no new share`)
  const made = thingOf(stage.theatre, 'share', { id, parent: project, name: '' })
  if (!same(made.truth, { user, permission })) throw new Error(`> ${path} made ${printed(made.truth)}`)
  stage.things.push(made)
  listingChanged(stage, made, 'here')
  stage.slots.set(draftName, { draft: undefined, thing: made })
}
