// `.shares/new*.json`: one POST, then a second name of the share that it has made; another user in it is another share.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'

const shares = 'projects/Water splitting/.shares'
const fresh = `${shares}/new.json`
const drafts = (testbed: Testbed) => namesOf(testbed, '.calcfs/drafts')
const told = (user: string, permission: string) => JSON.stringify({ user, permission })

interface SharedRecord {
  readonly shareId: number
  readonly user: string
  readonly permission: string
}

const sharesOf = async (
  { service }: Testbed,
  project: string = ids.water,
): Promise<readonly SharedRecord[]> =>
  JSON.parse(await service.elsewhere('GET', `/project/share?id=${project}`))

/** Each user's permission, on one line. */
const rightsIn = async (testbed: Testbed, project?: string): Promise<string> =>
  (await sharesOf(testbed, project)).map(({ user, permission }) => `${user} ${permission}`).join(', ')

const saves = async (testbed: Testbed, path: string, text: string): Promise<readonly string[]> =>
  writes(await testbed.service.during(() => overwrite(testbed, path, text)))

/** Another client deletes the share, and its number is given to another user's. */
async function giveToBob(testbed: Testbed, share: number): Promise<void> {
  const { service } = testbed
  await service.elsewhere('DELETE', `/project/share?shareId=${share}`)
  const bobs = { shareId: share, user: 'bob', permission: 'READ' }
  service.answer(/^GET \/project\/share/, async () => JSON.stringify([...(await sharesOf(testbed)), bobs]))
}

