// Promises of §4.4 but for the transport of bytes: calculations, their file lists and their geometry.
import t, { type Test } from 'tap'
import { all, openServiceTestbed, type ServiceTestbed, statuses } from './client.js'

t.setTimeout(60_000)

interface Calculating extends ServiceTestbed {
  readonly project: string
  readonly id: string
}
const cml =
  '<cml xmlns="http://www.xml-cml.org/schema"><molecule><atomArray><atom id="a1" elementType="O" x3="0.1" y3="-0.20" z3="1e-3"/></atomArray></molecule></cml>'

async function calculating(t: Test, shortcomings = {}): Promise<Calculating> {
  const place = await openServiceTestbed(t, { shortcomings })
  const project = place.service.seed.addProject({ name: 'Dyes', owner: 'anna' })
  const id = place.service.seed.addCalculation({
    name: 'TS1 opt',
    project,
    files: { 'b.in': 'input', 'a b,[1].txt': 'odd', 'output.cml': cml },
  })
  return { ...place, project, id }
}

t.test(
  'two calculations of one name in one project are refused, one next to a project of that name is not',
  async t => {
    const { anna, id, project, service } = await calculating(t)
    const other = service.seed.addCalculation({ name: 'other', project })
    service.seed.addProject({ name: 'free', owner: 'anna', parent: project })
    t.equal((await anna('PUT', '/calculation', { body: `{"id":${other},"name":"TS1 opt"}` })).status, 400)
    t.equal((await anna('PUT', '/calculation', { body: `{"id":${other},"name":"free"}` })).status, 200)
    t.equal((await anna('PUT', '/calculation', { body: `{"id":${id},"name":"TS1 opt","x":1}` })).status, 200)
  },
)

t.test('the files are listed by name, all of them or the CML ones', async t => {
  const { anna, id } = await calculating(t)
  const names = async (query: string) =>
    JSON.parse((await anna('GET', `/calculation/files?id=${id}${query}`)).text)
  t.same(await names(''), ['b.in', 'a b,[1].txt', 'output.cml'])
  t.same(await names('&type=files'), ['b.in', 'a b,[1].txt', 'output.cml'])
  t.same(await names('&type=cml'), ['output.cml'])
  t.equal((await anna('GET', `/calculation/files?id=${id}&type=xyz`)).status, 400)
  t.equal((await anna('GET', `/calculation/files?id=${id}&type=`)).status, 400)
})

t.test('a calculation without files, or without CML ones, has no list: 404', async t => {
  const { anna, project, service } = await calculating(t)
  const bare = service.seed.addCalculation({ name: 'bare', project })
  const log = service.seed.addCalculation({ name: 'log', project, files: { 'run.log': 'x' } })
  const paths = [
    `/calculation/files?id=${bare}`,
    `/calculation/files?id=${log}&type=cml`,
    `/calculation/xyz?id=${log}`,
  ]
  t.same(await statuses(anna, 'GET', paths), all(404, paths))
})

t.test('the geometry is the one of the CML, digit by digit, under the name that is wanted', async t => {
  const { anna, id } = await calculating(t)
  const plain = await anna('GET', `/calculation/xyz?id=${id}`)
  t.same(plain.text.trim().split(/\s+/), ['1', 'TS1', 'opt', 'O', '0.1', '-0.20', '1e-3'])
  t.match(plain.headers['content-disposition'], /^attachment; filename="TS1 opt\.xyz"/)
  const named = await anna(
    'GET',
    `/calculation/xyz?id=${id}&filename=${encodeURIComponent('Ü "x"/..\n.xyz')}`,
  )
  t.equal(
    named.headers['content-disposition'],
    `attachment; filename="_ _x__.._.xyz"; filename*=UTF-8''%C3%9C%20%22x%22_.._.xyz`,
  )
  t.equal(named.text, plain.text)
})

t.test('an instance that writes lists without quotes does so for file names only', async t => {
  const { anna, id } = await calculating(t, { unquotedLists: true })
  t.equal((await anna('GET', `/calculation/files?id=${id}`)).text, '[b.in, a b,[1].txt, output.cml]')
})
