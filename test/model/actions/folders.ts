// Projects and calculations: made, renamed, taken away when empty, and deleted with all that is in them.
import { outcome } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'
import { away, type Content, printed, same } from '../expected/content.js'
import { childrenOf } from '../expected/database.js'
import { loaded } from '../expected/looking.js'
import { endsOnOldWay, isRenamedElsewhere, placesOf } from '../expected/renamed.js'
import { changedHere } from '../expected/shown.js'
import { fileOf, fresh, live, pick, placeOf, reachable, type Stage, type Thing, thingOf } from '../stage.js'
import type { Step } from '../steps.js'
import { met } from './editing.js'
import { isGone } from './removing.js'
import { listingChanged, vanish } from './spreading.js'
import { pass, pauseMs, remount } from './time.js'
import { expect } from './writing.js'

const taken = ['EEXIST', 'ENOTEMPTY'] as const

/** A name that no other thing has, as a user writes it and as the service keeps it. */
function anyName(stage: Stage, form: 'fresh' | 'odd'): { file: string; title: string } {
  const name = fresh(stage, 'Made')
  return form === 'odd' ? { file: `${name} %2F ü`, title: `${name} / ü` } : { file: name, title: name }
}

const folders = (stage: Stage): Thing[] => [stage.root, ...reachable(stage, 'project')]

export async function mkdir(stage: Stage, step: Extract<Step, { does: 'mkdir' }>): Promise<void> {
  const isInCalculation = step.name === 'in a calculation'
  const parent = pick(isInCalculation ? reachable(stage, 'calculation') : folders(stage), step.at)
  if (parent === undefined) return
  const { file, title } = anyName(stage, step.name === 'odd' ? 'odd' : 'fresh')
  const sibling = stage.things.find(
    thing => thing.parent === parent && thing.kind !== 'share' && hasItsName(thing),
  )
  const name = step.name === 'taken' && sibling !== undefined ? sibling.name : file
  const path = `${placeOf(parent)}/${name}`
  const end = await outcome(stage.theatre.testbed.files.mkdir(path))
  if (isInCalculation) return void expect(`mkdir ${path}`, end, ['EPERM'])
  // The list is asked for: what other clients have made or taken away since counts.
  if (name !== file) return void expect(`mkdir ${path}`, end, stage.isUp ? ['EEXIST'] : [...away, 'EEXIST'])
  // A request on a connection that had just broken is of unknown outcome.
  if (!stage.isUp) return void expect(`mkdir ${path}`, end, [...away, 'EIO'])
  // In one that another client has renamed nothing is made by the path of before; after a save of this drive it is.
  expect(`mkdir ${path}`, end, ['done', ...endsOnOldWay(parent)])
  if (end !== 'done') return
  const ids = childrenOf(stage.theatre.database, 'project', parent.id)
  const id = ids.find(one => !stage.things.some(thing => thing.kind === 'project' && thing.id === one))
  if (id === undefined) throw new Error(`mkdir ${path}: the service has no such project`)
  const made = thingOf(stage.theatre, 'project', { id, parent, name: file })
  if (made.truth?.['name'] !== title || printed(made.truth['description']) === '""')
    throw new Error(`mkdir ${path} made ${printed(made.truth)}`)
  made.madeHere = true
  made.written = file
  stage.things.push(made)
  listingChanged(stage, made, 'here')
}

export async function rename(stage: Stage, step: Extract<Step, { does: 'rename' }>): Promise<void> {
  const thing = pick(reachable(stage, step.kind), step.at)
  if (thing?.parent === undefined) return
  const { parent } = thing
  const { file, title } = anyName(stage, step.to === 'odd' ? 'odd' : 'fresh')
  const siblings = stage.things.filter(one => one.parent === parent && one !== thing && hasItsName(one))
  const sibling = siblings.find(({ kind }) => kind !== 'share')
  const other = folders(stage).find(
    folder => folder !== parent && folder !== thing && !isBelow(folder, thing),
  )
  const from = placeOf(thing)
  const { files } = stage.theatre.testbed
  if (step.to === 'taken' && sibling !== undefined) {
    const end = await outcome(files.rename(from, placeOf(sibling)))
    const ends = [...taken, ...(stage.isUp ? [] : away), ...endsOnOldWay(thing)]
    return void expect(`mv ${from} ${placeOf(sibling)}`, end, ends)
  }
  if (step.to === 'elsewhere' && other !== undefined) {
    const end = await outcome(files.rename(from, `${placeOf(other)}/${file}`))
    return void expect(`mv ${from} to ${placeOf(other)}`, end, ['EPERM'])
  }
  const end = await outcome(files.rename(from, `${placeOf(parent)}/${file}`))
  if (!stage.isUp) return void expect(`mv ${from} ${file}`, end, away)
  if (isRenamedElsewhere(thing)) return void expect(`mv ${from} ${file}`, end, ['ESTALE', 'ENOENT'])
  expect(`mv ${from} ${file}`, end, ['done', ...endsOnOldWay(parent)])
  if (end !== 'done') return
  thing.truth = { ...thing.truth, name: title }
  met(thing, thing.truth)
  changedHere(thing.record, printed(thing.truth))
  thing.name = file
  thing.written = file
  listingChanged(stage, thing, 'here')
}

/** It is listed under the name that the service has it under now. */
const hasItsName = (thing: Thing): boolean =>
  thing.isListed && thing.truth !== undefined && !isRenamedElsewhere(thing)

const isBelow = (folder: Thing, above: Thing): boolean =>
  folder.parent !== undefined && (folder.parent === above || isBelow(folder.parent, above))

