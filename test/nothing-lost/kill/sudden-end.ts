// The daemon is killed, or the machine's power goes, in the middle of edits: what was acknowledged is on the disk, though nothing else may be.
import { join } from 'node:path'
import type { Chance } from '../../long/chance.js'
import { besideOf, type Style, styles } from '../../model/actions/writing.js'
import type { ForgetfulDisk } from '../../testbed/disk/forgetful-disk.js'
import { type Cut, cuts } from '../../testbed/disk/forgetful-tree.js'
import type { MountTestbed } from '../../testbed/mount.js'
import { writes } from '../../testbed/service.js'
import { namesOf, outcome, overwrite, type TestLifetime, textOf } from '../../testbed/testbed.js'
import { until, within } from '../../testbed/within.js'
import { type Act, actOn, clear, finish, historyIn, lossOf, perform, settled, textsWaiting } from '../acts.js'
import { draftsLeft } from '../left-behind.js'
import { openSubjects, type SubjectKind, type Subjects, subjectKinds } from '../subjects.js'
import { type Scene, sceneOn } from './scene.js'

/**
 * How far an edit is at the end. saved: close was answered well. refused: the service refused it, and it was unlinked
 * (taken away) or renamed to a backup (put aside) after that. unread: the save ended before anything was sent. no JSON:
 * the text is half a text. opened: nothing is written yet. synced: fsync was answered, the file is open. written: write
 * was answered, in place of the old bytes as well. before, after: a change is held up there; moved over: that of a
 * finished text. asking, read back: the record is read before its change, and after it. titled, listed: a report was made,
 * and what its POST did not bring is held up there: the titles of its rows, or the list that the service has overlooked.
 */
export const moments = [
  'saved',
  'refused',
  'taken away',
  'put aside',
  'unread',
  'no JSON',
  'opened',
  'synced',
  'written',
  'in place',
  'scratch',
  'before',
  'after',
  'moved over',
  'asking',
  'read back',
] as const
/** Of a new report with rows that have titles, behind its POST. */
export const behindPost = [
  'read back',
  'titled before',
  'titled after',
  'listed before',
  'listed after',
] as const
/** anywhere: the edit goes on by itself, for as long as the plan says. */
export type Moment = (typeof moments | typeof behindPost)[number] | 'anywhere'

/** Those that move a record's file, or want an old text in it. */
const ofRecords: readonly Moment[] = ['taken away', 'put aside', 'in place', 'moved over']
/** Each holds up every question from then on, and so comes last. */
const holdQuestions: readonly Moment[] = ['asking', 'read back']

export interface Stand {
  readonly testbed: MountTestbed
  /** Where the states of accounts lie. */
  readonly states: string
  /** A disk whose power goes; without it the daemon alone dies. */
  readonly disk?: ForgetfulDisk
  readonly subjects: Subjects
}

export const standOn = (t: TestLifetime, testbed: MountTestbed, disk?: ForgetfulDisk): Stand => ({
  testbed,
  states: disk?.directory ?? join(testbed.home, 'state', 'calcfs'),
  ...(disk === undefined ? {} : { disk }),
  subjects: openSubjects(t, testbed),
})

export interface Plan {
  readonly edits: readonly {
    readonly kind: SubjectKind
    readonly moment: Moment
    readonly style?: Style
  }[]
  /** Milliseconds from the last of these moments to the end. */
  readonly after?: number
  /** What a power cut takes. */
  readonly cut: Cut
  /** Whether the daemon is told to end before it dies. */
  readonly ends: boolean
  readonly seed: number
}

/** One edit a moment, each of a drawn kind, in an order in which none holds up another one. */
export function planOf(pick: Chance, wanted: readonly Moment[]): Plan {
  const [question] = wanted.filter(one => holdQuestions.includes(one))
  const chosen = moments.filter(
    one => one === question || (wanted.includes(one) && !holdQuestions.includes(one)),
  )
  return {
    edits: chosen.map(moment => ({ kind: kindFor(moment, pick), moment })),
    cut: pick.of(cuts),
    ends: pick.once(3),
    seed: pick.whole(0, 2 ** 31),
  }
}

export const planBy = (pick: Chance): Plan =>
  planOf(
    pick,
    Array.from({ length: pick.whole(1, 4) }, () => pick.of(moments)),
  )

