// Records that are unlinked: deleted after the pause where the mount may, and back otherwise.
import { outcome, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'
import { same } from '../expected/content.js'
import { stored } from '../expected/database.js'
import { loaded } from '../expected/looking.js'
import { endsOnOldWay } from '../expected/renamed.js'
import { fileOf, pick, reachable, type Stage, type Thing } from '../stage.js'
import type { Step } from '../steps.js'
import { altered } from './altering.js'
import { save } from './editing.js'
import { vanish } from './spreading.js'
import { mayBeRemoved, pass, pauseMs, remount } from './time.js'
import { expect } from './writing.js'

export async function remove(stage: Stage, step: Extract<Step, { does: 'rm' }>): Promise<void> {
  const thing = pick(reachable(stage, step.kind), step.at)
  if (thing === undefined || thing.draft !== undefined || thing.order !== undefined) return
  await mayBeRemoved(stage, thing)
  const from = await loaded(stage, thing)
  if (typeof from === 'string') return
  const path = fileOf(thing)
  if (step.next === 'make again') {
    const change = thing.kind === 'share' ? 'permission' : 'description'
    const text = altered(stage, from.json, { change, by: step.at })
    await save(stage, thing, { ...from, text, style: 'unlink and create' })
    // Had the record been deleted all the same, it would be now.
    return pass(stage, pauseMs)
  }
  const { files } = stage.theatre.testbed
  const end = await outcome(files.unlink(path))
  const mayDelete = stage.theatre.access === 'manage' && thing.kind === 'share'
  expect(`rm ${path}`, end, ['done', ...(mayDelete ? endsOnOldWay(thing.parent) : [])])
  if (end !== 'done') return
  expect(`stat of ${path}, which was unlinked`, await outcome(files.lstat(path)), ['ENOENT'])
  if (step.next === 'remount') await remount(stage)
  else await pass(stage, pauseMs)
  // A text changed by another client meanwhile differs from the one that was unlinked.
  const isSeen = same(from.base, thing.truth)
  const isDeleted = stage.theatre.access === 'manage' && stage.isUp && isSeen && step.next !== 'remount'
  // Later calls find the pause over; no call waits for the delete.
  await until(5_000, `the end of ${path}, which was unlinked`, async () => {
    const end = await outcome(files.lstat(path))
    return isDeleted ? isGone(stage, thing) : end === 'done'
  })
  if (isDeleted) vanish(stage, thing, 'here')
}

/** The drive has heard of it, too: an outage that comes before the answer leaves the delete open. */
export async function isGone({ theatre }: Stage, { kind, id }: Thing): Promise<boolean> {
  const { deleting } = JSON.parse(await textOf(theatre.testbed, '.calcfs/status.json'))
  return deleting.length === 0 && stored(theatre.database, kind, id) === undefined
}
