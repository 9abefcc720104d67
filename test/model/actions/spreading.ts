// What a change of one thing means for others: its parent's listings, and the reports whose rows name it.
import { printed, rowsOf } from '../expected/content.js'
import { changedElsewhere, changedHere, lifetimes } from '../expected/shown.js'
import { listingOf, type Stage, type Thing } from '../stage.js'

/** The parent lists a child differently; `here` where the drive has requested the listing again. */
export function listingChanged(
  stage: Stage,
  { parent, kind, truth, names }: Thing,
  where: 'here' | 'elsewhere',
): void {
  if (parent === undefined || kind === 'report') return
  const listing = parent.listings[kind]
  if (truth !== undefined) names.add(String(truth['name']))
  const value = listingOf(stage, parent, kind)
  if (where === 'here') changedHere(listing, value)
  else changedElsewhere(listing, value, stage.clock + lifetimes.listing)
}

/** The record was changed by another client, or by the drive through another path. */
export function recordChanged(stage: Stage, thing: Thing, truth: Thing['truth']): void {
  thing.truth = truth
  const lifetime = thing.kind === 'share' ? lifetimes.listing : lifetimes.record
  const value = truth === undefined ? 'gone' : printed(truth)
  changedElsewhere(thing.record, value, stage.clock + lifetime)
}

/** The thing is gone, with all below it, and with the rows of reports that named it. */
export function vanish(stage: Stage, thing: Thing, where: 'here' | 'elsewhere'): void {
  for (const child of stage.things.filter(({ parent }) => parent === thing)) {
    if (child.truth !== undefined) vanish(stage, child, 'elsewhere')
  }
  recordChanged(stage, thing, undefined)
  if (where === 'here') changedHere(thing.record, 'gone')
  thing.written = undefined
  listingChanged(stage, thing, where)
  if (thing.kind !== 'calculation') return
  for (const report of stage.things.filter(({ kind, truth }) => kind === 'report' && truth !== undefined)) {
    const rows = rowsOf(report.truth ?? {})
    const left = rows.filter(({ calculation }) => calculation !== thing.id)
    if (left.length < rows.length) recordChanged(stage, report, { ...report.truth, calculations: left })
  }
}
