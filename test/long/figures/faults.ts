// Faults over edits: whatever happens to the requests of a save, its text is kept, stored once, and undoes no other change.
import { type Act, actOn, finish, perform } from '../../nothing-lost/acts.js'
import { openSubjects, type SubjectKind, type Subjects, subjectKinds } from '../../nothing-lost/subjects.js'
import { inProcess } from '../../testbed/in-process.js'
import { realMount } from '../../testbed/mount.js'
import type { Interceptor } from '../../testbed/proxy.js'
import { outcome, type Testbed, textOf } from '../../testbed/testbed.js'
import type { Chance } from '../chance.js'
import type { Figure, Frame } from '../engine.js'

const answered = (status: number, said = '{"error":"no"}', type = 'application/json') => ({
  status,
  said,
  type,
})
type Answer = ReturnType<typeof answered> | 'reset' | 'silence' | 'half'

/** @param when whether the service carries the request out all the same */
const fault =
  (answer: Answer, when: 'before' | 'after'): Interceptor =>
  async (response, { carryOut }) => {
    if (when === 'after') await carryOut()
    if (answer === 'silence') return
    if (answer === 'reset') return void response.destroy()
    if (answer === 'half') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 })
      response.write('{"id":')
      return void setTimeout(() => response.destroy(), 5)
    }
    response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.said)
  }

/** What may go wrong with a request before the service has it, or after it was carried out. */
const wheneverFaults: Readonly<Record<string, Answer>> = {
  reset: 'reset',
  silence: 'silence',
  'half an answer': 'half',
  '204': answered(204, ''),
  '302': answered(302),
  '500': answered(500),
  '502': answered(502, '<html>Bad gateway</html>', 'text/html'),
  '504': answered(504),
  'a page': answered(200, '<html><title>Please sign in</title></html>', 'text/html'),
}
/** Each by a name that a failing case prints. A 4xx, a 429 and a 503 say that nothing was carried out, so none comes after. */
const faults: Readonly<Record<string, Interceptor>> = {
  ...Object.fromEntries(
    Object.entries(wheneverFaults).flatMap(([name, answer]) =>
      (['before', 'after'] as const).map(when => [`${name} ${when}`, fault(answer, when)]),
    ),
  ),
  'an empty record before': fault(answered(200, '{}'), 'before'),
  'no JSON after': fault(answered(200, '{"id":1,'), 'after'),
  ...Object.fromEntries([401, 409, 429, 503].map(code => [`${code}`, fault(answered(code), 'before')])),
}
const faultNames = Object.keys(faults)

interface FaultyEdit {
  readonly kind: SubjectKind
  /** What another client changes after this one has read: the same field, another one, or nothing. */
  readonly other: 'same' | 'another' | 'none'
  /** Which fault the next request meets; undefined where it passes. */
  readonly luck: () => string | undefined
}

let words = 0