/** At any moment of up to three edits at once. Only one of them moves its text over the record: all such texts have one name. */
export function planAnywhere(pick: Chance): Plan {
  const still = styles.filter(style => style !== 'rename over')
  const edits = Array.from({ length: pick.whole(1, 3) }, (_, at) => {
    const kind = pick.of(subjectKinds)
    const isNew = kind === 'new report' || kind === 'order'
    const style = pick.of(at === 0 ? styles : still)
    return { kind, moment: 'anywhere' as const, style: isNew ? ('overwrite' as const) : style }
  })
  // Short waits are as likely as long ones: most of a save is over in a few milliseconds.
  return { edits, after: Math.round(400 ** pick.fraction()) - 1, cut: 'all', ends: false, seed: 0 }
}

/** A file next to the reports stands for none of the records. */
function kindFor(moment: Moment, pick: Chance): SubjectKind {
  if (moment === 'scratch') return 'report'
  return ofRecords.includes(moment)
    ? pick.of(['report', 'rows', 'project', 'calculation'])
    : pick.of(subjectKinds)
}

/** The name of a new report stands for what was made only after an end without warning, and not after a power cut. */
export const planBehindPost = (moment: (typeof behindPost)[number]): Plan => ({
  edits: [{ kind: 'new list', moment }],
  ...{ cut: 'all', ends: false, seed: 0 },
})

let words = 0

/** What is wrong after the end, in words. */
export async function suddenEnd(stand: Stand, plan: Plan): Promise<string[]> {
  const { testbed, states, disk, subjects } = stand
  const heard = testbed.service.heard.length
  const scene = sceneOn(testbed)
  const begun: (Begun & { readonly whole: string })[] = []
  for (const { kind, moment, style = 'overwrite' } of plan.edits) {
    const act = await actOn(subjects.make(kind), `word${process.pid}x${++words}`, style)
    begun.push({ act: await reached(stand, scene, { act, moment }), moment, whole: act.text })
  }
  await testbed.pass(plan.after ?? 0)
  const stored = begun.map(({ act }) => act.subject.isStored(act.word))
  if (plan.ends) scene.inTheAir(testbed.terminate())
  await testbed.kill9()
  await disk?.cut(plan.cut, plan.seed)
  await scene.cleanUp()
  await testbed.mount()
  await settled(states)
  const records = begun.map(({ act }) => act.subject.path)
  for (const { act } of begun) if (act.subject.made !== undefined) await saysMade(testbed, act)
  const waiting = [...(await textsWaiting(testbed, records)).values()]
  const history = await historyIn(states)
  const about = `(${JSON.stringify(plan)})`
  const wrong: string[] = []
  for (const [at, { act, moment, whole }] of begun.entries()) {
    wrong.push(...lossOf(act, { heard: testbed.service.heard.slice(heard), subjects, waiting }))
    const isInHistory = history.some(text => text.includes(act.word))
    if (moment === 'saved' && act.end === 'done' && !isInHistory)
      wrong.push(`${act.subject.kind}: a text that was sent is not in the history`)
    if (moment !== 'anywhere' && act.subject.isStored(act.word) !== stored[at])
      wrong.push(`${act.subject.kind}: was sent by itself after the start`)
    if (moment !== 'scratch') wrong.push(...(await finish(testbed, { ...act, text: whole })))
    wrong.push(...(await draftsOf(testbed, act)))
    // An end in order frees the name of a new report.
    const isKilled = !plan.ends && disk === undefined
    if (isKilled && moment === 'saved' && act.subject.kind === 'new report')
      wrong.push(...(await savedAgain(testbed, act)))
  }
  await clear(testbed, records)
  return wrong.map(one => `${one} ${about}`)
}

/** The name of a new report still stands for what it has made: the same text sends nothing. */
async function savedAgain(testbed: MountTestbed, { subject, text }: Act): Promise<string[]> {
  const sent = await testbed.service.during(() => overwrite(testbed, subject.path, text))
  return writes(sent).map(line => `${subject.kind}: saved again it is sent: ${line}`)
}

/** The file shows the text that only a part of was stored, and its draft says that the report was made. */
async function saysMade(testbed: MountTestbed, { subject, text }: Act): Promise<void> {
  const why = `.calcfs/drafts/${subject.draft}.why`
  const isSaid = async () =>
    /it was made as report \d+/.test(await textOf(testbed, why).catch(() => '')) &&
    (await textOf(testbed, subject.path)) === text
  await until(10_000, `${why} says so`, isSaid)
}

