// Promises of §4.4 but for the transport of bytes: calculations, their file lists, their geometry, and how long its bytes are kept.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { all, openServiceTestbed, type ServiceTestbed, scratch, statuses } from './client.js'

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

t.test('a calculation tells its fields', async t => {
  const { anna, id, project } = await calculating(t)
  t.match(JSON.parse((await anna('GET', `/calculation?id=${id}`)).text), {
    id: Number(id),
    name: 'TS1 opt',
    type: 'ORC',
    description: '',
    parentId: Number(project),
    creationDate: String,
    modificationDate: String,
  })
})

t.test('a PUT changes the data only: the files stay', async t => {
  const { anna, id } = await calculating(t)
  const body = `{"id":${id},"name":"TS2","description":"better","type":"GAU","energy":-1.50}`
  t.equal((await anna('PUT', '/calculation', { body })).status, 200)
  const { text } = await anna('GET', `/calculation?id=${id}`)
  t.match(JSON.parse(text), { name: 'TS2', description: 'better', type: 'ORC' })
  t.match(text, /"energy":-1\.50,/)
  t.equal((await anna('GET', `/calculation/files/bitstream?id=${id}&fileId=b.in`)).text, 'input')
  t.match((await anna('GET', `/calculation/xyz?id=${id}`)).headers['content-disposition'], /"TS2\.xyz"/)
})

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

t.test('a PUT without id or name is 400, of a calculation that is not there 404', async t => {
  const { anna, id } = await calculating(t)
  const put = async (body: string) => (await anna('PUT', '/calculation', { body })).status
  t.equal(await put('{"name":"x"}'), 400)
  t.equal(await put(`{"id":${id}}`), 400)
  t.equal(await put(`{"id":${id},"name":""}`), 400)
  t.equal(await put('{"id":1.5,"name":"x"}'), 400)
  t.equal(await put('nonsense'), 400)
  t.equal(await put('{"id":4711,"name":"x"}'), 404)
})

t.test('a deleted calculation is gone with its files', async t => {
  const { anna, id } = await calculating(t)
  t.equal((await anna('DELETE', `/calculation?id=${id}`)).status, 200)
  const paths = [`/calculation?id=${id}`, `/calculation/files?id=${id}`, `/calculation/xyz?id=${id}`]
  t.same(await statuses(anna, 'GET', paths), all(404, paths))
  t.equal((await anna('DELETE', `/calculation?id=${id}`)).status, 404)
})

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

t.test('a file that is not there is 404, and without a name 400', async t => {
  const { anna, id } = await calculating(t)
  t.equal((await anna('GET', `/calculation/files/bitstream?id=${id}&fileId=B.IN`)).status, 404)
  t.equal((await anna('GET', `/calculation/files/bitstream?id=${id}&fileId=`)).status, 404)
  t.equal((await anna('GET', `/calculation/files/bitstream?id=${id}&fileId=..%2Foutput.cml`)).status, 404)
  t.equal((await anna('GET', `/calculation/files/bitstream?id=${id}`)).status, 400)
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

t.test('a calculation cannot be put into a root', async t => {
  const { service, root } = await openServiceTestbed(t)
  t.throws(() => service.seed.addCalculation({ name: 'x', project: root }), { message: /root/ })
})

/** How many contents lie on the disk. */
const contentsIn = (data: string): number =>
  readdirSync(join(data, 'content'), { recursive: true, withFileTypes: true }).filter(it => it.isFile())
    .length

t.test('bytes of a generated file are kept as long as a calculation has them, and no longer', async t => {
  const data = scratch(t)
  const { service, anna } = await openServiceTestbed(t, { data })
  const { seed } = service
  const first = seed.addProject({ name: 'First', owner: 'anna' })
  const second = seed.addProject({ name: 'Second', owner: 'anna' })
  const add = (name: string, project: string) =>
    seed.addCalculation({ name, project, files: { 'output.cml': cml } })
  const [deleted, inFirst, inSecond] = [add('TS1', first), add('TS1', first), add('TS1', second)]
  const textOf = async (id: string) => (await anna('GET', `/calculation/xyz?id=${id}`)).text
  const made = await textOf(deleted)
  t.match(made, /^1\nTS1\nO /)
  for (const id of [inFirst, inSecond]) t.equal(await textOf(id), made)
  const [lone, loneToo] = [add('lone', first), add('lone, too', first)]
  for (const id of [lone, loneToo]) t.not(await textOf(id), made)
  t.equal(contentsIn(data), 4, 'the CML file and three geometries, each once')

  for (const id of [deleted, lone]) t.equal((await anna('DELETE', `/calculation?id=${id}`)).status, 200)
  t.equal(contentsIn(data), 3)
  for (const id of [inFirst, inSecond]) t.equal(await textOf(id), made, 'after a calculation was deleted')
  t.equal((await anna('DELETE', `/project?id=${first}`)).status, 200)
  t.equal(await textOf(inSecond), made, 'after a project was deleted')
  t.equal(contentsIn(data), 2)
  const copy = seed.addCalculation({ name: 'copy', project: second, files: { 'TS1.xyz': made } })
  t.equal((await anna('DELETE', `/calculation?id=${inSecond}`)).status, 200)
  const own = await anna('GET', `/calculation/files/bitstream?id=${copy}&fileId=TS1.xyz`)
  t.equal(own.text, made, 'a file of its own with these bytes stays')
  t.equal(contentsIn(data), 1)
  t.equal((await anna('DELETE', `/project?id=${second}`)).status, 200)
  t.equal(contentsIn(data), 0, 'nothing is left on the disk')
})
