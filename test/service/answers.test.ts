// What the bundled service answers, as the API is described: who may do what, what is refused and with which status. What the drive makes of it: test/semantics/.
import t, { type Test } from 'tap'
import { all, type Client, openServiceTestbed, signedIn, statuses } from './client.js'

const cml =
  '<cml xmlns="http://www.xml-cml.org/schema"><molecule><atomArray><atom id="a1" elementType="O" x3="0.1" y3="-0.20" z3="1e-3"/></atomArray></molecule></cml>'
const digits = '0123456789'
const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))

/** A project of anna with a sub-project, a calculation in that, and a report; bo has what is shared. */
async function world(
  t: Test,
  { permission, hide = false }: { permission?: 'READ' | 'WRITE' | 'FULLACCESS'; hide?: boolean } = {},
) {
  const { service, anna, root } = await openServiceTestbed(t, { shortcomings: { hide } })
  const { seed, url } = service
  for (const name of ['bo', 'cy']) seed.addUser({ name, password: name })
  seed.addReportType('9', 'Retired', 'inactive')
  const project = seed.addProject({ name: 'Dyes', owner: 'anna' })
  const sub = seed.addProject({ name: 'Sub', owner: 'anna', parent: project })
  const files = { 'a.out': digits, 'a b,[1].txt': every, 'output.cml': cml }
  const calculation = seed.addCalculation({ name: 'TS', project: sub, files })
  const bare = seed.addCalculation({ name: 'bare', project: sub })
  const rows = [{ id: calculation, title: 'reactant' }, { id: bare }]
  const report = seed.addReport({ name: 'profile', owner: 'anna', type: '2', calculations: rows })
  if (permission !== undefined) seed.addShare({ project, user: 'bo', permission })
  return { seed, url, anna, root, bo: await signedIn(t, url, 'bo'), project, sub, calculation, bare, report }
}
type World = Awaited<ReturnType<typeof world>>

/** What each body is answered with. */
async function areAnswered(t: Test, client: Client, to: string, table: Record<string, number>) {
  const [method, path] = to.split(' ') as ['POST' | 'PUT', string]
  for (const [body, status] of Object.entries(table))
    t.equal((await client(method, path, { body })).status, status, `${to} ${body}`)
}

const readings = ({ project, sub, calculation }: World) => [
  `/project?id=${project}`,
  `/project/descendant?id=${project}&depth=all`,
  `/project/share?id=${project}`,
  `/project?id=${sub}`,
  `/calculation?id=${calculation}`,
  `/calculation/files?id=${calculation}`,
  `/calculation/files/bitstream?id=${calculation}&fileId=a.out`,
  `/calculation/xyz?id=${calculation}`,
  '/navigation/path/resolve?path=/db/anna/Dyes/Sub/TS&type=calculation',
]

for (const [permission, hide, reads, writes, deletes] of [
  [undefined, false, 403, [403, 403, 403], 403],
  [undefined, true, 404, [404, 400, 404], 404],
  ['READ', false, 200, [403, 403, 403], 403],
  ['READ', true, 200, [403, 403, 403], 403],
  ['WRITE', false, 200, [200, 200, 200], 403],
  ['FULLACCESS', false, 200, [200, 200, 200], 200],
] as const)
  t.test(`rights: ${permission ?? 'no share'}${hide ? ', where they hide' : ''}`, async t => {
    const place = await world(t, { ...(permission && { permission }), hide })
    const { bo, project, sub, calculation } = place
    t.same(await statuses(bo, 'GET', readings(place)), all(reads, readings(place)))
    const bodies: [string, string][] = [
      ['PUT /project', `{"id":${sub},"name":"Sub","description":"new"}`],
      ['POST /project', `{"parentId":${project},"name":"New","description":"new"}`],
      ['PUT /calculation', `{"id":${calculation},"name":"TS2"}`],
    ]
    for (const [at, [to, body]] of bodies.entries()) await areAnswered(t, bo, to, { [body]: writes[at] ?? 0 })
    const paths = [`/calculation?id=${calculation}`, `/calculation?id=${place.bare}`, `/project?id=${sub}`]
    t.same(await statuses(bo, 'DELETE', paths), all(deletes, paths))
  })

