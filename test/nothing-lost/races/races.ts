// Two edits of one record at the same moment: both texts are to be had afterwards.
import { join } from 'node:path'
import type { Chance } from '../../long/chance.js'
import { type Style, write } from '../../model/actions/writing.js'
import type { MountTestbed } from '../../testbed/mount.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { clear, historyIn, textsWaiting } from '../acts.js'
import { type Subjects, turnedRows, withWord } from '../subjects.js'

/** What an edit says otherwise. */
const edits = {
  title: withWord('title'),
  description: withWord('description'),
  rows: turnedRows,
} as const
type What = keyof typeof edits
const whats = ['title', 'description', 'rows'] as const

/** `page`: the other side is the platform's web page, which compares nothing. */
export interface Pair {
  readonly one: MountTestbed
  readonly other: MountTestbed | 'page'
}

export interface RacePlan {
  readonly one: { readonly what: What; readonly style: Style }
  readonly other: { readonly what: What; readonly style: Style }
  /** Milliseconds by which the second begins later. */
  readonly later: number
}

/** Ways of saving that read nothing meanwhile: a program that reads edits the newer text. */
const blind = ['overwrite', 'backup', 'rename over'] as const

export function racePlan(pick: Chance): RacePlan {
  const style = pick.of(blind)
  // All texts that are moved over a record have one name, so one of the two writes in place.
  return {
    one: { what: pick.of(whats), style },
    other: { what: pick.of(whats), style: 'overwrite' },
    later: pick.once(2) ? 0 : pick.whole(0, 40),
  }
}

export interface Raced {
  readonly ends: string
  /** Changes of the web page that the mount's save has overwritten without ever having seen them. */
  readonly unseen: number
  readonly wrong: readonly string[]
}

let words = 0

/** What is wrong after the two, in words. */
export async function race(pair: Pair, subjects: Subjects, plan: RacePlan): Promise<Raced> {
  const { service } = pair.one
  const { path } = subjects.make('report')
  const id = /(\d+)[.]json$/.exec(path)?.[1] ?? ''
  const sides = ([plan.one, plan.other] as const).map(({ what, style }, at) => ({
    what,
    style,
    ground: at === 0 ? pair.one : pair.other,
    word: `word${process.pid}r${++words}`,
  }))
  const stored = () => service.elsewhere('GET', `/report?id=${id}`)
  const saves = []
  for (const { ground: testbed, what, word, style } of sides) {
    const before = testbed === 'page' ? await stored() : await textOf(testbed, path)
    const text = edits[what](before, word)
    saves.push(() =>
      testbed === 'page'
        ? outcome(onPage(pair.one, text))
        : style === 'overwrite'
          ? outcome(overwrite(testbed, path, text))
          : write(testbed, path, text, style),
    )
  }
  const [first, second] = saves
  // Two programs that write one file of one mount at once mix their bytes, as on a local disk: there one comes after the other.
  const ends =
    pair.one === pair.other
      ? [await first?.(), await second?.()]
      : await Promise.all([first?.(), pair.one.pass(plan.later).then(() => second?.())])
  const now = await stored()
  const wrong: string[] = []
  // Between its PUT and its reading again another client's PUT may come, which calcfs cannot see: EIO says so.
  const allowed = ['done', 'ESTALE', 'EIO']
  const elsewhere = await kept(pair, id)
  let unseen = 0
  for (const [at, { word, what }] of sides.entries()) {
    const isThere = now.includes(word)
    const isLost = !isThere && !elsewhere.some(text => text.includes(word))
    // A change that came between reading the record and sending it was never seen: the API has no conditional request.
    if (isLost && sides[at]?.ground === 'page') unseen++
    else if (isLost) wrong.push(`the ${what} of side ${at} is nowhere`)
    if (!allowed.includes(`${ends[at]}`)) wrong.push(`side ${at} ended with ${ends[at]}`)
  }
  await clear(pair.one)
  if (pair.other !== 'page' && pair.other !== pair.one) await clear(pair.other)
  const about = `${JSON.stringify(plan)}, ended ${ends}`
  return { unseen, ends: [...ends].sort().join(' and '), wrong: wrong.map(one => `${one} (${about})`) }
}

async function onPage({ service }: MountTestbed, text: string): Promise<void> {
  const { calculations, ...record } = JSON.parse(text)
  const ids = calculations.map((row: { calcId: number }) => row.calcId)
  await service.elsewhere('PUT', '/report', JSON.stringify({ ...record, calculations }))
  const body = JSON.stringify({ id: record.id, listCalculations: ids.join(',') })
  await service.elsewhere('PUT', '/report/calculations', body)
}

/** Every text of the report that the two sides have among their drafts and in their histories. */
async function kept({ one, other }: Pair, id: string): Promise<string[]> {
  const texts: string[] = []
  for (const testbed of new Set([one, other])) {
    if (testbed === 'page') continue
    texts.push(...(await textsWaiting(testbed)).values())
    texts.push(...(await historyIn(join(testbed.home, 'state', 'calcfs'), `report-${id}`)))
  }
  return texts
}
