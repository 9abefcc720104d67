// A service whose lists and records lag behind: a cache in front of it, or a replica. What it accepted is not sent again.
import type { Test } from 'tap'
import type { Held } from '../../testbed/proxy.js'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed } from '../../testbed/testbed.js'

const water = 'projects/Water splitting'
/** Milliseconds in which a change that does not wait for the one before it is sent. */
const waitMs = 300

/** From now on the service answers this question as it did a moment ago, until called off. */
async function late({ service }: Testbed, question: string): Promise<() => void> {
  const old = await service.elsewhere('GET', question)
  const which = new RegExp(`^GET ${question.replaceAll('?', '\\?')}(&|$)`)
  return service.answer(which, () => old)
}

export function lateLists(t: Test, open: OpenTestbed): void {
  t.test('what is made before it is shown', async t => {
    const testbed = await open(t, {
      settings: { access: 'manage' },
      adds: seed => seed.addUser({ name: 'bob', password: 'bob' }),
    })
    const { files, service } = testbed

    t.test('NEW-10 a share that the list does not show yet is not given again', async t => {
      await namesOf(testbed, `${water}/.shares`)
      const path = `${water}/.shares/new-late.json`
      const text = '{"user":"guest","permission":"READ"}'
      const toBob = text.replace('guest', 'bob')
      const mend = await late(testbed, `/project/share?id=${ids.water}`)
      await service.sends(t, ['POST /project/share'], async () => {
        for (let tries = 0; tries < 3; tries += 1)
          t.equal(await outcome(overwrite(testbed, path, text)), 'EIO')
      })
      t.match(await files.xattr(path, 'user.calcfs.error'), /does not show that yet/)
      await service.sends(t, ['POST /project/share'], 'another user is another share', () =>
        outcome(overwrite(testbed, path, toBob)),
      )
      mend()
      await service.sends(t, [], async () => {
        t.equal(await outcome(overwrite(testbed, path, toBob)), 'done')
      })
    })

    t.test('NEW-10 a report that is not there yet is not made again', async t => {
      const text = '{"name":"Late","reportType":1}'
      const mend = service.refuse(new RegExp(`^GET /report\\?id=(?!${ids.report}$)`), 404)
      await service.sends(t, ['POST /report'], async () => {
        for (let tries = 0; tries < 3; tries += 1)
          t.equal(await outcome(overwrite(testbed, 'reports/new-late.json', text)), 'EIO')
        mend()
        t.equal(await outcome(overwrite(testbed, 'reports/new-late.json', text)), 'done')
      })
    })
  })

  t.test('MAKE-3 a name that another client gives while a log-in is made is not given twice', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    await namesOf(testbed, water)
    let refusals = 0
    const mend = service.intercept(/^PUT \/calculation$/, async (response, { carryOut }) => {
      refusals += 1
      if (refusals > 1) return (await carryOut())()
      const other = await service.elsewhere('GET', `/calculation?id=${ids.product}`)
      await service.elsewhere('PUT', '/calculation', other.replace(/"name":"[^"]*"/, '"name":"Taken"'))
      response.writeHead(401).end()
    })
    t.equal(await outcome(files.rename(`${water}/TS1_opt`, `${water}/Taken`)), 'EEXIST')
    mend()
    t.notMatch(await service.elsewhere('GET', `/calculation?id=${ids.transition}`), '"Taken"')
  })

  t.test('next to a change that is not answered in time', async t => {
    const testbed = await open(t, {
      settings: { access: 'manage', deadlineSave: '4s' },
      adds(seed) {
        for (const name of ['bob', 'eve', 'kim']) seed.addUser({ name, password: name })
      },
    })
    const { files, service } = testbed
    await namesOf(testbed, water)
    await files.mkdir(`${water}/Parent`)

    /** Its program has heard ETIMEDOUT, and the service has not carried it out. */
    async function unanswered(which: RegExp, change: Promise<unknown>): Promise<Held> {
      const late = service.hold(which, 'request')
      t.equal(await outcome(change), 'ETIMEDOUT')
      late.letOthers()
      return late
    }
    /** How a change ends before which the service carries the late one out. */
    async function behind(late: Held, change: Promise<unknown>): Promise<string> {
      setTimeout(late.open, waitMs)
      return outcome(change)
    }
    const named = async (name: string): Promise<number> => {
      const listed = ['project', 'calculation'].map(type =>
        service.elsewhere('GET', `/project/descendant?id=${ids.water}&type=${type}&depth=1`),
      )
      return (await Promise.all(listed)).join().split(`"${name}"`).length - 1
    }

    t.test('SAVE-17 MAKE-3 a name that a mkdir may still give is not given', async t => {
      const late = await unanswered(/^POST \/project$/, files.mkdir(`${water}/Made late`))
      t.equal(await behind(late, files.rename(`${water}/TS1_opt`, `${water}/Made late`)), 'EEXIST')
      t.equal(await named('Made late'), 1)
    })

    t.test('SAVE-17 MAKE-3 a name that a rename may still give is not given', async t => {
      const rename = files.rename(`${water}/TS1_opt`, `${water}/Named late`)
      const late = await unanswered(/^PUT \/calculation$/, rename)
      t.equal(await behind(late, files.mkdir(`${water}/Named late`)), 'EEXIST')
      t.equal(await named('Named late'), 1)
    })

    t.test('SAVE-17 SHARE-5 a share whose answer comes while its next try waits is made once', async t => {
      const path = `${water}/.shares/new-late.json`
      const text = '{"user":"guest","permission":"READ"}'
      await service.sends(t, ['POST /project/share'], async () => {
        const late = await unanswered(/^POST \/project\/share$/, overwrite(testbed, path, text))
        t.equal(await behind(late, overwrite(testbed, path, text)), 'done')
        t.equal(await outcome(overwrite(testbed, path, text)), 'done')
      })
      t.same(await namesOf(testbed, '.calcfs/drafts'), [])
    })

    t.test('SAVE-17 SHARE-5 nor next to one that another client made while it waited', async t => {
      const path = `${water}/.shares/new-kim.json`
      const save = () => outcome(overwrite(testbed, path, '{"user":"kim","permission":"WRITE"}'))
      await service.sends(t, ['POST /project/share', 'PUT /project/share'], async () => {
        const eve = '{"user":"eve","permission":"READ"}'
        const create = overwrite(testbed, `${water}/.shares/new-eve.json`, eve)
        const late = await unanswered(/^POST \/project\/share$/, create)
        const looked = service.hold(/^GET \/project\/share\?/)
        const saved = save()
        await looked.met
        const theirs = { projectId: Number(ids.water), user: 'kim', permission: 'READ' }
        await service.elsewhere('POST', '/project/share', JSON.stringify(theirs))
        looked.open()
        late.open()
        t.equal(await saved, 'ESTALE')
        t.equal(await save(), 'done', 'the next try is an edit of that one')
      })
      const shares = await service.elsewhere('GET', `/project/share?id=${ids.water}`)
      t.equal(shares.split('"kim"').length - 1, 1)
      await files.unlink('.calcfs/drafts/share-100-new-eve.json')
    })

    t.test('SAVE-17 a project in which one may still be made is not deleted', async t => {
      const late = await unanswered(/^POST \/project$/, files.mkdir(`${water}/Parent/Child`))
      t.equal(await behind(late, files.rmdir(`${water}/Parent`)), 'ENOTEMPTY')
      t.ok((await namesOf(testbed, `${water}/Parent`)).includes('Child'))
    })
  })
}
