// Promises of §4.2: shares, and what each permission lets another user do.
import t, { type Test } from 'tap'
import { all, type Client, openServiceTestbed, type ServiceTestbed, signedIn, statuses } from './client.js'

t.setTimeout(60_000)

interface Shared extends ServiceTestbed {
  readonly bo: Client
  /** A project of anna, with a sub-project and a calculation in it. */
  readonly project: string
  readonly sub: string
  readonly calculation: string
}

async function shared(t: Test, permission: string | undefined, hide = false): Promise<Shared> {
  const place = await openServiceTestbed(t, { shortcomings: { hide } })
  const { seed } = place.service
  seed.addUser({ name: 'bo', password: 'bo' })
  const project = seed.addProject({ name: 'Dyes', owner: 'anna' })
  const sub = seed.addProject({ name: 'Sub', owner: 'anna', parent: project })
  const calculation = seed.addCalculation({
    name: 'TS',
    project: sub,
    files: { 'a.in': 'x' },
    xyz: '0\n\n',
  })
  if (permission !== undefined) {
    const body = JSON.stringify({ projectId: Number(project), user: 'bo', permission })
    const made = await place.anna('POST', '/project/share', { body })
    if (made.status !== 200) throw new Error(made.text)
  }
  return { ...place, bo: await signedIn(t, place.service.url, 'bo'), project, sub, calculation }
}

const readings = ({ project, sub, calculation }: Shared) => [
  `/project?id=${project}`,
  `/project/descendant?id=${project}&depth=all`,
  `/project/share?id=${project}`,
  `/project?id=${sub}`,
  `/calculation?id=${calculation}`,
  `/calculation/files?id=${calculation}`,
  `/calculation/files/bitstream?id=${calculation}&fileId=a.in`,
  `/calculation/xyz?id=${calculation}`,
  '/navigation/path/resolve?path=/db/anna/Dyes/Sub/TS&type=calculation',
]

async function writings({ bo, project, sub, calculation }: Shared): Promise<readonly number[]> {
  const bodies: [string, 'POST' | 'PUT', string][] = [
    ['/project', 'PUT', `{"id":${sub},"name":"Sub","description":"new"}`],
    ['/project', 'POST', `{"parentId":${project},"name":"New","description":"new"}`],
    ['/calculation', 'PUT', `{"id":${calculation},"name":"TS2"}`],
  ]
  const found: number[] = []
  for (const [path, method, body] of bodies) found.push((await bo(method, path, { body })).status)
  return found
}

async function deletions({ bo, sub, calculation }: Shared): Promise<readonly number[]> {
  const one = await bo('DELETE', `/calculation?id=${calculation}`)
  const two = await bo('DELETE', `/project?id=${sub}`)
  return [one.status, two.status]
}

t.test('without a share nothing of another can be seen, changed or deleted', async t => {
  const place = await shared(t, undefined)
  t.same(await statuses(place.bo, 'GET', readings(place)), all(403, readings(place)))
  t.same(await writings(place), [403, 403, 403])
  t.same(await deletions(place), [403, 403])
})

t.test('an instance that hides answers 404 where others answer 403, and 400 for a body', async t => {
  const place = await shared(t, undefined, true)
  t.same(await statuses(place.bo, 'GET', readings(place)), all(404, readings(place)))
  t.same(await writings(place), [404, 400, 404])
  t.same(await deletions(place), [404, 404])
})

t.test('READ reads everything below and nothing more', async t => {
  const place = await shared(t, 'READ')
  t.same(await statuses(place.bo, 'GET', readings(place)), all(200, readings(place)))
  t.same(await writings(place), [403, 403, 403])
  t.same(await deletions(place), [403, 403])
})

t.test('what may be read but not written is 403 even where rights hide', async t => {
  t.same(await writings(await shared(t, 'READ', true)), [403, 403, 403])
})

t.test('WRITE writes and does not delete', async t => {
  const place = await shared(t, 'WRITE')
  t.same(await statuses(place.bo, 'GET', readings(place)), all(200, readings(place)))
  t.same(await writings(place), [200, 200, 200])
  t.same(await deletions(place), [403, 403])
})

t.test('FULLACCESS deletes', async t => {
  const place = await shared(t, 'FULLACCESS')
  t.same(await writings(place), [200, 200, 200])
  t.same(await deletions(place), [200, 200])
})

t.test('a share of a sub-project opens nothing above or next to it', async t => {
  const place = await shared(t, undefined)
  const beside = place.service.seed.addProject({ name: 'Beside', owner: 'anna', parent: place.project })
  place.service.seed.addShare({ project: place.sub, user: 'bo', permission: 'FULLACCESS' })
  const closed = [`/project?id=${place.project}`, `/project?id=${beside}`, `/project?id=${place.root}`]
  t.same(await statuses(place.bo, 'GET', closed), all(403, closed))
  t.equal((await place.bo('GET', `/calculation?id=${place.calculation}`)).status, 200)
})

t.test('the owner of a project rules what others make in it', async t => {
  const place = await shared(t, 'WRITE')
  const body = `{"parentId":${place.project},"name":"Of bo","description":"x"}`
  const { text: id } = await place.bo('POST', '/project', { body })
  t.equal((await place.bo('DELETE', `/project?id=${id}`)).status, 200, 'its maker owns it')
  const again = await place.bo('POST', '/project', { body })
  t.equal((await place.anna('DELETE', `/project?id=${again.text}`)).status, 200, 'so does the owner above')
})

t.test('shares are listed, changed and deleted; a change counts at once', async t => {
  const place = await shared(t, 'READ')
  const [share] = JSON.parse((await place.anna('GET', `/project/share?id=${place.project}`)).text)
  t.match(share, { shareId: Number, projectId: Number(place.project), user: 'bo', permission: 'READ' })
  const change = `{"shareId":${share.shareId},"permission":"WRITE","note":0.10}`
  t.equal((await place.anna('PUT', '/project/share', { body: change })).status, 200)
  t.match(
    (await place.anna('GET', `/project/share?id=${place.project}`)).text,
    /"permission":"WRITE","note":0\.10/,
  )
  t.same(await writings(place), [200, 200, 200])
  t.equal((await place.anna('DELETE', `/project/share?shareId=${share.shareId}`)).status, 200)
  t.equal((await place.bo('GET', `/project?id=${place.project}`)).status, 403)
  t.equal((await place.anna('GET', `/project/share?id=${place.project}`)).text, '[]')
})

t.test('only those with FULLACCESS give, change or take shares', async t => {
  const place = await shared(t, 'WRITE')
  const [share] = JSON.parse((await place.anna('GET', `/project/share?id=${place.project}`)).text)
  const raise = { body: `{"shareId":${share.shareId},"permission":"FULLACCESS"}` }
  const give = { body: `{"projectId":${place.sub},"user":"bo","permission":"FULLACCESS"}` }
  t.equal((await place.bo('PUT', '/project/share', raise)).status, 403)
  t.equal((await place.bo('POST', '/project/share', give)).status, 403)
  t.equal((await place.bo('DELETE', `/project/share?shareId=${share.shareId}`)).status, 403)
  t.equal((await place.anna('PUT', '/project/share', raise)).status, 200)
  place.service.seed.addUser({ name: 'cy', password: 'cy' })
  const further = { body: `{"projectId":${place.sub},"email":"cy@example.org","permission":"READ"}` }
  t.equal((await place.bo('POST', '/project/share', further)).status, 200)
})