export async function rmdir(stage: Stage, step: Extract<Step, { does: 'rmdir' }>): Promise<void> {
  const thing = pick(reachable(stage, step.kind), step.at)
  if (thing === undefined) return
  const before = thing.kind === 'calculation' ? await present(stage, thing) : undefined
  if (thing.kind === 'calculation' && before === undefined) return
  await rmdirOf(stage, thing, 'full')
  if (thing.truth !== undefined) await becomesOf(stage, thing, { before, meanwhile: 'wait' })
}

/** The record as the drive knows it; undefined where it cannot be read, or has a draft. */
async function present(stage: Stage, thing: Thing): Promise<Content | undefined> {
  if (thing.draft !== undefined) return undefined
  const seen = await loaded(stage, thing)
  return typeof seen === 'string' ? undefined : seen.base
}

/** A project goes at once; a calculation is hidden then, where all that is listed in its folder was unlinked. */
async function rmdirOf(stage: Stage, thing: Thing, folder: 'full' | 'bare'): Promise<void> {
  const path = placeOf(thing)
  const { access, testbed } = stage.theatre
  const isFull = [...live(stage, 'project'), ...live(stage, 'calculation')].some(
    ({ parent }) => parent === thing,
  )
  const wouldGo = thing.kind === 'project' ? !isFull : folder === 'bare'
  const end = await outcome(testbed.files.rmdir(path))
  // Of a calculation that waits nothing is asked.
  const isAsked = thing.kind === 'project'
  const problems = [...(stage.isUp ? [] : away), ...(wouldGo ? [] : ['ENOTEMPTY'])]
  if (access === 'edit' && !thing.madeHere) return void expect(`rmdir ${path}`, end, ['EPERM'])
  const isRefused = !wouldGo || (isAsked && !stage.isUp) || end !== 'done'
  if (isRefused) {
    await pass(stage, pauseMs)
    return void expect(`rmdir ${path}`, end, [...problems, ...endsOnOldWay(thing)])
  }
  if (isAsked) {
    vanish(stage, thing, 'here')
    return pass(stage, pauseMs)
  }
  expect(`stat of ${path}, which waits`, await outcome(testbed.files.lstat(path)), ['ENOENT'])
  stage.waiting = thing
}

type Meanwhile = NonNullable<Extract<Step, { does: 'rm -r' }>['meanwhile']>

/** What becomes of a calculation that waits. */
async function becomesOf(
  stage: Stage,
  thing: Thing,
  { before, meanwhile }: { before: Content | undefined; meanwhile: Meanwhile },
): Promise<void> {
  if (stage.waiting !== thing) return
  stage.waiting = undefined
  const { files } = stage.theatre.testbed
  const path = placeOf(thing)
  if (meanwhile === 'remount') await remount(stage)
  else if (meanwhile !== 'wait') {
    const touched = meanwhile === 'touch' || thing.parent === undefined ? path : placeOf(thing.parent)
    expect(`touch ${touched}`, await outcome(files.touch(touched)), ['done'])
  }
  await pass(stage, pauseMs)
  const isAsShown = before !== undefined && same(before, thing.truth) && !isRenamedElsewhere(thing)
  const isDeleted = meanwhile === 'wait' && stage.isUp && isAsShown
  await until(5_000, `the end of ${path}, which was removed`, async () => {
    if (isDeleted) return isGone(stage, thing)
    return (await Promise.all(placesOf(thing).map(one => outcome(files.lstat(one))))).includes('done')
  })
  if (isDeleted) vanish(stage, thing, 'here')
}

export async function removeAll(stage: Stage, step: Extract<Step, { does: 'rm -r' }>): Promise<void> {
  const thing = pick(reachable(stage, step.kind), step.at)
  if (thing === undefined) return
  if (step.kind === 'project') return removeProject(stage, thing)
  const before = await present(stage, thing)
  if (before === undefined) return
  const { files } = stage.theatre.testbed
  const place = placeOf(thing)
  const names = [...(await files.readdir(place)).keys()]
  // In an outage a name whose length was never asked for cannot be looked up.
  const problems = stage.isUp ? [] : away
  let isWhole = !step.stops
  for (const name of step.stops ? names.slice(1) : names) {
    const end = await outcome(files.unlink(`${place}/${name}`))
    // A record that is unlinked comes back after the pause, as an editor's does; beside it may be an editor's backup.
    const isTaken = stage.theatre.access === 'manage' || name.startsWith('.calculation.json')
    expect(`rm ${place}/${name}`, end, [isTaken ? 'done' : 'EPERM', ...problems])
    if (end !== 'done') isWhole = false
  }
  await rmdirOf(stage, thing, isWhole ? 'bare' : 'full')
  await becomesOf(stage, thing, { before, meanwhile: step.meanwhile ?? 'wait' })
  if (stage.theatre.access === 'edit') await pass(stage, pauseMs)
}

/** `rm -r` of a project: with `manage` it is refused at its record, and so is the rest of its burst. */
async function removeProject(stage: Stage, project: Thing): Promise<void> {
  const { files } = stage.theatre.testbed
  const { access } = stage.theatre
  const path = fileOf(project)
  expect(`rm ${path}`, await outcome(files.unlink(path)), [access === 'manage' ? 'EPERM' : 'done'])
  const inside = reachable(stage, 'calculation').find(({ parent }) => parent === project)
  if (inside !== undefined && access === 'manage') {
    const record = fileOf(inside)
    expect(`rm ${record} in rm -r`, await outcome(files.unlink(record)), ['EPERM'])
  }
  await pass(stage, pauseMs)
}
