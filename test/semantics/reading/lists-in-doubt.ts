// A listing whose items name another project as their parent, where that one cannot be asked, or is the project itself.
import type { Test } from 'tap'
import { namesOf, type OpenTestbed } from '../../testbed/testbed.js'
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
