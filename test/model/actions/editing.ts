// Edits of records: read by a program, changed, written in one of the ways there are; the model says how that must end.
import { draftName } from '../expected/compare.js'
import {
  type Content,
  contentIn,
  edited,
  judgeAll,
  printed,
  rowsOf,
  same,
  type Verdict,
} from '../expected/content.js'
import { stored } from '../expected/database.js'
import { type Loaded, loaded } from '../expected/looking.js'
import { endsOfPaths, endsOnOldWay } from '../expected/renamed.js'
import { changedHere, lent } from '../expected/shown.js'
import { calculationsOf, type Draft, fileOf, pick, reachable, type Stage, type Thing } from '../stage.js'
import type { Step } from '../steps.js'
import { altered } from './altering.js'
import { listingChanged } from './spreading.js'
import { mayBeRemoved } from './time.js'
import { expect, heardWrites, type Style, write } from './writing.js'

/** How far one text is from another. */
export type Distance = (one: Content, other: Content) => number

/**
 * Texts that the drive may take for the base: those that are as near as the true one and, where the mount has saved
 * since that was read, the nearest seen since. One that no program has read can only be in doubt.
 */
export function possibleBases(
  { met, metSince, hasRead }: Thing,
  { base, mine, others = [] }: { base: Content; mine: Content; others?: Draft['others'] },
  distance: Distance,
): { readonly others: readonly Content[]; readonly inDoubt: boolean } {
  const near = distance(base, mine)
  const asNear = [...others, ...met.filter(other => !same(other, base) && distance(other, mine) <= near)]
  const since = met.slice(metSince)
  // An old text letter for letter, and a newer one was read: an old buffer, or a backup that is put back.
  const isOld = near === 0 && met.some(one => !same(one, base))
  // While that text waits, so is what is made of it.
  if (isOld) asNear.push(base)
  if (since.some(one => same(one, base))) return { others: asNear, inDoubt: asNear.length > 0 }
  const nearest = Math.min(...since.map(one => distance(one, mine)))
  // Where nothing but an old text is left, all was taken back.
  if (!hasRead && near > 0 && near < nearest) return { others: asNear, inDoubt: true }
  return { others: [...asNear, ...since.filter(one => distance(one, mine) === nearest)], inDoubt: true }
}

const fieldsApart: Distance = (one, other) => edited(one, other).length

export async function edit(stage: Stage, step: Extract<Step, { does: 'edit' }>): Promise<void> {
  const thing = pick(reachable(stage, step.kind), step.at)
  if (thing === undefined) return
  // With `manage` a project's record is not unlinked, and a text that was not saved goes with it.
  const isTaken = step.style === 'unlink and create' && stage.theatre.access === 'manage'
  const style = isTaken && (thing.kind === 'project' || thing.draft !== undefined) ? 'overwrite' : step.style
  if (isTaken) await mayBeRemoved(stage, thing)
  const from = await loaded(stage, thing)
  if (typeof from === 'string') return
  await save(stage, thing, { ...from, text: altered(stage, from.json, step), style })
}

interface Saving extends Loaded {
  readonly text: string
  readonly style: Style
}

