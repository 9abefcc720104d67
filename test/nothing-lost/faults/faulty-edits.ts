// Edits over a line on which requests fail: no text is lost, nothing is stored twice, and no other client's change is undone unseen.
import type { Interceptor } from '../../testbed/proxy.js'
import { outcome, type Testbed, textOf } from '../../testbed/testbed.js'
import { type Act, actOn, finish, perform } from '../acts.js'
import type { SubjectKind, Subjects } from '../subjects.js'
import { faults } from './faulty-requests.js'

/** Which fault the next request meets; undefined where it passes. */
export type Luck = () => string | undefined

export interface FaultyEdit {
  readonly kind: SubjectKind
  /** What another client changes after this one has read: the same field, another one, or nothing. */
  readonly other: 'same' | 'another' | 'none'
  readonly luck: Luck
}

export interface FaultyEnd {
  /** The errno of the save, or 'done'. */
  readonly end: string
  /** The faults that requests have met. */
  readonly met: readonly string[]
  readonly wrong: readonly string[]
}

let words = 0
const everything = /^(GET|HEAD|PUT|POST|DELETE) /

export async function faultyEdit(testbed: Testbed, subjects: Subjects, edit: FaultyEdit): Promise<FaultyEnd> {
  const { service } = testbed
  const act = await patiently(testbed, () =>
    actOn(subjects.make(edit.kind), `word${process.pid}z${++words}`, 'overwrite'),
  )
  const isMet = edit.kind === 'report'
  const theirs = await elsewhere(testbed, subjects, act, edit.other)
  const met: string[] = []
  const carried: string[] = []
  const mend = service.intercept(everything, async (response, passing) => {
    const { heard } = passing
    const carryOut = () => {
      if (heard.method !== 'GET') carried.push(`${heard.method} ${heard.path} ${heard.body}`)
      return passing.carryOut()
    }
    // A log-in that is refused, or silent, delays every request: that is another test's matter.
    const name = heard.path === '/login' ? undefined : edit.luck()
    const how: Interceptor = (name === undefined ? undefined : faults[name]) ?? passed
    if (name !== undefined) met.push(`${name} at ${heard.method} ${heard.path}`)
    await how(response, { heard, carryOut })
  })
  await perform(testbed, act)
  mend()
  const wrong = [...after(act, carried)]
  if (!act.subject.isStored(act.word)) wrong.push(...(await kept(testbed, act)))
  if (isMet && edit.other === 'same' && act.end === 'done')
    wrong.push('a change of the same field was overwritten unseen')
  wrong.push(...(await finish(testbed, act)))
  if (isMet && edit.other === 'another' && !theirs()) wrong.push('a change of another field was undone')
  const about = `${edit.kind}, other client: ${edit.other}, ended ${act.end}, met ${met.join(', ')}`
  return { end: act.end ?? '', met, wrong: wrong.map(one => `${one} (${about})`) }
}

/** After a fault the drive may answer with an errno for a moment: the service is looked for every two seconds. */
async function patiently<Value>(testbed: Testbed, work: () => Promise<Value>): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (thrown) {
      if (tries === 8) throw thrown
      await testbed.pass(2_100)
      await new Promise(wake => setTimeout(wake, 300))
    }
  }
}

const passed: Interceptor = async (_, { carryOut }) => {
  const passOn = await carryOut()
  passOn()
}

function after(act: Act, carried: readonly string[]): string[] {
  const { subject, word, end } = act
  const wrong: string[] = []
  if (end === 'done' && !subject.isStored(word))
    wrong.push('close was answered well, and the service lacks it')
  if (subject.copies(word) > 1) wrong.push(`${subject.copies(word)} of it`)
  const twice = carried.find((line, at) => line.includes(word) && carried.indexOf(line) !== at)
  if (twice !== undefined) wrong.push(`carried out twice: ${twice}`)
  return wrong
}

/** The file shows the text that could not be saved, and so does its draft. */
async function kept(testbed: Testbed, { subject, text }: Act): Promise<string[]> {
  for (const path of [subject.path, `.calcfs/drafts/${subject.draft}`]) {
    let shown: string | undefined
    const end = await outcome(
      textOf(testbed, path).then(found => {
        shown = found
      }),
    )
    if (shown !== text) return [`${path} does not show the text (${end})`]
  }
  return []
}

/** Another client changes the record on the platform's pages; answers whether its change is still there. */
async function elsewhere(
  { service }: Testbed,
  subjects: Subjects,
  { subject, word }: Act,
  other: FaultyEdit['other'],
): Promise<() => boolean> {
  const id = /^reports[/](\d+)[.]json$/.exec(subject.path)?.[1]
  if (other === 'none' || id === undefined) return () => true
  const theirs = `theirs-${word.length}-${words}`
  const field = other === 'same' ? 'title' : 'description'
  await service.edit('report', id, { [field]: theirs })
  return () => subjects.hasReport(id, theirs)
}
