// kill -9 of the daemon at every step of a save that a user can see: the text is there afterwards, and sent at most once.
import assert from 'node:assert/strict'
import type { MountTestbed } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'
import { draftsLeft } from '../left-behind.js'
import { type Scene, sceneOn } from './scene.js'

const report = `reports/${ids.report}.json`
const backup = `${report}~`
const draftName = `${ids.report}.json`

/** One save that is about to be cut, and what the user means to save. */
interface Save {
  readonly scene: Scene
  readonly testbed: MountTestbed
  readonly text: string
}

export interface SaveStep {
  readonly name: string
  /** Brings the save to the point where the daemon is killed. */
  readonly reach: (save: Save) => Promise<void>
  /** draft: the text waits in the record's place. stored: the service has it. old: nothing was written yet. */
  readonly leaves: 'draft' | 'stored' | 'old'
  /** What the draft on disk says of itself at the kill. */
  readonly state?: string
}

/** The text is on the drive, refused by the service, and no program holds the file open. */
async function unsent({ testbed, text }: Save): Promise<void> {
  const mend = testbed.service.intercept(/^PUT/, response => void response.writeHead(500).end())
  await outcome(overwrite(testbed, report, text))
  mend()
}

/** A program closes the file it has written, and a request of that save is held up. */
const heldAt =
  (...which: Parameters<Scene['held']>) =>
  async ({ scene, text }: Save): Promise<void> => {
    const reached = scene.held(...which)
    await scene.writeAndClose(report, text)
    await reached
  }

/** Every step of a save that a user can see. */
export const saveSteps: readonly SaveStep[] = [
  {
    name: 'after open-truncate',
    reach: async ({ scene }) => void (await scene.open(report, 'w')),
    leaves: 'old',
    state: 'editing',
  },
  {
    name: 'after a write',
    reach: async ({ scene, text }) => (await scene.open(report, 'w')).write(text, 0),
    leaves: 'draft',
    state: 'editing',
  },
  {
    name: 'after writes in place',
    async reach({ scene, text }) {
      const file = await scene.open(report, 'r+')
      await file.write(text, 0)
      await file.truncate(Buffer.byteLength(text))
    },
    leaves: 'draft',
    state: 'editing',
  },
  {
    name: 'after fsync',
    async reach({ scene, text }) {
      const file = await scene.open(report, 'w')
      await file.write(text, 0)
      await file.sync()
    },
    leaves: 'draft',
    state: 'editing',
  },
  {
    name: 'while the record is read before the PUT',
    reach: heldAt(/^GET \/report\?/, 'before'),
    leaves: 'draft',
    state: 'editing',
  },
  {
    name: 'during the PUT, before the service has it',
    reach: heldAt(/^PUT \/report$/, 'before'),
    leaves: 'draft',
    state: 'sending',
  },
  {
    name: 'after the service has carried the PUT out, and before its answer',
    reach: heldAt(/^PUT \/report$/, 'after'),
    leaves: 'stored',
    state: 'sending',
  },
  {
    name: 'while the record is read after the PUT',
    reach: heldAt(/^GET \/report\?/, 'after', /^PUT \/report$/),
    leaves: 'stored',
    state: 'sending',
  },
  {
    name: 'after a save that failed',
    reach: unsent,
    leaves: 'draft',
    state: 'refused',
  },
  {
    name: 'in the pause after the unsent text was unlinked',
    async reach(save) {
      await unsent(save)
      await save.testbed.files.unlink(report)
    },
    leaves: 'draft',
    state: 'refused',
  },
  {
    name: 'in the pause after the unsent text was renamed to a backup',
    async reach(save) {
      await unsent(save)
      await save.testbed.files.rename(report, backup)
    },
    leaves: 'draft',
    state: 'refused',
  },
  {
    name: 'after the record was renamed to a backup and written again',
    async reach({ scene, testbed, text }) {
      await testbed.files.rename(report, backup)
      await (await scene.open(report, 'w')).write(text, 0)
    },
    leaves: 'draft',
    state: 'editing',
  },
  {
    name: 'after the record was unlinked and written again',
    async reach({ scene, testbed, text }) {
      await testbed.files.unlink(report)
      await (await scene.open(report, 'w')).write(text, 0)
    },
    leaves: 'draft',
    state: 'editing',
  },
  {
    name: 'while a finished text is renamed over the record',
    async reach({ scene, testbed, text }) {
      await overwrite(testbed, `${report}.tmp`, text)
      const reached = scene.held(/^PUT \/report$/, 'before')
      scene.inTheAir(testbed.files.rename(`${report}.tmp`, report))
      await reached
    },
    leaves: 'draft',
    state: 'sending',
  },
  {
    name: 'at the unmount, with a draft that was not sent',
    async reach(save) {
      await unsent(save)
      save.scene.inTheAir(save.testbed.terminate())
    },
    leaves: 'draft',
    state: 'refused',
  },
  {
    name: 'at the unmount, while a save is on its way',
    async reach(save) {
      await heldAt(/^PUT \/report$/, 'before')(save)
      save.scene.inTheAir(save.testbed.terminate())
    },
    leaves: 'draft',
    state: 'sending',
  },
]

/** Kills the daemon there and brings it up again. @throws AssertionError where anything is lost, or sent twice */
export async function killSave(
  testbed: MountTestbed,
  { step, title }: { step: SaveStep; title: string },
): Promise<void> {
  const before = await textOf(testbed, report)
  const text = before.replace(/"title": "[^"]*",\n/, `"title": "${title}",\n`)
  const scene = sceneOn(testbed)
  const sent = await testbed.service.during(async () => {
    await step.reach({ scene, testbed, text })
    await testbed.kill9()
    const atRisk = await draftsLeft(testbed.home)
    const inDraft = step.leaves === 'old' ? '' : text
    assert.equal(atRisk.length, 1)
    assert.equal(atRisk[0]?.text, inDraft, 'a draft was at risk')
    assert.equal(atRisk[0]?.state, step.state)
    assert.equal(await storedTitle(testbed), step.leaves === 'stored' ? title : JSON.parse(before).title)
    await scene.cleanUp()
    await testbed.mount()
    await settledAs(testbed, step.leaves === 'draft' ? [draftName, `${draftName}.why`] : [])
    const shown = await textOf(testbed, report)
    if (step.leaves === 'stored') assert.equal(JSON.parse(shown).title, title)
    else assert.equal(shown, step.leaves === 'old' ? before : text, 'the text is in its place')
    if (step.leaves === 'draft') assert.equal(await textOf(testbed, `.calcfs/drafts/${draftName}`), text)
    await testbed.pass(300)
  })
  assert.ok(writes(sent).length <= 1, `sent at most once: ${writes(sent)}`)
  const again = await testbed.service.during(() => overwrite(testbed, report, text))
  assert.deepEqual(
    writes(again),
    step.leaves === 'stored' ? [] : ['PUT /report'],
    'the next save does what is left to do',
  )
  assert.equal(await storedTitle(testbed), title)
  assert.deepEqual(await namesOf(testbed, '.calcfs/drafts'), [])
}

/** What was on its way is looked up after the mount has come up. */
const settledAs = (testbed: MountTestbed, drafts: readonly string[]): Promise<void> =>
  until(10_000, `drafts are ${drafts}`, async () => {
    const names = await namesOf(testbed, '.calcfs/drafts')
    const state = await testbed.files.xattr(report, 'user.calcfs.draft')
    return `${names}` === `${drafts}` && (state === undefined || state === 'refused' || state === 'not-saved')
  })

const storedTitle = async ({ service }: MountTestbed): Promise<string> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${ids.report}`)).title
