// kill -9 at any moment of up to three edits at once: what was written is there, and nothing is stored or made twice.

import { join } from 'node:path'
import type { Chance } from '../../long/chance.js'
import { type Style, styles } from '../../model/actions/writing.js'
import type { MountTestbed } from '../../testbed/mount.js'
import { actOn, clear, finish, lossOf, perform, settled, textsWaiting } from '../acts.js'
import { type SubjectKind, type Subjects, subjectKinds } from '../subjects.js'

export interface KillPlan {
  readonly edits: readonly { readonly kind: SubjectKind; readonly style: Style }[]
  /** Milliseconds from the beginning of the edits to the kill. */
  readonly after: number
}

/** Only one edit at a time moves its text over the record: all such texts have one name. */
export function killPlan(pick: Chance): KillPlan {
  const still = styles.filter(style => style !== 'rename over')
  const edits = Array.from({ length: pick.whole(1, 3) }, (_, at) => {
    const kind = pick.of(subjectKinds)
    const isNew = kind === 'new report' || kind === 'order'
    const style = pick.of(at === 0 ? styles : still)
    return { kind, style: isNew ? ('overwrite' as const) : style }
  })
  // Short waits are as likely as long ones: most of a save is over in a few milliseconds.
  return { edits, after: Math.round(400 ** pick.fraction()) - 1 }
}

let words = 0

/** What is wrong after the kill, in words. */
export async function killAny(testbed: MountTestbed, subjects: Subjects, plan: KillPlan): Promise<string[]> {
  const states = join(testbed.home, 'state', 'calcfs')
  const heard = testbed.service.heard.length
  const acts = []
  for (const { kind, style } of plan.edits)
    acts.push(await actOn(subjects.make(kind), `word${process.pid}y${++words}`, style))
  const performed = acts.map(act => perform(testbed, act))
  await testbed.pass(plan.after)
  await testbed.kill9()
  await Promise.all(performed)
  await testbed.mount()
  await settled(states)
  const records = acts.map(({ subject }) => subject.path)
  const waiting = [...(await textsWaiting(testbed, records)).values()]
  const wrong: string[] = []
  for (const act of acts) {
    wrong.push(...lossOf(act, { heard: testbed.service.heard.slice(heard), subjects, waiting }))
    wrong.push(...(await finish(testbed, act)))
  }
  await clear(testbed, records)
  return wrong.map(one => `${one} (${JSON.stringify(plan)})`)
}