/** What is wrong with an edit over such a line, in words. */
async function faultyEdit(
  frame: Frame,
  testbed: Testbed,
  subjects: Subjects,
  { kind, other, luck }: FaultyEdit,
): Promise<string[]> {
  const act = await patiently(testbed, () =>
    actOn(subjects.make(kind), `word${process.pid}z${++words}`, 'overwrite'),
  )
  const { subject, word } = act
  const theirs = await elsewhere(testbed, subjects, act, other)
  const met: string[] = []
  const carried: string[] = []
  const mend = testbed.service.intercept(
    /^(GET|HEAD|PUT|POST|DELETE) /,
    async (response, { heard, carryOut }) => {
      const { method, path, body } = heard
      const carry = () => {
        if (method !== 'GET') carried.push(`${method} ${path} ${body}`)
        return carryOut()
      }
      // A log-in that is refused, or silent, delays every request: that is another test's matter.
      const name = path === '/login' ? undefined : luck()
      if (name === undefined) return (await carry())()
      met.push(`${name} at ${method} ${path}`)
      await faults[name]?.(response, { heard, carryOut: carry })
    },
  )
  await perform(testbed, act)
  mend()
  frame.add('faults met', met.length)
  const wrong: string[] = []
  if (act.end === 'done' && !subject.isStored(word))
    wrong.push('close was answered well, and the service lacks it')
  if (subject.copies(word) > 1) wrong.push(`${subject.copies(word)} of it`)
  const twice = carried.find((line, at) => line.includes(word) && carried.indexOf(line) !== at)
  if (twice !== undefined) wrong.push(`carried out twice: ${twice}`)
  if (!subject.isStored(word)) wrong.push(...(await kept(testbed, act)))
  if (kind === 'report' && other === 'same' && act.end === 'done')
    wrong.push('a change of the same field was overwritten unseen')
  wrong.push(...(await finish(testbed, act)))
  if (kind === 'report' && other === 'another' && !theirs())
    wrong.push('a change of another field was undone')
  const about = `${kind}, other client: ${other}, ended ${act.end}, met ${met.join(', ')}`
  return wrong.map(one => `${one} (${about})`)
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

/** The file shows the text that could not be saved, and so does its draft. */
async function kept(testbed: Testbed, { subject, text }: Act): Promise<string[]> {
  const wrong: string[] = []
  for (const path of [subject.path, `.calcfs/drafts/${subject.draft}`]) {
    let shown: string | undefined
    const end = await outcome(
      textOf(testbed, path).then(found => {
        shown = found
      }),
    )
    if (shown !== text) wrong.push(`${path} does not show the text (${end})`)
  }
  return wrong
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
  await service.edit('report', id, { [other === 'same' ? 'title' : 'description']: theirs })
  return () => subjects.hasReport(id, theirs)
}

/** The n-th request of a save, or it and all that follow. */
const positions = [1, 2, 3, 4, 5, 6] as const
const settings = { deadlineSave: '1200ms', deadlineMetadata: '800ms', logLevel: 'info' }
/** A third of it in fact: without a kernel every wait below five seconds is cut short. */
const hasty = { ...settings, deadlineSave: '4500ms', deadlineMetadata: '3s' }
/** Edits on one ground: its folder of reports must not grow without end. */
const onOneGround = 120

/** Every kind of edit × fault × position, once or from then on, on a real mount. */
async function placed(frame: Frame, until: number): Promise<void> {
  const cases = frame.pick.shuffled(
    subjectKinds.flatMap(kind =>
      faultNames.flatMap(name =>
        positions.flatMap(position => [false, true].map(isLasting => ({ kind, name, position, isLasting }))),
      ),
    ),
  )
  await frame.onGrounds(
    async (scope, _, pick) => {
      const testbed = await realMount(scope, { settings })
      const subjects = openSubjects(scope, testbed)
      return async () => {
        const one = cases.pop()
        if (one === undefined) return 'none left'
        let requests = 0
        const luck = () => {
          requests += 1
          const isDue = one.isLasting ? requests >= one.position : requests === one.position
          return isDue ? one.name : undefined
        }
        frame.add('placed')
        return faultyEdit(frame, testbed, subjects, { kind: one.kind, other: anyOther(pick), luck })
      }
    },
    { cases: onOneGround, until },
  )
}

const anyOther = (pick: Chance): FaultyEdit['other'] => pick.of(['none', 'none', 'same', 'another'] as const)

/** Edits one after another over a line of which one request in so many fails, without a kernel. */
const atRandom = (frame: Frame, lanes: number, least: number): Promise<void> =>
  frame.onGrounds(
    async (scope, _, pick) => {
      const testbed = await inProcess(scope, { settings: hasty, speedup: 3 })
      const subjects = openSubjects(scope, testbed)
      return async () => {
        const inTen = pick.of([1, 3])
        const luck = () => (pick.fraction() * 10 < inTen ? pick.of(faultNames) : undefined)
        frame.add(`random, ${inTen} in 10`)
        const edit = { kind: pick.of(subjectKinds), other: anyOther(pick), luck }
        return faultyEdit(frame, testbed, subjects, edit)
      }
    },
    { cases: onOneGround, lanes, least },
  )

/** Of the time for the placed ones, which end sooner where the machine has nothing else to do. */
const placedShare = 0.4

async function run(frame: Frame): Promise<void> {
  if (!frame.isFull) return atRandom(frame, 1, 10)
  await placed(frame, Date.now() + (frame.order.until - Date.now()) * placedShare)
  await atRandom(frame, 4, 0)
}

export const faultsOverEdits: Figure = {
  name: 'faults',
  goal: 'edits over a faulty line, 1,440 placed and 10,000 random (1 in 10, 3 in 10 requests): 0 lost, 0 doubled, 0 silent overwrites',
  least: { placed: 1_440, 'random, 1 in 10': 5_000, 'random, 3 in 10': 5_000 },
  run,
}
