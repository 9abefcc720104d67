// Time passes, the mount ends and comes back, the service goes away and returns, and drafts are looked at and given up.
import { outcome } from '../../testbed/testbed.js'
import { draftName, draftsOf } from '../expected/compare.js'
import { contentIn, mark, printed } from '../expected/content.js'
import { lent, refreshed } from '../expected/shown.js'
import { children, pick, placeOf, reachable, type Stage, type Thing } from '../stage.js'
import type { Step } from '../steps.js'
import { expect, read } from './writing.js'

type Placed = Pick<Extract<Step, { does: 'touch' }>, 'at'>

export async function leave(stage: Stage): Promise<void> {
  if (stage.isUp) await stage.theatre.testbed.service.leave()
  stage.isUp = false
}

export async function pass(stage: Stage, milliseconds: number): Promise<void> {
  await stage.theatre.testbed.pass(milliseconds)
  stage.clock += milliseconds
}

/** The service answers again, and one question finds it out. */
export async function comeBack(stage: Stage): Promise<void> {
  if (stage.isUp) return
  const { files, service } = stage.theatre.testbed
  await service.back()
  const root = placeOf(stage.root)
  // One question in two seconds finds out; what else is asked meanwhile is answered from before.
  for (let tries = 0; tries < 5; tries++) {
    await pass(stage, 2_500)
    await files.touch(root)
    await files.readdir(root)
    if ((await files.xattr(root, 'user.calcfs.stale')) === undefined) break
  }
  stage.isUp = true
}

export async function touch(stage: Stage, { at }: Placed): Promise<void> {
  const folders = [stage.root, ...reachable(stage, 'project'), ...reachable(stage, 'calculation')]
  const folder = pick(folders, at)
  if (folder === undefined) return
  const end = await outcome(stage.theatre.testbed.files.touch(placeOf(folder)))
  expect(`touch ${placeOf(folder)}`, end, ['done'])
  if (!stage.isUp) return
  refreshed(folder.record, stage.clock)
  for (const kind of children) refreshed(folder.listings[kind], stage.clock)
}

/** The drafts stay; what the mount alone knew is forgotten. */
export async function remount(stage: Stage): Promise<void> {
  await stage.theatre.testbed.remount()
  for (const thing of stage.things) thing.written = undefined
  for (const [name, slot] of stage.slots) {
    slot.thing = undefined
    if (slot.draft === undefined) stage.slots.delete(name)
  }
}

export async function dropDraft(stage: Stage, { at }: Placed): Promise<void> {
  const name = draftsOf(stage)[at % Math.max(1, draftsOf(stage).length)]
  if (name === undefined) return
  const end = await outcome(stage.theatre.testbed.files.unlink(`.calcfs/drafts/${name}`))
  expect(`rm .calcfs/drafts/${name}`, end, ['done'])
  const thing = stage.things.find(one => one.draft !== undefined && draftName(one) === name)
  const ordered = stage.things.find(one => one.order !== undefined && `${one.id}-order.txt` === name)
  if (thing !== undefined) giveUp(stage, thing)
  else if (ordered !== undefined) ordered.order = undefined
  else stage.slots.delete(name)
}

/** For the text lease the dropped text may still be shown to a program that knows its size. */
function giveUp({ clock }: Stage, thing: Thing): void {
  const text = thing.draft?.text ?? ''
  const content = contentIn(thing.kind, text)
  const value = content === undefined ? `text ${mark(text)}` : printed(content)
  lent(thing.record, value, clock)
  thing.draft = undefined
}

/** A program that has read the other text may insist on its own: the read text is its base from then on. */
export async function readTheirs(stage: Stage, { at }: Placed): Promise<void> {
  const { files } = stage.theatre.testbed
  const names = [...(await files.readdir('.calcfs/drafts')).keys()].filter(name => name.includes('.theirs.'))
  const name = names[at % Math.max(1, names.length)]
  if (name === undefined) return
  const text = await read(stage, `.calcfs/drafts/${name}`)
  const isOrder = ({ kind, id }: Thing) => kind === 'report' && name === `${id}-order.txt.theirs.json`
  const thing = stage.things.find(one => isOrder(one) || draftName(one) === name.replace('.theirs', ''))
  const draft = thing && (isOrder(thing) ? thing.order : thing.draft)
  if (thing === undefined || draft === undefined) return
  const theirs = contentIn(thing.kind, text)
  if (theirs === undefined) throw new Error(`${name} is no JSON`)
  draft.base = theirs
  draft.others = []
  thing.met.push(theirs)
}

/** Milliseconds after which a burst of removals has ended. */
export const pauseMs = 3_200

/** A report that was written within the last minute is not removed. */
export async function mayBeRemoved(stage: Stage, { kind }: Thing): Promise<void> {
  if (kind === 'report' && stage.theatre.access === 'manage') await pass(stage, 61_000)
}

/** The end of a sequence: the service is there again, and nothing waits that the next one could trip over. */
export async function closeStage(stage: Stage): Promise<void> {
  const { files } = stage.theatre.testbed
  await comeBack(stage)
  await stage.theatre.testbed.pass(6_000)
  for (const directory of ['.calcfs/drafts', 'reports']) {
    for (const name of (await files.readdir(directory)).keys()) {
      const isLeft =
        directory === '.calcfs/drafts' || !/^(\d+(\.json)?|INDEX\.tsv|README\.txt|by-name)$/.test(name)
      // A draft goes with its why, so some of these names are gone already.
      if (isLeft) await outcome(files.unlink(`${directory}/${name}`))
    }
  }
  await stage.theatre.testbed.pass(6_000)
}
