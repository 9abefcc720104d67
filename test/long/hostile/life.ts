// One life of a daemon among odd answers: the cases, then everything is well again, a remount, and each content is read once more.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import type { Settings } from '../../testbed/daemon.js'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import { until as eventually } from '../../testbed/within.js'
import type { Chance } from '../chance.js'
import { descriptorsOf, memoryOf, mistakesOf } from '../daemon.js'
import type { Frame } from '../engine.js'
import { scoped } from '../scope.js'
import { timed } from '../timed.js'
import { type Case, isBody, openCase, type Plan, written } from './case.js'
import { fileOf, type Judged, type Scene, tried, tryContent } from './doors.js'
import { openOrigin } from './origin.js'
import { openWorld, type Way } from './world.js'

export interface Stage {
  readonly way: Way
  readonly pick: Chance
  /** The address of an origin that must never be asked. */
  readonly elsewhere: string
  readonly frame: Frame
  /** Per cent by which the memory of each long life has grown in its second half. */
  readonly growths: number[]
}

/** Deadlines of a second; none given are the defaults. */
export const fast: Settings = { deadlineMetadata: '1s', deadlineSave: '1s' }
/** Cases at once on one mount. */
const atOnce = 6
const triesInTime = 10
/** What an answer to another program may have done: such a case is tried again by itself. */
const disturbed = /^(EHOSTUNREACH|ETIMEDOUT)$/

let numbers = 100_000
/** A number that nothing has been asked about. */
function nextNumber(): string {
  numbers += 1
  return String(numbers)
}

export async function playLife(stage: Stage, plans: readonly Plan[], settings: Settings): Promise<void> {
  const { pick, elsewhere, frame, way } = stage
  await scoped(async scope => {
    const world = openWorld(way)
    const cases: Case[] = []
    const origin = await openOrigin(scope, asked => ({
      answer: world.answer(asked),
      intercept: cases.map(one => one.intercept(asked)).find(found => found !== undefined),
    }))
    const wish = { settings: { cacheSize: '300M', logLevel: 'warn', ...settings }, xattrs: 'off' as const }
    const drive = await patiently(() => realMount(scope, wish, { url: origin.url }))
    const deadline = settings === fast ? 1_000 : 20_000
    const scene = { drive, world, limit: 4 * deadline + (frame.isFull ? 10_000 : 30_000) }
    const isTime = (): boolean => Date.now() < frame.order.until && drive.alive()

    async function isWell(): Promise<boolean> {
      const path = join(drive.directory, `by-id/project/${nextNumber()}`)
      return (await timed(scene.limit, ({ call }) => call(stat(path)))).errno === undefined
    }

    async function once(plan: Plan): Promise<Judged & { readonly trial: Case }> {
      const id = nextNumber()
      world.resize(
        id,
        isBody(plan.door) ? 'bytes' : plan.door === 'listing' ? 'listing' : 'record',
        plan.size,
      )
      const trial = openCase(plan, id, { pick: pick.branch(), elsewhere })
      cases.push(trial)
      const judged = await tried(trial, scene)
      if (judged.came === 'wrong')
        frame.wrong.push(`${judged.what}: ${written(plan)} [${trial.asked.join('; ')}]`)
      frame.add('operations')
      frame.most('milliseconds of a call', judged.slowest)
      return { ...judged, trial }
    }

    const again: Plan[] = []
    const contents: Case[] = []
    function note({ came, trial }: Judged & { readonly trial: Case }): void {
      frame.add(came === 'untold' ? 'untellable lies' : came)
      if (isBody(trial.plan.door)) contents.push(trial)
    }
    async function together(plan: Plan): Promise<void> {
      if (!isTime()) return
      const judged = await once(plan)
      if (judged.came === 'refused' && disturbed.test(judged.what)) again.push(plan)
      else note(judged)
    }
    async function alone(plan: Plan): Promise<void> {
      if (!isTime()) return
      const judged = await once(plan)
      note(judged)
      if (plan.door === 'login') judged.trial.end()
      if (plan.door !== 'login' && !disturbed.test(judged.what)) return
      await eventually(60_000, 'well again', isWell).catch(() =>
        frame.wrong.push(`not well again after 60 s: ${written(plan)}`),
      )
    }

    await warmUp(drive, scene.limit)
    const before = await descriptorsOf(drive)
    const ordinary = plans.filter(({ door }) => door !== 'login')
    const limit = pLimit(atOnce)
    const half = ordinary.length >> 1
    await Promise.all(ordinary.slice(0, half).map(plan => limit(() => together(plan))))
    const inTheMiddle = half < warmWithin ? undefined : await restingMemory(drive)
    await Promise.all(ordinary.slice(half).map(plan => limit(() => together(plan))))
    if (inTheMiddle !== undefined && isTime())
      stage.growths.push(((await restingMemory(drive)) / inTheMiddle) * 100 - 100)
    await eventually(60_000, 'well again', async () => !isTime() || (await isWell())).catch(() =>
      frame.wrong.push(`not well again after 60 s`),
    )
    for (const plan of [...again, ...plans.filter(({ door }) => door === 'login')]) await alone(plan)

    for (const trial of cases) trial.end()
    origin.endAnswers()
    if (!drive.alive()) {
      frame.wrong.push(`the daemon died: ${(await drive.log()).slice(-500)}`)
      return
    }
    for (const mistake of await mistakesOf(drive)) frame.wrong.push(`logged ${mistake}`)
    await settled(drive, before, stage)
    const code = await drive.terminate()
    if (code !== 0) frame.wrong.push(`the daemon ended with ${code}`)
    await patiently(drive.mount)
    for (const trial of contents) {
      if (Date.now() > frame.order.until + 30_000) break
      await readAgain(trial, scene, stage)
    }
  })
}