t.test('a share reaches what lies below it, and only FULLACCESS gives further ones', async t => {
  const { seed, anna, bo, root, project, sub, calculation } = await world(t)
  const beside = seed.addProject({ name: 'Beside', owner: 'anna', parent: project })
  seed.addShare({ project: sub, user: 'bo', permission: 'WRITE' })
  const closed = [project, beside, root].map(id => `/project?id=${id}`)
  t.same(await statuses(bo, 'GET', closed), all(403, closed))
  t.equal((await bo('GET', `/calculation?id=${calculation}`)).status, 200)
  const [share] = JSON.parse((await anna('GET', `/project/share?id=${sub}`)).text)
  const raise = `{"shareId":${share.shareId},"permission":"FULLACCESS"}`
  const give = `{"projectId":${sub},"email":"cy@example.org","permission":"READ"}`
  await areAnswered(t, bo, 'PUT /project/share', { [raise]: 403 })
  await areAnswered(t, bo, 'POST /project/share', { [give]: 403 })
  t.equal((await bo('DELETE', `/project/share?shareId=${share.shareId}`)).status, 403)
  const made = { body: `{"parentId":${sub},"name":"Of bo","description":"x"}` }
  for (const owner of [bo, anna])
    t.equal((await owner('DELETE', `/project?id=${(await bo('POST', '/project', made)).text}`)).status, 200)
  await areAnswered(t, anna, 'PUT /project/share', { [raise.replace('}', ',"note":0.10}')]: 200 })
  t.match((await anna('GET', `/project/share?id=${sub}`)).text, '"permission":"FULLACCESS","note":0.10')
  await areAnswered(t, bo, 'POST /project/share', { [give]: 200 })
  t.equal((await anna('DELETE', `/project/share?shareId=${share.shareId}`)).status, 200)
  t.equal((await bo('GET', `/project?id=${sub}`)).status, 403)
})

t.test(
  'a deletion takes what lies below, and leaves contents that others hold and places in reports',
  async t => {
    const { anna, seed, project, sub, calculation, bare, report } = await world(t)
    const other = seed.addProject({ name: 'Other', owner: 'anna' })
    const stays = seed.addCalculation({ name: 'c', project: other, files: { a: digits } })
    t.equal((await anna('DELETE', `/calculation?id=${calculation}`)).status, 200)
    const { calculations } = JSON.parse((await anna('GET', `/report?id=${report}`)).text)
    t.match(calculations, [{ calcId: Number(bare), calcOrder: 2, title: null }])
    t.equal((await anna('DELETE', `/project?id=${project}`)).status, 200)
    const paths = [`/project?id=${project}`, `/project?id=${sub}`, `/calculation?id=${bare}`]
    t.same(await statuses(anna, 'GET', paths), all(404, paths))
    t.equal((await anna('GET', `/calculation/files/bitstream?id=${stays}&fileId=a`)).text, digits)
  },
)

t.test('lists: the eight rules of descendant, files by kind, active types', async t => {
  const { anna, seed, calculation, bare } = await world(t)
  const top = seed.addProject({ name: 'top', owner: 'anna' })
  const one = seed.addProject({ name: 'p1', owner: 'anna', parent: top })
  const two = seed.addProject({ name: 'p2', owner: 'anna', parent: one })
  seed.addProject({ name: 'p3', owner: 'anna', parent: two })
  for (const [at, project] of [top, one, two].entries()) seed.addCalculation({ name: `c${at + 1}`, project })
  for (const [query, names] of Object.entries({
    '': 'c1',
    '&type=calculation': 'c1',
    '&type=calculation&depth=1': 'c1',
    '&type=calculation&depth=2': 'c1 c2',
    '&type=calculation&depth=all': 'c1 c2 c3',
    '&depth=all': 'c1 c2 c3',
    '&type=project': 'p1',
    '&type=project&depth=2': 'p1 p2',
    '&type=project&depth=all': 'p1 p2 p3',
    '&type=project&depth=99999999999999999999': 'p1 p2 p3',
    '&type=project&searchType=id': 'p1',
  })) {
    const { text } = await anna('GET', `/project/descendant?id=${top}${query}`)
    t.equal(
      JSON.parse(text)
        .map((item: { name: string }) => item.name)
        .join(' '),
      names,
      query,
    )
  }
  const files = async (query: string) =>
    JSON.parse((await anna('GET', `/calculation/files?id=${calculation}${query}`)).text)
  for (const query of ['', '&type=files']) t.same(await files(query), ['a.out', 'a b,[1].txt', 'output.cml'])
  t.same(await files('&type=cml'), ['output.cml'])
  const none = [`/calculation/files?id=${bare}`, `/calculation/files?id=${bare}&type=cml`]
  t.same(await statuses(anna, 'GET', none), all(404, none))
  for (const path of ['/report/types', '/report-type', '/report/types?status=active']) {
    const types = JSON.parse((await anna('GET', path)).text)
    t.match(types[0], { id: 1, name: 'Supporting information', status: 'active' })
    t.equal(types.length, 3)
  }
  t.match(JSON.parse((await anna('GET', '/report/types?status=inactive')).text), [{ id: 9, name: 'Retired' }])
  const bad = ['/report/types?status=x', '/report/types?status=', '/report-type?status=x']
  const badKinds = ['xyz', ''].map(type => `/calculation/files?id=${calculation}&type=${type}`)
  t.same(await statuses(anna, 'GET', [...bad, ...badKinds]), all(400, [...bad, ...badKinds]))
})

