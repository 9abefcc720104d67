// What `new*.json` in `.shares` stands for depends on its text: another user in it never changes the first share.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { fillSampleData, ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { gate, until } from '../../testbed/within.js'

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

/** Another client deletes the share, and its number is given to another user's. */
async function giveToBob({ service }: Testbed, share: number): Promise<void> {
  await service.elsewhere('DELETE', `/project/share?shareId=${share}`)
  service.intercept(/^GET \/project\/share/, async response => {
    const listed: SharedRecord[] = JSON.parse(
      await service.elsewhere('GET', `/project/share?id=${ids.water}`),
    )
    listed.push({ shareId: share, user: 'bob', permission: 'READ' })
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(listed))
  })
}

function fillWithBob(seed: Seed): void {
  fillSampleData(seed)
  seed.addUser({ name: 'bob', password: 'bob' })
}

export function shareAliases(t: Test, open: OpenTestbed): void {
  t.test('the name under which a share was made', async t => {
    const started = async (t: Test) => {
      const testbed = await open(t, { fill: fillWithBob, settings: { access: 'manage' } })
      await overwrite(testbed, fresh, told('guest', 'READ'))
      return testbed
    }

    t.test('SHARE-6 another user in it is another share, and the first stays as it is', async t => {
      const testbed = await started(t)
      const asked = await testbed.service.during(() => overwrite(testbed, fresh, told('bob', 'FULLACCESS')))
      t.same(writes(asked), ['POST /project/share'])
      t.equal(await rightsIn(testbed), 'guest READ, bob FULLACCESS')
      const again = await testbed.service.during(() => overwrite(testbed, fresh, told('bob', 'WRITE')))
      t.same(writes(again), ['PUT /project/share'], 'the name stands for the share made last')
      t.equal(await rightsIn(testbed), 'guest READ, bob WRITE')
      t.equal(
        await outcome(overwrite(testbed, fresh, told('guest', 'WRITE'))),
        'EINVAL',
        'that user has one already',
      )
      t.equal(await rightsIn(testbed), 'guest READ, bob WRITE')
      await overwrite(testbed, fresh, told('bob', 'READ'))
      t.equal(await rightsIn(testbed), 'guest READ, bob READ')
      t.same(await drafts(testbed), [])
    })

    t.test('SHARE-6 also with the same permission, and in the form the service shows', async t => {
      const testbed = await started(t)
      const asked = await testbed.service.during(() => overwrite(testbed, fresh, told('bob', 'READ')))
      t.same(writes(asked), ['POST /project/share'])
      t.equal(await rightsIn(testbed), 'guest READ, bob READ')
      const [guests, bobs] = (await sharesOf(testbed)).map(({ shareId }) => `${shares}/${shareId}.json`)
      const copied = (await textOf(testbed, guests ?? '')).replace('READ', 'FULLACCESS')
      t.equal(await outcome(overwrite(testbed, fresh, copied)), 'EINVAL', 'a copy of another share')
      t.equal(
        await outcome(overwrite(testbed, bobs ?? '', copied)),
        'EINVAL',
        'over the other one by its number',
      )
      const without = copied.replace(/\s*"shareId": \d+,/, '')
      t.equal(
        await outcome(overwrite(testbed, bobs ?? '', without)),
        'EINVAL',
        'the same with the id taken out',
      )
      t.equal(await rightsIn(testbed), 'guest READ, bob READ')
    })

    t.test('SHARE-6 a text that names no user is refused', async t => {
      const testbed = await started(t)
      const asked = await testbed.service.during(async () => {
        for (const text of ['{"permission":"FULLACCESS"}', '{"user":7,"permission":"FULLACCESS"}'])
          t.equal(await outcome(overwrite(testbed, fresh, text)), 'EINVAL', text)
        const two = '{"user":"guest","email":"bob@example.org","permission":"FULLACCESS"}'
        t.not(await outcome(overwrite(testbed, fresh, two)), 'done', 'or two of them')
      })
      t.notOk(writes(asked).some(line => line.startsWith('PUT')))
      t.equal(await rightsIn(testbed), 'guest READ')
    })

    t.test('SHARE-6 however the service names the user, also as an object', async t => {
      const forms: ((share: SharedRecord) => object)[] = [
        (share: SharedRecord) => ({
          shareId: share.shareId,
          sharedWith: { id: 5, login: share.user, name: 'X' },
          permission: share.permission,
        }),
        (share: SharedRecord) => ({
          shareId: share.shareId,
          userName: share.user,
          permission: share.permission,
        }),
        (share: SharedRecord) => ({
          shareId: share.shareId,
          grantee: share.user,
          permission: share.permission,
        }),
      ]
      for (const shown of forms) {
        const testbed = await open(t, { fill: fillWithBob, settings: { access: 'manage' } })
        testbed.service.intercept(/^GET \/project\/share/, async response => {
          response.writeHead(200, { 'content-type': 'application/json' })
          response.end(JSON.stringify((await sharesOf(testbed)).map(one => shown(one))))
        })
        await overwrite(testbed, fresh, told('guest', 'READ'))
        await overwrite(testbed, fresh, told('guest', 'WRITE'))
        t.equal(await rightsIn(testbed), 'guest WRITE', 'the same user, an update')
        testbed.service.rewrite(/^POST \/project\/share/, () =>
          JSON.stringify({ projectId: Number(ids.water), user: 'bob', permission: 'FULLACCESS' }),
        )
        await outcome(overwrite(testbed, fresh, told('bob', 'FULLACCESS')))
        t.match(await rightsIn(testbed), /^guest WRITE(, bob FULLACCESS)?$/)
        const own = `${shares}/${(await sharesOf(testbed))[0]?.shareId}.json`
        const text = await textOf(testbed, own)
        const asked = await testbed.service.during(async () => {
          const other = text.replace('"guest"', '"bob"')
          t.equal(await outcome(overwrite(testbed, own, other)), 'EINVAL', `${other}`)
        })
        t.same(writes(asked), [])
      }
    })

    t.test('SHARE-6 another user written while the first is on the way', async t => {
      const testbed = await open(t, { fill: fillWithBob, settings: { access: 'manage' } })
      const { open: letPass, opened } = gate()
      const mend = testbed.service.intercept(/^POST \/project\/share/, async (_response, { carryOut }) => {
        const answer = await carryOut()
        await opened
        answer()
      })
      const file = await testbed.files.open(fresh, 'w')
      await file.write(told('guest', 'READ'), 0)
      const first = outcome(file.close())
      await until(5000, 'the POST', async () =>
        testbed.service.heard.some(({ method, path }) => method === 'POST' && path === '/project/share'),
      )
      const other = await testbed.files.open(fresh, 'r+')
      await other.truncate(0)
      await other.write(told('bob', 'FULLACCESS'), 0)
      mend()
      letPass()
      await first
      await outcome(other.close())
      const rights = await rightsIn(testbed)
      t.match(rights, /^guest READ(, bob FULLACCESS)?$/, rights)
    })

    t.test('SHARE-6 another user after a save that ended half way', async t => {
      const testbed = await open(t, { fill: fillWithBob, settings: { access: 'manage' } })
      const mends: (() => void)[] = []
      mends.push(
        testbed.service.intercept(/^POST \/project\/share/, async (_response, { carryOut }) => {
          const answer = await carryOut()
          mends.push(
            testbed.service.intercept(
              /^GET \/project\/share/,
              response => void response.writeHead(500).end('no'),
            ),
          )
          answer()
        }),
      )
      t.not(await outcome(overwrite(testbed, fresh, told('guest', 'READ'))), 'done')
      for (const mend of mends) mend()
      await testbed.remount()
      const asked = await testbed.service.during(() => overwrite(testbed, fresh, told('bob', 'FULLACCESS')))
      t.notOk(
        writes(asked).some(line => line.startsWith('PUT')),
        'no share is changed',
      )
      t.equal(await rightsIn(testbed), 'guest READ, bob FULLACCESS')
      t.same(await drafts(testbed), [])
    })

    t.test('SHARE-6 an id in the answer that is the share of another user', async t => {
      const testbed = await started(t)
      const guests = (await sharesOf(testbed))[0]?.shareId
      testbed.service.intercept(/^POST \/project\/share/, async (response, { carryOut }) => {
        await carryOut()
        response.writeHead(200, { 'content-type': 'application/json' }).end(String(guests))
      })
      await outcome(overwrite(testbed, `${shares}/new-b.json`, told('bob', 'FULLACCESS')))
      await outcome(overwrite(testbed, `${shares}/new-b.json`, told('bob', 'WRITE')))
      t.match(await rightsIn(testbed), /^guest READ, bob (FULLACCESS|WRITE)$/)
    })

    t.test('SHARE-7 a share that was taken back elsewhere is not given again by its old text', async t => {
      const testbed = await started(t)
      const given = (await sharesOf(testbed))[0]?.shareId
      await testbed.service.elsewhere('DELETE', `/project/share?shareId=${given}`)
      const asked = await testbed.service.during(async () =>
        t.equal(await outcome(overwrite(testbed, fresh, told('guest', 'READ'))), 'ENOENT'),
      )
      t.same(writes(asked), [], 'an unchanged text says so, too')
      t.equal(await rightsIn(testbed), '')
      await overwrite(testbed, fresh, told('guest', 'READ'))
      t.equal(await rightsIn(testbed), 'guest READ', 'saved once more it is a new one')
      t.same(await drafts(testbed), [])
    })

    t.test('SHARE-7 nor where its number is another user’s share by now', async t => {
      for (const permission of ['READ', 'WRITE']) {
        const testbed = await started(t)
        await giveToBob(testbed, (await sharesOf(testbed))[0]?.shareId ?? 0)
        const save = () => overwrite(testbed, fresh, told('guest', permission))
        const asked = await testbed.service.during(async () =>
          t.equal(await outcome(save()), 'ENOENT', permission),
        )
        t.same(writes(asked), [])
        t.same(writes(await testbed.service.during(save)), ['POST /project/share'], 'once more: a new one')
        t.equal(await rightsIn(testbed), `guest ${permission}`)
        t.same(await drafts(testbed), [])
      }
    })

    t.test('SHARE-7 an unchanged text by its number, too: gone is ENOENT, another user’s ESTALE', async t => {
      for (const [errno, become] of [
        [
          'ENOENT',
          ({ service }: Testbed, share: number) =>
            service.elsewhere('DELETE', `/project/share?shareId=${share}`),
        ],
        ['ESTALE', giveToBob],
      ] as const) {
        const testbed = await started(t)
        const share = (await sharesOf(testbed))[0]?.shareId ?? 0
        const text = await textOf(testbed, `${shares}/${share}.json`)
        const file = await testbed.files.open(`${shares}/${share}.json`, 'r+')
        await become(testbed, share)
        await file.write(text, 0)
        const asked = await testbed.service.during(async () => t.equal(await outcome(file.close()), errno))
        t.same(writes(asked), [])
        const kept = (await drafts(testbed)).find(name => name.endsWith('.json'))
        t.equal(await textOf(testbed, `.calcfs/drafts/${kept}`), text, 'the text is kept')
      }
    })

    t.test('SHARE-6 one name in two projects is two things, and after a remount it is new', async t => {
      const testbed = await started(t)
      await overwrite(
        testbed,
        'projects/Water splitting/Sub project/.shares/new.json',
        told('guest', 'FULLACCESS'),
      )
      t.equal(await rightsIn(testbed), 'guest READ')
      t.equal(await rightsIn(testbed, ids.empty), 'guest FULLACCESS')
      await testbed.remount()
      const asked = await testbed.service.during(() => overwrite(testbed, fresh, told('bob', 'WRITE')))
      t.same(writes(asked), ['POST /project/share'])
      t.equal(await rightsIn(testbed), 'guest READ, bob WRITE')
    })
  })
}
