// Races: two edits of one record at once, by two machines, two mounts, two programs, and a mount and the web page: both texts are to be had.
import { join } from 'node:path'
import { write } from '../../model/actions/writing.js'
import { clear, historyIn, textsWaiting } from '../../nothing-lost/acts.js'
import { openSubjects, type Subjects, turnedRows, withWord } from '../../nothing-lost/subjects.js'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import { outcome, type TestLifetime, textOf } from '../../testbed/testbed.js'
import type { Chance } from '../chance.js'
import type { Figure, Frame } from '../engine.js'

/** `page`: the other side is the platform's web page, which compares nothing. */
interface Pair {
  readonly one: MountTestbed
  readonly other: MountTestbed | 'page'
}

const settings = { logLevel: 'info', ttlListing: '300ms' }
/** The other side of each kind. */
const others = {
  'two machines': (scope, { service }) => realMount(scope, { settings }, { service }),
  'two mounts of one state directory': (scope, { service, home }) =>
    realMount(scope, { settings }, { service, home }),
  'two programs with old buffers on one mount': async (_, one) => one,
  'a mount and the web page': async () => 'page',
} satisfies Record<string, (scope: TestLifetime, one: MountTestbed) => Promise<Pair['other']>>
const kinds = Object.keys(others) as (keyof typeof others)[]
const overwritten = 'changes of the web page overwritten in the window'

/** What an edit says otherwise. */
const edits = {
  title: withWord('title'),
  description: withWord('description'),
  rows: turnedRows,
} as const
const whats = ['title', 'description', 'rows'] as const

/** All texts that are moved over a record have one name, so one of the two writes in place, and neither reads meanwhile: a program that reads edits the newer text. */
const planOf = (pick: Chance) => ({
  sides: [
    { what: pick.of(whats), style: pick.of(['overwrite', 'backup', 'rename over'] as const) },
    { what: pick.of(whats), style: 'overwrite' as const },
  ],
  /** Milliseconds by which the second begins later. */
  later: pick.once(2) ? 0 : pick.whole(0, 40),
})

let words = 0

/** What is wrong after the two, in words. */
async function race(
  frame: Frame,
  pair: Pair,
  subjects: Subjects,
  plan: ReturnType<typeof planOf>,
): Promise<string[]> {
  const { one, other } = pair
  const { path } = subjects.make('report')
  const id = /(\d+)[.]json$/.exec(path)?.[1] ?? ''
  const stored = () => one.service.elsewhere('GET', `/report?id=${id}`)
  const sides = []
  for (const [at, { what, style }] of plan.sides.entries()) {
    const ground = at === 0 ? one : other
    const word = `word${process.pid}r${++words}`
    const text = edits[what](ground === 'page' ? await stored() : await textOf(ground, path), word)
    const save = () => (ground === 'page' ? outcome(onPage(one, text)) : write(ground, path, text, style))
    sides.push({ what, ground, word, save })
  }
  const [first, second] = sides
  // Two programs that write one file of one mount at once mix their bytes, as on a local disk: there one comes after the other.
  const ends =
    one === other
      ? [await first?.save(), await second?.save()]
      : await Promise.all([first?.save(), one.pass(plan.later).then(() => second?.save())])
  const now = await stored()
  const wrong: string[] = []
  // Between its PUT and its reading again another client's PUT may come, which calcfs cannot see: EIO says so.
  const allowed = ['done', 'ESTALE', 'EIO']
  const elsewhere = await kept(pair, id)
  for (const [at, { word, what, ground }] of sides.entries()) {
    const isLost = ![now, ...elsewhere].some(text => text.includes(word))
    // A change that came between reading the record and sending it was never seen: the API has no conditional request.
    if (isLost && ground === 'page') frame.add(overwritten)
    else if (isLost) wrong.push(`the ${what} of side ${at} is nowhere`)
    if (!allowed.includes(`${ends[at]}`)) wrong.push(`side ${at} ended with ${ends[at]}`)
  }
  for (const testbed of mountsOf(pair)) await clear(testbed)
  frame.add(`ended ${[...ends].sort().join(' and ')}`)
  return wrong.map(what => `${what} (${JSON.stringify(plan)}, ended ${ends})`)
}

const mountsOf = ({ one, other }: Pair): ReadonlySet<MountTestbed> =>
  new Set(other === 'page' ? [one] : [one, other])

async function onPage({ service }: MountTestbed, text: string): Promise<void> {
  const { calculations, ...record } = JSON.parse(text)
  const ids = calculations.map((row: { calcId: number }) => row.calcId)
  await service.elsewhere('PUT', '/report', JSON.stringify({ ...record, calculations }))
  const body = JSON.stringify({ id: record.id, listCalculations: ids.join(',') })
  await service.elsewhere('PUT', '/report/calculations', body)
}

/** Every text of the report that the two sides have among their drafts and in their histories. */
async function kept(pair: Pair, id: string): Promise<string[]> {
  const texts: string[] = []
  for (const testbed of mountsOf(pair)) {
    texts.push(...(await textsWaiting(testbed)).values())
    texts.push(...(await historyIn(join(testbed.home, 'state', 'calcfs'), `report-${id}`)))
  }
  return texts
}

/** Races on one pair of mounts: their folder of reports must not grow without end. */
const onOnePair = { cut: 5, full: 100 }

async function run(frame: Frame): Promise<void> {
  await frame.onGrounds(
    async (scope, turn, pick) => {
      const kind = kinds[turn % kinds.length] ?? 'two machines'
      const one = await realMount(scope, { settings })
      const other = await others[kind](scope, one)
      const subjects = openSubjects(scope, one)
      return async () => {
        frame.add(kind)
        const wrong = await race(frame, { one, other }, subjects, planOf(pick))
        return wrong.map(what => `${kind}: ${what}`)
      }
    },
    { cases: onOnePair[frame.order.scale], ...(frame.isFull ? {} : { grounds: kinds.length }) },
  )
  if (frame.counted(overwritten) > 0)
    frame.short('a change of the web page between reading and sending: the API has no conditional request')
}

export const races: Figure = {
  name: 'races',
  goal: '500 pairs each of two machines, two mounts of one state directory, two old buffers on one mount, and a mount and the web page: both texts to be had each time',
  least: Object.fromEntries(kinds.map(kind => [kind, 500])),
  run,
}
