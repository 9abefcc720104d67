// kill -9 at each second step behind the POST of a report, drawn, and at every one at night: the service has one of it, and the text is never gone.
import t from 'tap'
import { realMount } from '../../testbed/mount.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { isDrawn } from '../../testbed/variants.js'
import { killedDuring, sceneOn } from './scene.js'
import { behindPost, planBehindPost, standOn, suddenEnd } from './sudden-end.js'

t.jobs = 3

t.test('NEW-10 kill -9 of a daemon that has made a report', async t => {
  const stand = standOn(t, await realMount(t))
  for (const [at, moment] of behindPost.entries())
    if (isDrawn(at, 2))
      await t.test(moment, async t => t.same(await suddenEnd(stand, planBehindPost(moment)), []))
})

t.test(
  'killed during its POST, it is made once by programs that unlink before they create, as mv does',
  async t => {
    const testbed = await realMount(t)
    const { files, service } = testbed

    /** The service carries the POST out, and has not answered. */
    const killedAt = (post: RegExp, path: string, text: string) =>
      killedDuring(testbed, [post, 'after'], path, text)

    const between = {
      moved: (path: string) => files.unlink(path),
      async emptied(path: string) {
        const scene = sceneOn(testbed)
        await scene.open(path, 'w')
        await testbed.kill9()
        await scene.cleanUp()
        await testbed.mount()
      },
    }
    for (const [name, come] of Object.entries(between))
      t.test(`NEW-8 a report, ${name} before it is written again`, async t => {
        const path = `reports/new-${name}.json`
        const text = `{"title":"${name}","reportType":"1"}`
        await service.sends(t, ['POST /report'], async () => {
          await killedAt(/^POST \/report$/, path, text)
          for (let tries = 0; tries < 2; tries += 1) {
            await come(path)
            t.equal(await outcome(overwrite(testbed, path, text)), 'EIO')
          }
        })
        t.equal(await textOf(testbed, `.calcfs/drafts/new-${name}.json`), text)
      })

    t.test('SHARE-5 a share', async t => {
      const path = 'projects/Water splitting/.shares/new-moved.json'
      const text = '{"user":"guest","permission":"READ"}'
      await service.sends(t, ['POST /project/share'], async () => {
        await killedAt(/^POST \/project\/share$/, path, text)
        await files.unlink(path).catch(() => {})
        t.equal(await outcome(overwrite(testbed, path, text)), 'done')
      })
      t.same(await namesOf(testbed, '.calcfs/drafts'), [
        'new-emptied.json',
        'new-emptied.json.why',
        'new-moved.json',
        'new-moved.json.why',
      ])
    })
  },
)
