// kill -9 of the daemon at every step of a save, each once: the text is there afterwards, and sent at most once.
import t from 'tap'
import { realMount } from '../../testbed/mount.js'
import { killSave, saveSteps } from './kill-save.js'

t.setTimeout(240_000)

t.test('kill -9 at every step of a save', async t => {
  const testbed = await realMount(t)
  for (const [at, step] of saveSteps.entries())
    await t.test(step.name, t => t.resolves(killSave(testbed, { step, title: `Save number ${at}` })))
  t.comment(`${saveSteps.length} kills of a daemon in the middle of a save, none of which cost a text`)
})