/** Writes the text, and holds what comes of it against the model. */
export async function save(stage: Stage, thing: Thing, saving: Saving): Promise<string> {
  const { text, base, others, style } = saving
  const { testbed } = stage.theatre
  const mine = resolved(stage, thing, saving)
  const before = heardWrites(stage)
  const written = await write(testbed, fileOf(thing), text, style)
  // A rename that is refused so is tried once more by the kernel: by the path of before there is nothing left then.
  const isTwice = written === 'ENOENT' && endsOnOldWay(thing).length > 0
  const isDraft = isTwice && (await testbed.files.readdir('.calcfs/drafts')).has(draftName(thing))
  const end = isDraft ? 'ESTALE' : written
  const sent = heardWrites(stage) - before
  const what = `${style} of ${fileOf(thing)}`

  if (mine === undefined) {
    expect(what, end, ['EINVAL'])
    if (sent > 0) throw new Error(`${what}: no JSON, and yet ${sent} requests were sent`)
    thing.draft = saving
    return end
  }
  const { kind, truth } = thing
  const existing = calculationsOf(stage)
  const question = { kind, base, mine, truth, isUp: stage.isUp, existing }
  const bases = possibleBases(thing, { base, mine, others }, fieldsApart)
  const verdicts = judgeAll(question, bases)
  expect(what, end, [...verdicts.flatMap(({ allowed }) => allowed), ...endsOfPaths(text, stage)])
  const isEdit = edited(base, mine).length > 0
  const mayEdit = isEdit || verdicts.length > 1
  if ((end !== 'done' || !mayEdit) && sent > 0)
    throw new Error(`${what} ended with ${end} and sent ${sent} requests`)
  if (end !== 'done') {
    thing.draft = { text, json: text, base, others: bases.others }
    return end
  }
  thing.draft = undefined
  if (sent === 0 && !isEdit) {
    // A text without a change was written back: what had waited is shown for the lease at most.
    lent(thing.record, printed(mine), stage.clock)
    return end
  }
  // Where another client has made the same change, nothing is left to send.
  const isLeft = truth !== undefined && edited(truth, mine).some(name => edited(base, mine).includes(name))
  if (sent < (isLeft ? 1 : 0) || sent > 2) throw new Error(`${what}: it was saved with ${sent} requests`)
  settle(stage, thing, { verdicts, mine })
  return end
}

/** The edit is stored: the record is what the service has, and for the text lease what was written. */
export function settle(
  stage: Stage,
  thing: Thing,
  { verdicts, mine }: { verdicts: readonly Verdict[]; mine: Content },
): void {
  const before = thing.truth
  const has = stored(stage.theatre.database, thing.kind, thing.id)
  const done = verdicts.filter(({ allowed }) => allowed.includes('done'))
  if (has === undefined || !done.some(({ after }) => isAs(thing, after, has)))
    throw new Error(
      `the service has ${printed(has)}, and should have ${done.map(({ after }) => printed(after)).join(' or ')}`,
    )
  thing.truth = has
  changedHere(thing.record, printed(has))
  lent(thing.record, printed(mine), stage.clock)
  met(thing, has)
  thing.met.push(mine)
  if (before?.['name'] === has['name']) return
  listingChanged(stage, thing, 'elsewhere')
  // The name under which it was made or renamed here answers for ten minutes more, and nothing is looked at by it.
  thing.written = undefined
}

/** The same, but a row without a given title may have one that it once had. */
function isAs({ met }: Thing, wanted: Content | undefined, has: Content): boolean {
  if (wanted === undefined) return false
  const titles = met.flatMap(rowsOf)
  const rows = rowsOf(wanted).map((row, at) => {
    const found = rowsOf(has)[at]
    const isEarlier = titles.some(one => one.calculation === row.calculation && one.title === found?.title)
    return row.title === null && (isEarlier || found?.title === '')
      ? { ...row, title: found?.title ?? null }
      : row
  })
  return same(has, 'calculations' in wanted ? { ...wanted, calculations: rows } : wanted)
}

/** The mount itself has saved this. */
export function met(thing: Thing, saved: Content): void {
  thing.metSince = thing.met.length
  thing.hasRead = false
  thing.met.push(saved)
}

/** What a text says, with each entry that is a path as the calculation it leads to. */
function resolved(stage: Stage, thing: Thing, { text }: Saving): Content | undefined {
  const content = contentIn(thing.kind, text)
  if (content === undefined || thing.kind !== 'report') return content
  const calculations = rowsOf(content).map(({ calculation, title }) => ({
    calculation: idAt(stage, calculation),
    title,
  }))
  return { ...content, calculations }
}

export function idAt(stage: Stage, entry: string): string {
  const [, name] = /^\/projects\/.*\/([^/]+)$/.exec(entry) ?? []
  if (name === undefined) return entry
  return stage.things.find(thing => thing.kind === 'calculation' && thing.name === name)?.id ?? entry
}
