// `new*.json`: saved once it is a POST; from then on the name is another one of the record that it has made.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'

const water = 'projects/Water splitting'
const shares = `${water}/.shares`
const drafts = (testbed: Testbed) => namesOf(testbed, '.calcfs/drafts')
const reportsListed = async (testbed: Testbed) =>
  (await namesOf(testbed, 'reports')).filter(name => /^\d+\.json$/.test(name))

interface Stored {
  title: string
  description: string
  reportType: number | string
  calculations: { calcId: number; title: string | null }[]
}

const storedAs = async ({ service }: Testbed, id: string): Promise<Stored> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${id}`))

export function newFiles(t: Test, open: OpenTestbed): void {
  t.test('a new report', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const fresh = 'reports/new-dyes.json'
    let made = ''

    t.test('NEW-1 saved it is one POST, then it is listed by its number', async t => {
      const before = await reportsListed(testbed)
      const text = { title: 'Dyes', description: 'Colours', reportType: '1', calculations: [1235, 1236] }
      const asked = await service.during(() => overwrite(testbed, fresh, JSON.stringify(text)))
      t.match(writes(asked), ['POST /report'])
      made =
        (await reportsListed(testbed)).filter(name => !before.includes(name))[0]?.replace('.json', '') ?? ''
      t.match(made, /^\d+$/)
      const stored = await storedAs(testbed, made)
      t.match(stored, { title: 'Dyes', description: 'Colours' })
      t.same(
        stored.calculations.map(row => String(row.calcId)),
        [ids.product, ids.bare],
      )
      t.same(await drafts(testbed), [])
    })

    t.test('NEW-2 the name answers, is not listed, and updates the same report', async t => {
      t.notOk((await namesOf(testbed, 'reports')).includes('new-dyes.json'))
      t.equal(JSON.parse(await textOf(testbed, fresh)).title, 'Dyes')
      const again = {
        title: 'Dyes',
        description: 'More colours',
        reportType: '1',
        calculations: [1236, 1235],
      }
      const asked = await service.during(() => overwrite(testbed, fresh, JSON.stringify(again)))
      t.same(writes(asked), ['PUT /report/calculations', 'PUT /report'])
      const stored = await storedAs(testbed, made)
      t.equal(stored.description, 'More colours')
      t.same(
        stored.calculations.map(row => String(row.calcId)),
        [ids.bare, ids.product],
      )
    })

    t.test('NEW-2 also by an editor that puts a backup aside, and by the text as it is shown', async t => {
      const text = (await textOf(testbed, fresh)).replace('More colours', 'Backed up')
      const asked = await service.during(async () => {
        await files.rename(fresh, `${fresh}~`)
        await overwrite(testbed, fresh, text)
        await files.unlink(`${fresh}~`)
      })
      t.same(writes(asked), ['PUT /report'])
      t.equal((await storedAs(testbed, made)).description, 'Backed up')
    })

    t.test('NEW-3 what the other name has changed meanwhile stays', async t => {
      const own = `reports/${made}.json`
      await overwrite(testbed, own, (await textOf(testbed, own)).replace('"Dyes"', '"Renamed"'))
      const text = { title: 'Dyes', description: 'Third', reportType: '1', calculations: [1236, 1235] }
      await overwrite(testbed, fresh, JSON.stringify(text))
      t.match(await storedAs(testbed, made), { title: 'Renamed', description: 'Third' })
    })

    t.test('NEW-5 the type is one of those that are listed, by its number or its name', async t => {
      await overwrite(
        testbed,
        'reports/new-p.json',
        '{"name":"Profile","reportType":"Reaction energy profile"}',
      )
      const refused = ['{"name":"X","reportType":"9"}', '{"name":"X"}', '{"reportType":"1"}', '[1]']
      const asked = await service.during(async () => {
        for (const text of refused)
          t.equal(await outcome(overwrite(testbed, 'reports/new-x.json', text)), 'EINVAL')
      })
      t.same(writes(asked), [])
      t.same(await drafts(testbed), ['new-x.json', 'new-x.json.why'])
      t.ok((await namesOf(testbed, 'reports')).includes('new-x.json'), 'the unsent file is there')
      await overwrite(testbed, 'reports/new-x.json', '{"name":"X","reportType":1}')
      t.same(await drafts(testbed), [])
    })

    t.test('NEW-5 a copy of a report makes another one, with the titles of its rows', async t => {
      await overwrite(testbed, 'reports/new-copy.json', await textOf(testbed, `reports/${ids.report}.json`))
      const copy = String(JSON.parse(await textOf(testbed, 'reports/new-copy.json')).id)
      t.not(copy, ids.report)
      const stored = await storedAs(testbed, copy)
      t.equal(stored.title, 'Supporting information')
      t.equal(stored.calculations[0]?.title, 'Transition state')
      t.same(await drafts(testbed), [])
    })

    t.test('NEW-5 paths stand for calculations in the list of a new report', async t => {
      const list = ['/projects/Water splitting/H2O', '/db/demo/Water splitting/TS1_opt']
      const text = JSON.stringify({ name: 'Paths', reportType: 1, calculations: list })
      await overwrite(testbed, 'reports/new-paths.json', text)
      const stored = await storedAs(testbed, JSON.parse(await textOf(testbed, 'reports/new-paths.json')).id)
      t.same(
        stored.calculations.map(row => String(row.calcId)),
        [ids.product, ids.transition],
      )
    })

    t.test('NEW-1 if the list fails, the report is there and its list is the draft', async t => {
      const mend = service.intercept(
        /^PUT \/report\/calculations/,
        response => void response.writeHead(500).end('no'),
      )
      const strip = service.rewrite(/^POST \/report$/, body => body.replace(/,"calculationIds":"[^"]*"/, ''))
      const text = JSON.stringify({ name: 'Half', reportType: 1, calculations: [1235] })
      t.equal(await outcome(overwrite(testbed, 'reports/new-half.json', text)), 'EIO')
      mend()
      strip()
      const half = `${JSON.parse(await textOf(testbed, 'reports/new-half.json')).id}.json`
      t.same(await drafts(testbed), [half, `${half}.why`])
      t.same((await storedAs(testbed, half.replace('.json', ''))).calculations, [])
      const asked = await service.during(async () => overwrite(testbed, 'reports/new-half.json', text))
      t.same(writes(asked), ['PUT /report/calculations'])
      t.same(await drafts(testbed), [])
    })

    t.test('NEW-2 again and again, also where the service fills its rows in', async t => {
      const text = (...calculations: number[]) =>
        JSON.stringify({ name: 'Many', reportType: 1, calculations })
      for (const list of [[1235], [1236], [1236, 1235], [1235, 1234, 1236], [1234]])
        t.equal(await outcome(overwrite(testbed, 'reports/new-many.json', text(...list))), 'done', `${list}`)
      const { id } = JSON.parse(await textOf(testbed, 'reports/new-many.json'))
      t.same(
        (await storedAs(testbed, id)).calculations.map(row => row.calcId),
        [1234],
      )
    })

    t.test('NEW-9 when its record is gone the name is free again', async t => {
      const text = (name: string) => JSON.stringify({ name, reportType: 1 })
      await overwrite(testbed, 'reports/new-gone.json', text('Before'))
      const { id } = JSON.parse(await textOf(testbed, 'reports/new-gone.json'))
      await service.elsewhere('DELETE', `/report?id=${id}`)
      t.equal(await outcome(overwrite(testbed, 'reports/new-gone.json', text('After'))), 'ENOENT')
      t.same(await drafts(testbed), ['new-gone.json', 'new-gone.json.why'], 'the text is kept')
      await overwrite(testbed, 'reports/new-gone.json', text('After'))
      t.not(JSON.parse(await textOf(testbed, 'reports/new-gone.json')).id, id)
      t.same(await drafts(testbed), [])
    })

    t.test('NEW-9 a passing 404 of its record makes no second one', async t => {
      const text = (description: string) => JSON.stringify({ name: 'Passing', reportType: 1, description })
      const path = 'reports/new-passing.json'
      await overwrite(testbed, path, text('a'))
      for (const status of [404, 400]) {
        const mend = service.intercept(/^(GET \/report\?|POST \/report$)/, response => {
          response.writeHead(status).end('{}')
        })
        for (let tries = 0; tries < 3; tries += 1)
          t.not(await outcome(overwrite(testbed, path, text(`b ${status}`))), 'done')
        mend()
        const asked = await service.during(() => overwrite(testbed, path, text(`c ${status}`)))
        t.same(writes(asked), ['PUT /report'])
      }
      t.same(await drafts(testbed), [])
    })

    t.test('NEW-8 a gateway that gives up with 503 has perhaps made it', async t => {
      const mend = service.intercept(/^POST \/report$/, async (response, { carryOut }) => {
        await carryOut()
        response.writeHead(503).end('busy')
      })
      t.equal(
        await outcome(overwrite(testbed, 'reports/new-busy.json', '{"name":"B","reportType":1}')),
        'EIO',
      )
      mend()
      t.equal(await files.xattr('reports/new-busy.json', 'user.calcfs.draft'), 'outcome-unknown')
      await files.unlink('.calcfs/drafts/new-busy.json')
    })

    t.test('NEW-8 a lost answer is never sent again by itself', async t => {
      const mend = service.lose(/^POST \/report$/)
      const text = JSON.stringify({ name: 'Lost', reportType: 1 })
      t.equal(await outcome(overwrite(testbed, 'reports/new-lost.json', text)), 'EIO')
      mend()
      t.equal(await files.xattr('reports/new-lost.json', 'user.calcfs.draft'), 'outcome-unknown')
      const asked = await service.during(async () => {
        t.equal(await outcome(overwrite(testbed, 'reports/new-lost.json', text)), 'EIO')
        await testbed.remount()
        t.equal(await outcome(overwrite(testbed, 'reports/new-lost.json', text)), 'EIO')
      })
      t.same(writes(asked), [])
      t.match(await textOf(testbed, '.calcfs/drafts/new-lost.json.why'), /send --again/)
      // As mv, install and tar do, which unlink before they create.
      const replaced = await service.during(async () => {
        await files.unlink('reports/new-lost.json')
        t.notOk((await namesOf(testbed, 'reports')).includes('new-lost.json'))
        t.same(await drafts(testbed), ['new-lost.json', 'new-lost.json.why'])
        await overwrite(testbed, 'reports/new-lost.json', '')
        await testbed.pass(3200)
        t.equal(await outcome(overwrite(testbed, 'reports/new-lost.json', text)), 'EIO')
      })
      t.same(writes(replaced), [])
      await files.unlink('reports/new-lost.json')
      await files.unlink('.calcfs/drafts/new-lost.json')
      t.same(await drafts(testbed), [])
      t.notOk((await namesOf(testbed, 'reports')).includes('new-lost.json'))
      const anew = await service.during(() => overwrite(testbed, 'reports/new-lost.json', text))
      t.same(writes(anew), ['POST /report'], 'what was given up is not remembered')
    })
  })

  t.test('a new share', async t => {
    const testbed = await open(t, { settings: { access: 'manage' } })
    const { files, service } = testbed
    const sharesOf = async () => JSON.parse(await service.elsewhere('GET', `/project/share?id=${ids.water}`))

    t.test('SHARE-1 saved it is one POST, then it is listed by its number', async t => {
      const asked = await service.during(() =>
        overwrite(testbed, `${shares}/new.json`, '{"user":"guest","permission":"READ"}'),
      )
      t.same(writes(asked), ['POST /project/share'])
      const [share] = await sharesOf()
      t.match(share, { user: 'guest', permission: 'READ' })
      t.same(await namesOf(testbed, shares), [`${share.shareId}.json`])
    })

    t.test('SHARE-2 the permission is changed by its file and by the name it was made under', async t => {
      const asked = await service.during(() =>
        overwrite(testbed, `${shares}/new.json`, '{"user":"guest","permission":"FULLACCESS"}'),
      )
      t.same(writes(asked), ['PUT /project/share'])
      t.match(await sharesOf(), [{ permission: 'FULLACCESS' }])
      const own = `${shares}/${(await namesOf(testbed, shares))[0]}`
      const text = (await textOf(testbed, own)).replace('FULLACCESS', 'WRITE')
      t.same(writes(await service.during(() => overwrite(testbed, own, text))), ['PUT /project/share'])
      t.match(await sharesOf(), [{ permission: 'WRITE' }])
    })

    t.test('SHARE-7 a passing 404 of the list of shares makes no second one', async t => {
      const mend = service.intercept(/^GET \/project\/share\?/, response => {
        response.writeHead(404).end('{}')
      })
      const text = (permission: string) => `{"user":"guest","permission":"${permission}"}`
      for (let tries = 0; tries < 3; tries += 1)
        t.equal(await outcome(overwrite(testbed, `${shares}/new.json`, text('READ'))), 'ENOENT')
      mend()
      // What is not there is believed for five seconds.
      await testbed.pass(5_100)
      const asked = await service.during(() => overwrite(testbed, `${shares}/new.json`, text('WRITE')))
      t.same(writes(asked), [])
      t.match(await sharesOf(), [{ permission: 'WRITE' }])
    })

    t.test('DRAFT-1 another permission or another user is refused before it is sent', async t => {
      const [name = ''] = await namesOf(testbed, shares)
      const text = await textOf(testbed, `${shares}/${name}`)
      const asked = await service.during(async () => {
        for (const wrong of [text.replace('WRITE', 'OWNER'), text.replace('"guest"', '"demo"')])
          t.equal(await outcome(overwrite(testbed, `${shares}/${name}`, wrong)), 'EINVAL')
        t.equal(
          await outcome(overwrite(testbed, `${shares}/new-b.json`, '{"user":"demo","permission":"x"}')),
          'EINVAL',
        )
        t.equal(await outcome(overwrite(testbed, `${shares}/new-b.json`, '{"permission":"READ"}')), 'EINVAL')
      })
      t.same(writes(asked), [])
      await overwrite(testbed, `${shares}/${name}`, text)
      await files.unlink(`${shares}/new-b.json`)
      t.same(await drafts(testbed), [])
    })

    t.test('DEL-3 rm takes the share away, after the pause', async t => {
      const [name = ''] = await namesOf(testbed, shares)
      const asked = await service.during(async () => {
        await files.unlink(`${shares}/${name}`)
        await testbed.pass(3200)
        await until(5000, 'the share is gone', async () => {
          await files.readdir(shares)
          return (await sharesOf()).length === 0
        })
      })
      t.match(writes(asked), [/^DELETE \/project\/share\?shareId=\d+$/])
      t.same(await sharesOf(), [])
    })

    t.test('SHARE-5 a lost answer makes no second share', async t => {
      const mend = service.lose(/^POST \/project\/share$/)
      t.equal(
        await outcome(overwrite(testbed, `${shares}/new-c.json`, '{"user":"guest","permission":"READ"}')),
        'done',
      )
      mend()
      t.equal((await sharesOf()).length, 1)
    })

    t.test('SHARE-5 a share whose user the service spells otherwise is made once', async t => {
      const [given] = await sharesOf()
      await service.elsewhere('DELETE', `/project/share?shareId=${given.shareId ?? given.id}`)
      const mend = service.intercept(/^GET \/project\/share/, async response => {
        const list = await service.elsewhere('GET', `/project/share?id=${ids.water}`)
        const body = list.replaceAll('"guest"', '"guest@example.org"')
        response.writeHead(200, { 'content-type': 'application/json' }).end(body)
      })
      const save = () =>
        outcome(overwrite(testbed, `${shares}/new-mail.json`, '{"user":"guest","permission":"READ"}'))
      const asked = await service.during(async () => {
        t.equal(await save(), 'done')
        t.equal(await save(), 'done')
      })
      t.same(writes(asked), ['POST /project/share'])
      mend()
    })

    t.test('SHARE-5 a list that is refused after the POST makes no second share', async t => {
      for (const status of [401, 403, 404, 409, 503]) {
        const [given] = await sharesOf()
        await service.elsewhere('DELETE', `/project/share?shareId=${given.shareId ?? given.id}`)
        let isPosted = false
        const mendPost = service.intercept(/^POST \/project\/share$/, async (_response, { carryOut }) => {
          const passOn = await carryOut()
          isPosted = true
          passOn()
        })
        const mendList = service.intercept(/^GET \/project\/share/, async (response, { carryOut }) => {
          if (isPosted) response.writeHead(status).end()
          else (await carryOut())()
        })
        const save = () =>
          outcome(overwrite(testbed, `${shares}/new-${status}.json`, '{"user":"guest","permission":"READ"}'))
        t.not(await save(), 'done')
        mendList()
        mendPost()
        const asked = await service.during(async () => t.equal(await save(), 'done'))
        t.same(writes(asked), [], `after ${status}`)
        t.equal((await sharesOf()).length, 1)
      }
    })
  })
}
