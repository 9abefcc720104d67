// Promises of §4.5 and §5: log-in, tokens, the caller's information and path resolution.
import t from 'tap'
import { all, basic, clientOf, openServiceTestbed, statuses } from './client.js'

t.setTimeout(60_000)

t.test('a log-in answers the token as text, by name or by e-mail address', async t => {
  const { service } = await openServiceTestbed(t)
  const stranger = clientOf(t, service.url)
  for (const name of ['anna', 'anna@example.org']) {
    const answer = await stranger('POST', '/login', { headers: { authorization: basic(name, 'anna') } })
    t.equal(answer.status, 200)
    t.match(answer.text, /^[\w-]+\.[\w-]+\.[\w-]+$/)
    t.match(answer.headers['content-type'], /^text\/plain/)
  }
})

t.test('a log-in with wrong, empty or broken credentials is 401', async t => {
  const { service } = await openServiceTestbed(t)
  const stranger = clientOf(t, service.url)
  const headers = [
    basic('anna', 'wrong'),
    basic('anna', ''),
    basic('unknown', 'anna'),
    'Basic %%%',
    'Bearer x',
    'Basic YW5uYQ==',
  ]
  for (const authorization of headers) {
    const answer = await stranger('POST', '/login', { headers: { authorization } })
    t.equal(answer.status, 401, authorization)
    t.match(JSON.parse(answer.text), { error: String })
  }
  t.equal((await stranger('POST', '/login')).status, 401)
})

t.test('every operation but the log-in needs a valid token', async t => {
  const { service } = await openServiceTestbed(t)
  const get = [
    '/project?id=1',
    '/project/descendant?id=1',
    '/project/share?id=1',
    '/report/types',
    '/report-type',
    '/report?id=1',
    '/calculation?id=1',
    '/calculation/files?id=1',
    '/calculation/files/bitstream?id=1&fileId=a',
    '/calculation/xyz?id=1',
    '/user/info',
    '/navigation/path/resolve?path=/db/anna&type=project',
  ]
  for (const authorization of ['', 'Bearer nonsense', 'Bearer e30.e30.e30', basic('anna', 'anna')]) {
    t.same(await statuses(clientOf(t, service.url, { authorization }), 'GET', get), all(401, get))
  }
  const stranger = clientOf(t, service.url)
  for (const path of ['/project', '/project/share', '/report']) {
    t.equal((await stranger('POST', path, { body: '{}' })).status, 401)
    t.equal((await stranger('PUT', path, { body: '{}' })).status, 401)
  }
  t.equal((await stranger('DELETE', '/project?id=1')).headers['www-authenticate'], 'Bearer')
})

t.test('a token is good for 24 hours, or as long as the instance says, and not a second more', async t => {
  let now = 1_000_000_000_000
  const day = await openServiceTestbed(t, { now: () => now })
  const hour = await openServiceTestbed(t, { now: () => now, tokenLifetime: 3600 })
  now += 3599 * 1000
  t.equal((await hour.anna('GET', '/user/info')).status, 200)
  now += 1000
  t.equal((await hour.anna('GET', '/user/info')).status, 401)
  now += 22 * 3600 * 1000 + 3599 * 1000
  t.equal((await day.anna('GET', '/user/info')).status, 200)
  now += 1000
  t.equal((await day.anna('GET', '/user/info')).status, 401)
})

t.test('a path resolves to the id of what lies there', async t => {
  const { service, anna, root } = await openServiceTestbed(t)
  const { seed } = service
  const dyes = seed.addProject({ name: 'Dyes', owner: 'anna' })
  const slash = seed.addProject({ name: 'a/b', owner: 'anna', parent: dyes })
  const twin = seed.addCalculation({ name: 'TS/1', project: slash, id: '9007199254740993' })
  const resolve = async (path: string, type: string) => {
    const answer = await anna('GET', `/navigation/path/resolve?path=${encodeURIComponent(path)}&type=${type}`)
    return answer.status === 200 ? answer.text : answer.status
  }
  t.equal(await resolve('/db/anna', 'project'), root)
  t.equal(await resolve('/db/anna/', 'project'), root)
  t.equal(await resolve('/db/anna/Dyes', 'project'), dyes)
  t.equal(await resolve('/db/anna/Dyes/a/b', 'project'), slash)
  t.equal(await resolve('/db/anna/Dyes/a/b/TS/1', 'calculation'), twin)
  t.equal(await resolve('/db/anna/Dyes/a/b/TS/1', 'project'), 404)
  t.equal(await resolve('/db/anna/Dyes', 'calculation'), 404)
  t.equal(await resolve('/db/anna@example.org', 'project'), 404)
  t.equal(await resolve('/db/unknown', 'project'), 404)
  t.equal(await resolve('db/anna', 'project'), 404)
  t.equal(await resolve('', 'project'), 404)
})