export function newShares(t: Test, open: OpenTestbed): void {
  const opened = (t: Test) =>
    open(t, {
      adds: seed => seed.addUser({ name: 'bob', password: 'bob' }),
      settings: { access: 'manage' },
    })
  const started = async (t: Test) => {
    const testbed = await opened(t)
    await overwrite(testbed, fresh, told('guest', 'READ'))
    return testbed
  }

  t.test('a new share', async t => {
    const testbed = await opened(t)
    const { files, service } = testbed

    t.test('NEW-2 saved it is one POST, then it is listed by its number', async t => {
      t.same(await saves(testbed, fresh, told('guest', 'READ')), ['POST /project/share'])
      const [share] = await sharesOf(testbed)
      t.match(share, { user: 'guest', permission: 'READ' })
      t.same(await namesOf(testbed, shares), [`${share?.shareId}.json`])
    })

    t.test('NEW-4 the permission is changed by its file and by the name it was made under', async t => {
      const own = `${shares}/${(await namesOf(testbed, shares))[0]}`
      for (const permission of ['FULLACCESS', 'READ']) {
        t.same(await saves(testbed, fresh, told('guest', permission)), ['PUT /project/share'])
        const text = (await textOf(testbed, own)).replace(permission, 'WRITE')
        t.same(await saves(testbed, own, text), ['PUT /project/share'])
        t.equal(await rightsIn(testbed), 'guest WRITE')
        t.same(await saves(testbed, fresh, told('guest', permission)), ['PUT /project/share'], 'taken back')
        t.same(await saves(testbed, fresh, told('guest', permission)), [], 'an unchanged text sends nothing')
        t.equal(await rightsIn(testbed), `guest ${permission}`)
      }
    })

    t.test('SAVE-15 another client’s change stays, and is in doubt once a program has read it', async t => {
      const [given] = await sharesOf(testbed)
      const theirs = JSON.stringify({ ...given, permission: 'FULLACCESS' })
      await service.elsewhere('PUT', '/project/share', theirs)
      t.same(await saves(testbed, fresh, told('guest', 'READ')), [])
      t.equal(await outcome(overwrite(testbed, fresh, told('guest', 'WRITE'))), 'ESTALE')
      t.match(await textOf(testbed, fresh), /WRITE/, 'the draft is shown')
      await files.unlink(`.calcfs/drafts/${(await drafts(testbed))[0]}`)
      await files.touch(shares)
      await testbed.pass(3200)
      t.match(await textOf(testbed, fresh), /FULLACCESS/)
      t.equal(await rightsIn(testbed), 'guest FULLACCESS')
    })

    t.test('NEW-9 a passing 404 of the list of shares makes no second one', async t => {
      const text = (await textOf(testbed, fresh)).replace('FULLACCESS', 'WRITE')
      // No date tells that it was made from the text that was read last: who has read the other one insists.
      t.equal(await outcome(overwrite(testbed, fresh, text)), 'ESTALE')
      const [theirs = ''] = (await namesOf(testbed, '.calcfs/drafts')).filter(name => /theirs/.test(name))
      await textOf(testbed, `.calcfs/drafts/${theirs}`)
      await overwrite(testbed, fresh, text)
      const mend = service.refuse(/^GET \/project\/share\?/, 404, '{}')
      for (let tries = 0; tries < 3; tries += 1)
        t.equal(await outcome(overwrite(testbed, fresh, told('guest', 'READ'))), 'ENOENT')
      mend()
      // What is not there is believed for five seconds.
      await testbed.pass(5_100)
      t.same(await saves(testbed, fresh, told('guest', 'WRITE')), [])
      t.equal(await rightsIn(testbed), 'guest WRITE')
    })

    t.test('DRAFT-1 another permission or another user is refused before it is sent', async t => {
      const [name = ''] = await namesOf(testbed, shares)
      const text = await textOf(testbed, `${shares}/${name}`)
      const other = `${shares}/new-b.json`
      await service.sends(t, [], async () => {
        for (const wrong of [text.replace('WRITE', 'OWNER'), text.replace('"guest"', '"demo"')])
          t.equal(await outcome(overwrite(testbed, `${shares}/${name}`, wrong)), 'EINVAL')
        for (const wrong of [told('demo', 'x'), '{"permission":"READ"}', '{"user":7,"permission":"READ"}'])
          t.equal(await outcome(overwrite(testbed, other, wrong)), 'EINVAL', wrong)
      })
      await overwrite(testbed, `${shares}/${name}`, text)
      await files.unlink(other)
      t.same(await drafts(testbed), [])
    })

    t.test('DEL-3 rm takes the share away, after the pause', async t => {
      const [name = ''] = await namesOf(testbed, shares)
      const asked = await service.during(async () => {
        await files.unlink(`${shares}/${name}`)
        await testbed.pass(3200)
        await until(5000, 'the share is gone', async () => {
          await files.readdir(shares)
          return (await sharesOf(testbed)).length === 0
        })
      })
      t.match(writes(asked), [/^DELETE \/project\/share\?shareId=\d+$/])
    })

    t.test('SHARE-5 a lost answer makes no second share', async t => {
      const mend = service.lose(/^POST \/project\/share$/)
      t.equal(await outcome(overwrite(testbed, `${shares}/new-c.json`, told('guest', 'READ'))), 'done')
      mend()
      t.equal(await rightsIn(testbed), 'guest READ')
    })

    t.test('SHARE-5 a list that is refused after the POST makes no second share', async t => {
      for (const status of [401, 403, 404, 409, 503]) {
        await service.elsewhere('DELETE', `/project/share?shareId=${(await sharesOf(testbed))[0]?.shareId}`)
        const mend = service.beforeAnswer(/^POST \/project\/share$/, () =>
          service.refuse(/^GET \/project\/share/, status),
        )
        const save = () => outcome(overwrite(testbed, `${shares}/new-${status}.json`, told('guest', 'READ')))
        t.not(await save(), 'done')
        mend()
        await service.sends(t, [], `after ${status}`, async () => t.equal(await save(), 'done'))
        t.equal((await sharesOf(testbed)).length, 1)
      }
    })
  })

  t.test('the name under which a share was made', async t => {
    t.test('SHARE-6 another user in it is another share, and the first stays as it is', async t => {
      const testbed = await started(t)
      t.same(await saves(testbed, fresh, told('bob', 'FULLACCESS')), ['POST /project/share'])
      t.equal(await rightsIn(testbed), 'guest READ, bob FULLACCESS')
      t.same(await saves(testbed, fresh, told('bob', 'WRITE')), ['PUT /project/share'], 'it is bob’s now')
      const ofGuest = await outcome(overwrite(testbed, fresh, told('guest', 'WRITE')))
      t.equal(ofGuest, 'EINVAL', 'that user has one already')
      t.equal(await outcome(overwrite(testbed, fresh, '{"permission":"FULLACCESS"}')), 'EINVAL', 'no user')
      const [guests, bobs] = (await sharesOf(testbed)).map(({ shareId }) => `${shares}/${shareId}.json`)
      const copied = (await textOf(testbed, guests ?? '')).replace('READ', 'FULLACCESS')
      t.equal(await outcome(overwrite(testbed, fresh, copied)), 'EINVAL', 'a copy of another share')
      for (const text of [copied, copied.replace(/\s*"shareId": \d+,/, '')])
        t.match(
          await outcome(overwrite(testbed, bobs ?? '', text)),
          /^E(INVAL|STALE)$/,
          'over bob’s, by its number',
        )
      t.equal(await rightsIn(testbed), 'guest READ, bob WRITE')
    })

    t.test('SHARE-6 however the service names the user, also as an object', async t => {
      const forms: ((share: SharedRecord) => object)[] = [
        ({ shareId, user, permission }) => ({
          shareId,
          sharedWith: { id: 5, login: user, name: 'X' },
          permission,
        }),
        ({ shareId, user, permission }) => ({ shareId, grantee: user, permission }),
      ]
      for (const shown of forms) {
        const testbed = await opened(t)
        testbed.service.answer(/^GET \/project\/share/, async () =>
          JSON.stringify((await sharesOf(testbed)).map(one => shown(one))),
        )
        await overwrite(testbed, fresh, told('guest', 'READ'))
        await overwrite(testbed, fresh, told('guest', 'WRITE'))
        t.equal(await rightsIn(testbed), 'guest WRITE', 'the same user, an update')
        testbed.service.rewrite(/^POST \/project\/share/, () =>
          JSON.stringify({ projectId: Number(ids.water), user: 'bob', permission: 'FULLACCESS' }),
        )
        await outcome(overwrite(testbed, fresh, told('bob', 'FULLACCESS')))
        t.match(await rightsIn(testbed), /^guest WRITE(, bob FULLACCESS)?$/)
        const own = `${shares}/${(await sharesOf(testbed))[0]?.shareId}.json`
        const other = (await textOf(testbed, own)).replace('"guest"', '"bob"')
        await testbed.service.sends(t, [], async () =>
          t.equal(await outcome(overwrite(testbed, own, other)), 'EINVAL', other),
        )
      }
    })

    t.test('SHARE-6 a new one is this user’s, in whatever words the service names them', async t => {
      const testbed = await opened(t)
      const user = { id: 5, fullName: 'A Guest' }
      testbed.service.answer(/^GET \/project\/share/, async () =>
        JSON.stringify(
          (await sharesOf(testbed)).map(({ shareId, permission }) => ({ shareId, user, permission })),
        ),
      )
      t.equal(await outcome(overwrite(testbed, fresh, told('guest', 'READ'))), 'done')
      t.equal(await outcome(overwrite(testbed, fresh, told('guest', 'WRITE'))), 'done')
      t.equal(await rightsIn(testbed), 'guest WRITE')
      t.same(await drafts(testbed), [])
    })

    t.test('SHARE-6 another user written while the first is on the way', async t => {
      const testbed = await opened(t)
      const held = testbed.service.hold(/^POST \/project\/share/)
      const file = await testbed.files.open(fresh, 'w')
      await file.write(told('guest', 'READ'), 0)
      const first = outcome(file.close())
      await held.met
      const other = await testbed.files.open(fresh, 'r+')
      await other.truncate(0)
      await other.write(told('bob', 'FULLACCESS'), 0)
      held.open()
      await first
      await outcome(other.close())
      const rights = await rightsIn(testbed)
      t.match(rights, /^guest READ(, bob FULLACCESS)?$/, rights)
    })

    t.test('SHARE-6 another user after a save that ended half way', async t => {
      const testbed = await opened(t)
      const mend = testbed.service.beforeAnswer(/^POST \/project\/share/, () =>
        testbed.service.refuse(/^GET \/project\/share/, 500, 'no'),
      )
      t.not(await outcome(overwrite(testbed, fresh, told('guest', 'READ'))), 'done')
      mend()
      await testbed.remount()
      const sent = await saves(testbed, fresh, told('bob', 'FULLACCESS'))
      t.notOk(
        sent.some(line => line.startsWith('PUT')),
        'no share is changed',
      )
      t.equal(await rightsIn(testbed), 'guest READ, bob FULLACCESS')
      t.same(await drafts(testbed), [])
    })

    for (const [errno, become] of [
      [
        'ENOENT',
        ({ service }: Testbed, share: number) =>
          service.elsewhere('DELETE', `/project/share?shareId=${share}`),
      ],
      ['ESTALE', giveToBob],
    ] as const) {
      t.test(
        `NEW-9 what is not this user's any more is not given again by its old text: ${errno}`,
        async t => {
          const testbed = await started(t)
          await become(testbed, (await sharesOf(testbed))[0]?.shareId ?? 0)
          await testbed.service.sends(t, [], 'an unchanged text says so, too', async () =>
            t.equal(await outcome(overwrite(testbed, fresh, told('guest', 'READ'))), errno),
          )
          t.equal(await rightsIn(testbed), '')
          const asked = await saves(testbed, fresh, told('guest', 'READ'))
          t.same(asked, ['POST /project/share'], 'saved once more it is a new one')
          t.equal(await rightsIn(testbed), 'guest READ')
        },
      )

      t.test(`SHARE-7 nor by its number, where an unchanged text is ${errno}, and is kept`, async t => {
        const testbed = await started(t)
        const share = (await sharesOf(testbed))[0]?.shareId ?? 0
        const text = await textOf(testbed, `${shares}/${share}.json`)
        const file = await testbed.files.open(`${shares}/${share}.json`, 'r+')
        await become(testbed, share)
        await file.write(text, 0)
        await testbed.service.sends(t, [], async () => t.equal(await outcome(file.close()), errno))
        const kept = (await drafts(testbed)).find(name => name.endsWith('.json'))
        t.equal(await textOf(testbed, `.calcfs/drafts/${kept}`), text)
      })
    }

    t.test('SAVE-19 a draft that becomes a text of before does not count as unchanged', async t => {
      const testbed = await started(t)
      const { files, service } = testbed
      const [record] = await sharesOf(testbed)
      const share = `${shares}/${record?.shareId}.json`
      const old = await textOf(testbed, share)
      await service.elsewhere('PUT', '/project/share', JSON.stringify({ ...record, permission: 'WRITE' }))
      await files.touch(shares)
      await testbed.pass(3200)
      t.match(await textOf(testbed, share), '"WRITE"')
      await service.sends(t, [], async () => {
        for (const text of [old.replace('READ', 'FULLACCESS'), old])
          t.equal(await outcome(overwrite(testbed, share, text)), 'ESTALE')
      })
      await testbed.remount()
      t.equal(await textOf(testbed, share), old, 'DRAFT-2 it waits over a restart')
      await textOf(testbed, `.calcfs/drafts/share-${record?.shareId}.theirs.json`)
      t.same(await saves(testbed, share, old), ['PUT /project/share'])
      t.equal(await rightsIn(testbed), 'guest READ')
    })

    t.test('NEW-2 one name in two projects is two things, and after a remount it is new', async t => {
      const testbed = await started(t)
      const sub = 'projects/Water splitting/Sub project/.shares/new.json'
      await overwrite(testbed, sub, told('guest', 'FULLACCESS'))
      t.equal(await rightsIn(testbed), 'guest READ')
      t.equal(await rightsIn(testbed, ids.empty), 'guest FULLACCESS')
      await testbed.remount()
      t.same(await saves(testbed, fresh, told('bob', 'WRITE')), ['POST /project/share'])
      t.equal(await rightsIn(testbed), 'guest READ, bob WRITE')
    })
  })
}
