// The machine's power goes in the middle of edits: what was acknowledged is on the disk, though nothing else may be.

import type { Chance } from '../../long/chance.js'
import type { ForgetfulDisk } from '../../testbed/disk/forgetful-disk.js'
import { type Cut, cuts } from '../../testbed/disk/forgetful-tree.js'
import type { MountTestbed } from '../../testbed/mount.js'
import { outcome, overwrite } from '../../testbed/testbed.js'
import { type Act, actOn, clear, finish, historyIn, lossOf, settled, textsWaiting } from '../acts.js'
import { type SubjectKind, type Subjects, subjectKinds } from '../subjects.js'
import { type Scene, sceneOn } from './scene.js'

/**
 * How far an edit is when the power goes. saved: close was answered well. refused: the service refused it. unread: the
 * save ended before anything was sent. no JSON: the text is half a text. synced: fsync was answered, the file is open.
 * written: write was answered, and nothing more is promised. before, after: the request is held up there.
 */
export const moments = [
  'saved',
  'refused',
  'unread',
  'no JSON',
  'synced',
  'written',
  'before',
  'after',
  'scratch',
] as const
export type Moment = (typeof moments)[number]

export interface Stand {
  readonly testbed: MountTestbed
  readonly disk: ForgetfulDisk
  readonly subjects: Subjects
}

export interface Plan {
  readonly edits: readonly { readonly kind: SubjectKind; readonly moment: Moment }[]
  readonly cut: Cut
  readonly seed: number
}

export const planBy = (pick: Chance): Plan => ({
  edits: Array.from({ length: pick.whole(1, 4) }, () => ({
    kind: pick.of(subjectKinds),
    moment: pick.of(moments),
  })),
  cut: pick.of(cuts),
  seed: pick.whole(0, 2 ** 31),
})

let words = 0

/** What is wrong after the cut, in words. */
export async function powerCut(stand: Stand, plan: Plan): Promise<string[]> {
  const { testbed, disk, subjects } = stand
  const heard = testbed.service.heard.length
  const scene = sceneOn(testbed)
  const begun: (Begun & { readonly whole: string })[] = []
  for (const { kind, moment } of plan.edits) {
    const act = await actOn(subjects.make(kind), `word${process.pid}x${++words}`, 'overwrite')
    begun.push({ act: await reached(stand, scene, { act, moment }), moment, whole: act.text })
  }
  const stored = begun.map(({ act }) => act.subject.isStored(act.word))
  await testbed.kill9()
  await disk.cut(plan.cut, plan.seed)
  await scene.cleanUp()
  await testbed.mount()
  await settled(disk.directory)
  const waiting = [...(await textsWaiting(testbed)).values()]
  const history = await historyIn(disk.directory)
  const about = `(${plan.edits.map(({ kind, moment }) => `${kind} ${moment}`).join(', ')}; cut ${plan.cut} ${plan.seed})`
  const wrong: string[] = []
  for (const [at, { act, moment, whole }] of begun.entries()) {
    wrong.push(...lossOf(act, { heard: testbed.service.heard.slice(heard), subjects, waiting }))
    const isInHistory = history.some(text => text.includes(act.word))
    if (moment === 'saved' && act.end === 'done' && !isInHistory)
      wrong.push(`${act.subject.kind}: a text that was sent is not in the history`)
    if (act.subject.isStored(act.word) !== stored[at])
      wrong.push(`${act.subject.kind}: was sent by itself after the start`)
    if (moment !== 'scratch') wrong.push(...(await finish(testbed, { ...act, text: whole })))
  }
  await clear(testbed)
  return wrong.map(one => `${one} ${about}`)
}

type Begun = { act: Act; moment: Moment }

/** Where nothing is promised yet, nothing counts as written. */
async function reached(stand: Stand, scene: Scene, { act, moment }: Begun): Promise<Act> {
  const { testbed } = stand
  const { path } = act.subject
  const whole = Buffer.byteLength(act.text)
  const save = (text = act.text) => outcome(overwrite(testbed, path, text))
  const failing = async (which: RegExp): Promise<Act> => {
    const mend = testbed.service.intercept(which, response => void response.writeHead(500).end())
    const end = await save()
    mend()
    return { ...act, written: whole, end }
  }
  switch (moment) {
    case 'saved':
      return { ...act, written: whole, end: await save() }
    case 'refused':
      return failing(/^(PUT|POST) (?!\/login)/)
    case 'unread':
      return failing(/^GET /)
    case 'no JSON': {
      const text = act.text.slice(0, -3)
      return { ...act, text, written: Buffer.byteLength(text), end: await save(text) }
    }
    case 'synced':
    case 'written': {
      const file = await scene.open(path, 'w')
      await file.write(act.text, 0)
      if (moment === 'synced') await file.sync()
      return { ...act, written: moment === 'synced' ? whole : 0 }
    }
    case 'before':
    case 'after': {
      const reachedIt = scene.held(/^(PUT|POST) (?!\/login)/, moment)
      await scene.writeAndClose(path, act.text)
      await reachedIt
      return { ...act, written: whole }
    }
    case 'scratch': {
      const file = await scene.open(`reports/42.json.${act.word}.swp`, 'w')
      await file.write(act.text, 0)
      await file.sync()
      return { ...act, written: whole }
    }
  }
}
