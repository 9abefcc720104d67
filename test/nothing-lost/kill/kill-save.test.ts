// kill -9 of the daemon at each second step of a save, drawn, and at every one at night: the text is there afterwards, and sent at most once.
import t from 'tap'
import { realMount } from '../../testbed/mount.js'
import { isDrawn } from '../../testbed/variants.js'
import { killSave, saveSteps } from './kill-save.js'

t.setTimeout(240_000)

t.test('kill -9 at steps of a save', async t => {
  const testbed = await realMount(t)
  const drawn = [...saveSteps.entries()].filter(([at]) => isDrawn(at, 2))
  for (const [at, step] of drawn)
    await t.test(step.name, t => t.resolves(killSave(testbed, { step, title: `Save number ${at}` })))
  t.comment(`${drawn.length} kills of a daemon in the middle of a save, none of which cost a text`)
})
