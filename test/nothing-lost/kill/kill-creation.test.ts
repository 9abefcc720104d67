// kill -9 at every step of making a report, each once: the service has at most one of it, and the text is never gone.
import t from 'tap'
import { realMount } from '../../testbed/mount.js'
import { creationSteps, killCreation } from './kill-creation.js'

t.setTimeout(240_000)

t.test('kill -9 at every step of making a report', async t => {
  const testbed = await realMount(t)
  for (const [at, step] of creationSteps.entries())
    await t.test(step.name, t => t.resolves(killCreation(testbed, { step, title: `New number ${at}` })))
  t.comment(
    `${creationSteps.length} kills of a daemon that makes a report, none of which cost a text or made two`,
  )
})
