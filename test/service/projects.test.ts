// Promises of §4.1: projects, their records, and the eight rules of /project/descendant.
import t from 'tap'
import { all, type Client, openServiceTestbed, statuses } from './client.js'

t.setTimeout(60_000)
const badIds = ['', 'x', '-1', '1.5', '1e3', '0x10', '9223372036854775808', '%201', '1&id=2']

t.test('a project without name or description, or that is no JSON object, is 400', async t => {
  const { anna } = await openServiceTestbed(t)
  const bodies = [
    '{"name":"x"}',
    '{"description":"x"}',
    '{"name":"","description":"x"}',
    '{"name":"x","description":" "}',
    '{"name":7,"description":"x"}',
    '{"name":"x","description":"y","parentId":999}',
    '{"name":"x","description":"y","parentId":"no"}',
    '[]',
    'null',
    '"x"',
    '{"name":',
    '',
  ]
  for (const body of bodies) t.equal((await anna('POST', '/project', { body })).status, 400, body)
  const latin1 = Buffer.from('{"name":"\xe9","description":"x"}', 'latin1')
  t.equal((await anna('POST', '/project', { body: latin1 })).status, 400, 'not UTF-8')
})

t.test('the modification date grows with every change, even within one millisecond', async t => {
  const { anna, service } = await openServiceTestbed(t, { now: () => 1_700_000_000_000 })
  const id = service.seed.addProject({ name: 'Dyes', owner: 'anna' })
  const dates: string[] = []
  for (const name of ['a', 'b', 'c']) {
    await anna('PUT', '/project', { body: `{"id":${id},"name":"${name}","description":"x"}` })
    dates.push(JSON.parse((await anna('GET', `/project?id=${id}`)).text).modificationDate)
  }
  t.same(dates, [...new Set(dates)].sort())
})

t.test('an id that is none is 400 and an unknown one 404, on every operation that takes one', async t => {
  const { anna } = await openServiceTestbed(t)
  const project = ['/project', '/project/descendant', '/project/share']
  const calculation = [
    '/calculation',
    '/calculation/files',
    '/calculation/files/bitstream',
    '/calculation/xyz',
  ]
  const badOf = (path: string) => [path, ...badIds.map(id => `${path}?id=${id}&fileId=a`)]
  // A report that is not there is 400 on GET.
  const reads = [...project, ...calculation, '/report'].flatMap(badOf)
  t.same(await statuses(anna, 'GET', reads), all(400, reads))
  const removes = ['/project', '/calculation', '/report'].flatMap(badOf)
  t.same(await statuses(anna, 'DELETE', removes), all(400, removes))
  const unknown = [...project, ...calculation].map(path => `${path}?id=4711&fileId=a`)
  t.same(await statuses(anna, 'GET', unknown), all(404, unknown))
  t.equal((await anna('DELETE', '/project?id=4711')).status, 404)
})

t.test('deleting a project deletes all below it, and the contents that nothing else holds', async t => {
  const { anna, service } = await openServiceTestbed(t)
  const { seed } = service
  const top = seed.addProject({ name: 'Top', owner: 'anna' })
  const sub = seed.addProject({ name: 'Sub', owner: 'anna', parent: top })
  const other = seed.addProject({ name: 'Other', owner: 'anna' })
  const gone = seed.addCalculation({ name: 'c', project: sub, files: { a: 'shared bytes', b: 'own bytes' } })
  const stays = seed.addCalculation({ name: 'c', project: other, files: { a: 'shared bytes' } })
  t.equal((await anna('DELETE', `/project?id=${top}`)).status, 200)
  const paths = [`/project?id=${top}`, `/project?id=${sub}`, `/calculation?id=${gone}`]
  t.same(await statuses(anna, 'GET', paths), all(404, paths))
  const kept = await anna('GET', `/calculation/files/bitstream?id=${stays}&fileId=a`)
  t.equal(kept.text, 'shared bytes')
})

t.test('the root of a space and what is published can be neither changed nor deleted', async t => {
  const { anna, service, root } = await openServiceTestbed(t)
  const frozen = service.seed.addProject({
    name: 'P',
    owner: 'anna',
    fields: '{"state":"published","handle":"10.1/x"}',
  })
  const inside = service.seed.addCalculation({ name: 'c', project: frozen })
  for (const id of [root, frozen]) {
    t.equal(
      (await anna('PUT', '/project', { body: `{"id":${id},"name":"x","description":"y"}` })).status,
      403,
    )
    t.equal((await anna('DELETE', `/project?id=${id}`)).status, 403)
  }
  t.equal((await anna('PUT', '/calculation', { body: `{"id":${inside},"name":"x"}` })).status, 403)
  t.equal((await anna('DELETE', `/calculation?id=${inside}`)).status, 403)
  t.equal((await anna('GET', `/calculation?id=${inside}`)).status, 200)
})

t.test('the eight rules of descendant', async t => {
  const { anna, service } = await openServiceTestbed(t)
  const { seed } = service
  const top = seed.addProject({ name: 'top', owner: 'anna' })
  const one = seed.addProject({ name: 'p1', owner: 'anna', parent: top })
  const two = seed.addProject({ name: 'p2', owner: 'anna', parent: one })
  seed.addProject({ name: 'p3', owner: 'anna', parent: two })
  seed.addCalculation({ name: 'c1', project: top })
  seed.addCalculation({ name: 'c2', project: one })
  seed.addCalculation({ name: 'c3', project: two })
  const names = namesBelow(anna, top)
  t.same(await names(''), ['c1'])
  t.same(await names('&type=calculation'), ['c1'])
  t.same(await names('&type=calculation&depth=1'), ['c1'])
  t.same(await names('&type=calculation&depth=2'), ['c1', 'c2'])
  t.same(await names('&type=calculation&depth=all'), ['c1', 'c2', 'c3'])
  t.same(await names('&depth=all'), ['c1', 'c2', 'c3'])
  t.same(await names('&type=project'), ['p1'])
  t.same(await names('&type=project&depth=2'), ['p1', 'p2'])
  t.same(await names('&type=project&depth=all'), ['p1', 'p2', 'p3'])
  t.same(await names('&type=project&depth=99999999999999999999'), ['p1', 'p2', 'p3'])
  t.same(
    await names('&type=project&searchType=id'),
    ['p1'],
    'parameters that are not documented change nothing',
  )
})

function namesBelow(client: Client, id: string) {
  return async (query: string): Promise<string[]> => {
    const answer = await client('GET', `/project/descendant?id=${id}${query}`)
    return JSON.parse(answer.text).map((item: { name: string }) => item.name)
  }
}
