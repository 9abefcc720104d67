// A listing whose items name another project as their parent, which cannot be requested or is the project itself.
import type { Test } from 'tap'
import { namesOf, type OpenTestbed, outcome, textOf } from '../../testbed/testbed.js'
import { fillPair, ofOne, one } from './identity.js'

export function listsInDoubt(t: Test, open: OpenTestbed): void {
  t.test('ID-2 a space that does not answer holds up no listing whose items name it', async t => {
    for (const how of ['500', 'silence'] as const) {
      const testbed = await open(t, { fill: fillPair })
      const { service } = testbed
      service.intercept(/^GET \/project\/descendant/, async (response, { heard }) => {
        if (heard.path.includes('id=999&')) {
          if (how === '500') response.writeHead(500).end()
          return
        }
        const items = await service.elsewhere('GET', heard.path)
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(items.replace(/"parentId":\s*\d+/g, '"parentId":999'))
      })
      t.same((await namesOf(testbed, 'projects/One')).slice(3), ofOne, how)
      t.same((await namesOf(testbed, 'projects/One')).slice(3), ofOne, how)
    }
  })

  t.test('LIST-21 files that were listed are shown until their list is 404 for a minute', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const folder = 'projects/Water splitting/TS1_opt'
    const known = await namesOf(testbed, folder)
    t.ok(known.includes('run.log') && known.includes('TS1_opt.xyz'))
    const mend = service.intercept(/^GET \/calculation\/files\?/, response => {
      response.writeHead(404).end('{}')
    })
    const look = async (): Promise<readonly string[]> => {
      await testbed.pass(3200)
      await files.touch(folder)
      return namesOf(testbed, folder)
    }
    t.same(await look(), known)
    t.equal(await textOf(testbed, `${folder}/input.inp`), '! B3LYP opt\n')
    t.same(await look(), known)
    mend()
    t.same(await look(), known)
    const gone = service.intercept(/^GET \/calculation\/files\?/, response => {
      response.writeHead(404).end('{}')
    })
    t.same(await look(), known)
    if (testbed.name === 'in-process') {
      await testbed.pass(70_000)
      t.same(await look(), known, 'no request came between: it may be another spell')
      await testbed.pass(40_000)
      t.same(await look(), known)
      await testbed.pass(30_000)
      t.same(await look(), ['.calculation.json'])
    }
    gone()
    t.same(await look(), known)
  })

  t.test('STALE-6 a list that is refused says nothing of what is in it', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const folder = 'projects/Water splitting/TS1_opt'
    await namesOf(testbed, 'projects/Water splitting')
    service.intercept(/^GET \/calculation\/files\?/, response => {
      response.writeHead(400).end('{}')
    })
    t.equal(await outcome(files.lstat(`${folder}/run.log`)), 'EINVAL')
    t.equal(await outcome(files.readdir(folder)), 'EINVAL')
  })

  t.test('LIST-22 a project that is listed in itself is no mixed-up listing', async t => {
    const testbed = await open(t, { fill: fillPair })
    const { files, service } = testbed
    const root = service.seed.rootOf('demo')
    service.intercept(new RegExp(`^GET /project/descendant\\?id=${one}&type=project`), async response => {
      const above = JSON.parse(
        await service.elsewhere('GET', `/project/descendant?id=${root}&type=project&depth=1`),
      )
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(above.filter((item: { id: unknown }) => String(item.id) === one)))
    })
    const names = await namesOf(testbed, 'projects/One')
    t.ok(names.includes('One c1'), names.join())
    t.equal(await files.readlink('projects/One/One'), '.')
  })
}