t.test('the geometry is that of the CML, digit by digit, under the name that is wanted', async t => {
  const { anna, calculation, bare } = await world(t)
  const plain = await anna('GET', `/calculation/xyz?id=${calculation}`)
  t.same(plain.text.trim().split(/\s+/), ['1', 'TS', 'O', '0.1', '-0.20', '1e-3'])
  t.match(plain.headers['content-disposition'], /^attachment; filename="TS\.xyz"/)
  const filename = encodeURIComponent('Ü "x"/..\n.xyz')
  t.equal(
    (await anna('GET', `/calculation/xyz?id=${calculation}&filename=${filename}`)).headers[
      'content-disposition'
    ],
    `attachment; filename="_ _x__.._.xyz"; filename*=UTF-8''%C3%9C%20%22x%22_.._.xyz`,
  )
  t.equal((await anna('GET', `/calculation/xyz?id=${bare}`)).status, 404)
})

t.test('contents: as they are, by ranges, under a tag', async t => {
  const { anna, calculation } = await world(t)
  const path = `/calculation/files/bitstream?id=${calculation}&fileId=a.out`
  const get = (headers = {}) => anna('GET', path, { headers })
  const { headers, text } = await get()
  t.equal(text, digits)
  t.same((await anna('GET', path.replace('a.out', 'a%20b,[1].txt'))).bytes, every)
  t.match(headers, { 'content-length': '10', 'accept-ranges': 'bytes', etag: /^"[0-9a-f]{64}"$/ })
  const head = await anna('HEAD', path, { headers: { range: 'bytes=0-1' } })
  t.same([head.status, head.bytes.length, head.headers['content-length']], [200, 0, '10'])
  t.equal(head.headers['etag'], headers['etag'])
  for (const [range, status, bytes, place] of [
    ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=8-99999999999999999999', 206, '89', 'bytes 8-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-30', 206, digits, 'bytes 0-9/10'],
    ...['bytes=10-', 'bytes=99-', 'bytes=-0'].map(range => [range, 416, undefined, 'bytes */10'] as const),
    ...['bytes=4-2', 'bytes=-', 'bytes=a-b', 'lines=1-2', 'bytes=0-1,3-4', 'bytes'].map(
      range => [range, 200, digits, undefined] as const,
    ),
  ] as const) {
    const answer = await get({ range })
    t.same([answer.status, answer.headers['content-range']], [status, place], range)
    if (bytes !== undefined) t.equal(answer.text, bytes, range)
  }
  t.equal((await get({ range: 'bytes=1-2', 'if-range': headers['etag'] })).text, '12')
  t.equal((await get({ range: 'bytes=1-2', 'if-range': '"old"' })).text, digits)
})

t.test(
  'a path resolves to the id of what lies there; the date of a change grows within a millisecond',
  async t => {
    const { service, anna, root } = await openServiceTestbed(t, { now: () => 1_700_000_000_000 })
    const dyes = service.seed.addProject({ name: 'Dyes', owner: 'anna' })
    const slash = service.seed.addProject({ name: 'a/b', owner: 'anna', parent: dyes })
    const twin = service.seed.addCalculation({ name: 'TS/1', project: slash, id: '9007199254740993' })
    for (const [path, type, found] of [
      ['/db/anna', 'project', root],
      ['/db/anna/', 'project', root],
      ['/db/anna/Dyes', 'project', dyes],
      ['/db/anna/Dyes/a/b', 'project', slash],
      ['/db/anna/Dyes/a/b/TS/1', 'calculation', twin],
      ['/db/anna/Dyes/a/b/TS/1', 'project', 404],
      ['/db/anna/Dyes', 'calculation', 404],
      ...['/db/anna@example.org', '/db/unknown', 'db/anna', ''].map(path => [path, 'project', 404] as const),
    ] as const) {
      const answer = await anna(
        'GET',
        `/navigation/path/resolve?path=${encodeURIComponent(path)}&type=${type}`,
      )
      t.equal(answer.status === 200 ? answer.text : answer.status, found, `${type} ${path}`)
    }
    const dates: string[] = []
    for (const name of ['a', 'b', 'c']) {
      await areAnswered(t, anna, 'PUT /project', {
        [`{"id":${dyes},"name":"${name}","description":"x"}`]: 200,
      })
      dates.push(JSON.parse((await anna('GET', `/project?id=${dyes}`)).text).modificationDate)
    }
    t.same(dates, [...new Set(dates)].sort())
  },
)