/** Once all of it is stored no draft of it is left. */
async function draftsOf(testbed: MountTestbed, { subject, word }: Act): Promise<string[]> {
  if (subject.made === undefined) return []
  const names = [subject.draft, `${subject.made(word)}.json`]
  const left = (await namesOf(testbed, '.calcfs/drafts')).filter(name => names.includes(name))
  return left.map(name => `${subject.kind}: the draft ${name} is left`)
}

type Begun = { act: Act; moment: Moment }

/** Where nothing is promised yet, nothing counts as written. */
async function reached(stand: Stand, scene: Scene, { act, moment }: Begun): Promise<Act> {
  const { testbed, disk } = stand
  const { path } = act.subject
  const whole = Buffer.byteLength(act.text)
  const save = (text = act.text) => outcome(overwrite(testbed, path, text))
  const failing = async (which: RegExp): Promise<Act> => {
    const mend = testbed.service.refuse(which, 500)
    const end = await save()
    mend()
    // Where it refused everything it counts as away until it is looked for again (AVAIL-4).
    const isBack = async () =>
      (await outcome(testbed.files.lstat(`by-id/project/9${words}000000`))) === 'ENOENT'
    await until(20_000, 'the service is met again', isBack, 100)
    return { ...act, written: whole, end }
  }
  const changes = /^(PUT|POST) (?!\/login)/
  const post = /^POST \/report$/
  /** The save is held up there, or over where it asks for no such thing. */
  const heldUp = async (...which: Parameters<Scene['held']>): Promise<Act> => {
    const reachedIt = scene.held(...which)
    const { closed } = await scene.writeAndClose(path, act.text)
    await Promise.race([reachedIt, closed])
    return { ...act, written: whole }
  }
  /** The second change of a save, with the draft on disk that says so. */
  const heldBehindPost = async (which: RegExp, when: 'before' | 'after'): Promise<Act> => {
    const reachedIt = scene.held(which, when, post)
    await scene.writeAndClose(path, act.text)
    await within(20_000, `${which} of a new report`, reachedIt)
    const atRisk = (await draftsLeft(stand.states)).filter(({ text }) => text.includes(act.word))
    if (!atRisk.some(({ state }) => state === 'sending')) throw new Error('no draft says that it is sent')
    return { ...act, written: whole }
  }
  switch (moment) {
    case 'anywhere':
      scene.inTheAir(perform(testbed, act))
      return act
    case 'titled before':
    case 'titled after':
      return heldBehindPost(/^PUT \/report/, moment === 'titled before' ? 'before' : 'after')
    case 'listed before':
    case 'listed after': {
      const takeList = testbed.service.rewrite(post, body => body.replace(/,"calculationIds":"[^"]*"/, ''))
      const when = moment === 'listed before' ? 'before' : 'after'
      return heldBehindPost(/^PUT \/report\/calculations$/, when).finally(takeList)
    }
    case 'saved':
      return { ...act, written: whole, end: await save() }
    case 'refused':
      return failing(changes)
    case 'taken away':
    case 'put aside': {
      const refused = await failing(changes)
      const { files } = testbed
      await (moment === 'put aside' ? files.rename(path, `${path}~`) : files.unlink(path))
      return refused
    }
    case 'unread':
      return failing(/^GET /)
    case 'no JSON': {
      const text = act.text.slice(0, -3)
      return { ...act, text, written: Buffer.byteLength(text), end: await save(text) }
    }
    case 'opened':
      await scene.open(path, 'w')
      return act
    case 'synced':
    case 'written':
    case 'in place': {
      const file = await scene.open(path, moment === 'in place' ? 'r+' : 'w')
      await file.write(act.text, 0)
      await file.truncate(whole)
      if (moment === 'synced') await file.sync()
      // A power cut takes what is not synced.
      return { ...act, written: moment === 'synced' || disk === undefined ? whole : 0 }
    }
    case 'before':
    case 'after':
      return heldUp(changes, moment)
    case 'moved over': {
      const beside = besideOf(path)
      await overwrite(testbed, beside, act.text)
      const reachedIt = scene.held(changes, 'before')
      scene.inTheAir(testbed.files.rename(beside, path))
      await reachedIt
      return { ...act, written: whole }
    }
    case 'asking': {
      const held = await heldUp(/^GET /, 'before')
      // Nothing was acknowledged, and the question may have been another one's.
      return { ...held, written: disk === undefined ? whole : 0 }
    }
    case 'read back':
      return heldUp(/^GET /, 'after', changes)
    case 'scratch': {
      const file = await scene.open(`reports/42.json.${act.word}.swp`, 'w')
      await file.write(act.text, 0)
      await file.sync()
      return { ...act, written: whole }
    }
  }
}