/** A few good answers, so that what is opened once is open. */
async function warmUp(drive: MountTestbed, limit: number): Promise<void> {
  for (let at = 1; at <= 8; at += 1)
    await timed(limit, ({ call }) => call(stat(join(drive.directory, `by-id/calculation/${at}/data.bin`))))
}

/** Cases after which a daemon has its code and connections; answers fill their bound for 2,000 more. */
const warmWithin = 150

/** Bytes that a daemon has once nothing is asked of it for a moment. */
async function restingMemory(drive: MountTestbed): Promise<number> {
  await drive.pass(3_000)
  return memoryOf(drive)
}

/** With a deadline of a second a busy machine is enough for a start to fail. */
async function patiently<Value>(start: () => Promise<Value>): Promise<Value> {
  for (let left = 4; left > 0; left -= 1)
    try {
      return await start()
    } catch {}
  return start()
}

const kindOf = (target: string): string => target.replace(/^.*\/|:\[.*$/g, '')

/** An answer that stands still is waited for, for a minute after its last byte (AVAIL-3). In milliseconds. */
const settledWithin = 80_000

/** Everything that was opened for odd answers is closed again; connections that are idle go after 4 s. */
async function settled(drive: MountTestbed, before: readonly string[], { way, frame }: Stage): Promise<void> {
  let now: readonly string[] = []
  await eventually(settledWithin, 'descriptors', async () => {
    now = await descriptorsOf(drive)
    return now.length <= Math.ceil(before.length * 1.05)
  }).catch(() =>
    frame.wrong.push(`${now.length} descriptors, ${before.length} before: ${now.map(kindOf)}: ${way}`),
  )
  frame.most('MB of memory', (await memoryOf(drive, 'VmHWM')) / 2 ** 20)
}

/** What is counted or fetched behind a deadline of a second is there at a later try; a busy machine needs several. */
async function readInTime(trial: Case, scene: Scene): Promise<Judged> {
  for (let left = triesInTime; ; left -= 1) {
    const judged = await tryContent(trial, scene)
    if (left === 0 || judged.came !== 'refused' || !disturbed.test(judged.what)) return judged
    await new Promise(wake => setTimeout(wake, 500))
  }
}

/** The service is well again, and so must every file be; what was kept of odd answers shows here. */
async function readAgain(trial: Case, scene: Scene, { frame }: Stage): Promise<void> {
  const about = `${written(trial.plan)}`
  frame.add('operations')
  frame.add('read again after a remount')
  const path = join(scene.drive.directory, fileOf(trial))
  const why = async (): Promise<string> => (await scene.drive.calcfs('why', path)).stdout.trim()
  let judged = await readInTime(trial, scene)
  if (judged.came === 'refused') {
    frame.add('of these after `calcfs refresh`')
    await scene.drive.calcfs('refresh', path)
    judged = await readInTime(trial, scene)
  }
  if (judged.came === 'untold') frame.add('untellable lies kept')
  if (judged.came === 'wrong' || judged.came === 'refused')
    frame.wrong.push(
      `after a remount: ${judged.came} ${judged.what}: ${about} [${trial.asked.join('; ')}] ${await why()}`,
    )
}
