// kill -9 while a report that was just made gets what its POST did not bring: there is one of it, and no text is gone.
import assert from 'node:assert/strict'
import type { MountTestbed } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'
import { draftsLeft } from '../left-behind.js'
import { type Scene, sceneOn } from './scene.js'

export interface CreationStep {
  readonly name: string
  readonly reach: (scene: Scene, file: string, text: string) => Promise<void>
  /** What the draft on disk says of itself at the kill. */
  readonly state: string
  /** The service overlooks the list in a POST. */
  readonly takesNoList?: true
}

const heldAt =
  (...which: Parameters<Scene['held']>) =>
  async (scene: Scene, file: string, text: string): Promise<void> => {
    const reached = scene.held(...which)
    await scene.writeAndClose(file, text)
    await reached
  }

const post = /^POST \/report$/

/** Every step behind the POST of a new report. */
export const creationSteps: readonly CreationStep[] = [
  {
    name: 'while the new report is read',
    reach: heldAt(/^GET \/report\?/, 'before', post),
    state: 'editing',
  },
  {
    name: 'during the PUT that gives the rows their titles, before the service has it',
    reach: heldAt(/^PUT \/report/, 'before', post),
    state: 'sending',
  },
  {
    name: 'after the service has carried that PUT out, and before its answer',
    reach: heldAt(/^PUT \/report/, 'after', post),
    state: 'sending',
  },
  {
    name: 'during the PUT of the list that the POST did not take, before the service has it',
    reach: heldAt(/^PUT \/report\/calculations$/, 'before', post),
    state: 'sending',
    takesNoList: true,
  },
  {
    name: 'after the service has carried the PUT of that list out, and before its answer',
    reach: heldAt(/^PUT \/report\/calculations$/, 'after', post),
    state: 'sending',
    takesNoList: true,
  },
]

const textNamed = (title: string): string =>
  JSON.stringify({
    title,
    description: 'Made on the drive',
    reportType: '1',
    calculations: [
      { calcId: Number(ids.product), title: 'Water' },
      { calcId: Number(ids.bare), title: 'Nothing' },
    ],
  })

/** Kills the daemon there and brings it up again. @throws AssertionError where a text is lost, or two are made */
export async function killCreation(
  testbed: MountTestbed,
  { step, title }: { step: CreationStep; title: string },
): Promise<void> {
  const name = `new-${title.replaceAll(' ', '-')}.json`
  const file = `reports/${name}`
  const draft = `.calcfs/drafts/${name}`
  const text = textNamed(title)
  const scene = sceneOn(testbed)
  const takeList = step.takesNoList ? testbed.service.rewrite(post, withoutList) : () => {}
  const sent = await testbed.service.during(async () => {
    await step.reach(scene, file, text)
    await testbed.kill9()
    const atRisk = await draftsLeft(testbed.home)
    assert.ok(
      atRisk.some(one => one.state === step.state && one.text.includes(title)),
      'a draft was at risk',
    )
    assert.equal((await reportsOf(testbed, title)).length, 1)
    await scene.cleanUp()
    takeList()
    await testbed.mount()
    assert.equal(await textOf(testbed, file), text, 'the text is in its place')
    await until(10_000, `${draft} says so`, () => saysMade(testbed, draft))
    await testbed.pass(300)
  })
  assert.ok(writes(sent).filter(line => post.test(line)).length <= 1, `made at most once: ${writes(sent)}`)
  assert.equal((await reportsOf(testbed, title)).length, 1)
  await finish(testbed, { title, name })
  const [made, another] = await reportsOf(testbed, title)
  assert.equal(made?.description, 'Made on the drive')
  assert.deepEqual(
    made.calculations.map(row => row.title),
    ['Water', 'Nothing'],
  )
  assert.equal(another, undefined, 'there is one of it')
  assert.deepEqual(await namesOf(testbed, '.calcfs/drafts'), [])
}

const withoutList = (body: string): string => body.replace(/,"calculationIds":"[^"]*"/, '')

/** What the user does about it after the kill. */
async function finish(
  testbed: MountTestbed,
  { title, name }: { title: string; name: string },
): Promise<void> {
  const [made] = await reportsOf(testbed, title)
  const own = `reports/${made?.id}.json`
  // Its writer got a failure, and tries again.
  const again = await testbed.service.during(() =>
    outcome(overwrite(testbed, `reports/${name}`, textNamed(title))),
  )
  assert.ok(!writes(again).some(line => post.test(line)), `the second try makes none: ${writes(again)}`)
  // Also where only a part of it was stored, the file shows the whole text: saved once more, all of it is.
  const shown = await textOf(testbed, own)
  if ((await outcome(overwrite(testbed, own, shown))) !== 'ESTALE') return
  // A list without its titles is neither what it was nor what it should be: the two are compared.
  assert.match(await textOf(testbed, `.calcfs/drafts/${made?.id}.theirs.json`), /"title": null/)
  await overwrite(testbed, own, shown)
}

const saysMade = async (testbed: MountTestbed, draft: string): Promise<boolean> =>
  /it was made as report \d+/.test(await textOf(testbed, `${draft}.why`).catch(() => ''))

interface Made {
  readonly id: number
  readonly title: string
  readonly description: string
  readonly calculations: readonly { readonly title: string | null }[]
}

/** The reports of this title that the service has, by trying the numbers it gives one after the other. */
async function reportsOf({ service }: MountTestbed, title: string): Promise<Made[]> {
  const found: Made[] = []
  for (let id = 1; ; id++) {
    const text = await service.elsewhere('GET', `/report?id=${id}`).catch(() => undefined)
    if (text === undefined) return found
    const report: Made = JSON.parse(text)
    if (report.title === title) found.push(report)
  }
}
