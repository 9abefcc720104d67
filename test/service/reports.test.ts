// Promises of §4.3: reports, their types, and the ordered list of their calculations.
import t, { type Test } from 'tap'
import { all, openServiceTestbed, type ServiceTestbed, signedIn, statuses } from './client.js'

t.setTimeout(60_000)

interface Reporting extends ServiceTestbed {
  readonly calculations: readonly [string, string, string]
  readonly report: string
  list(id?: string): Promise<unknown>
}

/** Three calculations, and a report with the first two of them in its list. */
async function reporting(t: Test, shortcomings = {}): Promise<Reporting> {
  const place = await openServiceTestbed(t, { shortcomings })
  const { seed } = place.service
  const project = seed.addProject({ name: 'Dyes', owner: 'anna' })
  const add = (name: string) => seed.addCalculation({ name, project })
  const calculations = [add('R'), add('TS'), add('P')] as const
  const report = seed.addReport({
    name: 'profile',
    owner: 'anna',
    type: '2',
    configuration: '<configuration/>',
    calculations: [{ id: calculations[0], title: 'reactant' }, { id: calculations[1] }],
  })
  const list = async (id = report) => {
    const { calculations } = JSON.parse((await place.anna('GET', `/report?id=${id}`)).text)
    return calculations.map((row: { calcId: number; calcOrder: number; title: string | null }) => [
      row.calcId,
      row.calcOrder,
      row.title,
    ])
  }
  return { ...place, calculations, report, list }
}

t.test('the active report types are listed on both paths, with id, name and status', async t => {
  const { anna, service } = await openServiceTestbed(t)
  service.seed.addReportType({ id: '9', name: 'Retired', status: 'inactive' })
  for (const path of ['/report/types', '/report-type', '/report/types?status=active']) {
    const types = JSON.parse((await anna('GET', path)).text)
    t.match(types, [
      { id: 1, name: 'Supporting information', status: 'active' },
      { id: 2, name: 'Reaction energy profile', status: 'active' },
      { id: 3, name: 'Reaction Graph', status: 'active' },
    ])
    t.equal(types.length, 3)
  }
  t.match(JSON.parse((await anna('GET', '/report/types?status=inactive')).text), [{ id: 9, name: 'Retired' }])
  const bad = ['/report/types?status=x', '/report/types?status=', '/report-type?status=x']
  t.same(await statuses(anna, 'GET', bad), all(400, bad))
})

t.test('a report without name, with a type that is not listed or an unknown calculation is 400', async t => {
  const { anna, service } = await reporting(t)
  service.seed.addReportType({ id: '9', name: 'Retired', status: 'inactive' })
  const bodies = [
    '{"reportType":1}',
    '{"name":"n"}',
    '{"name":"n","reportType":9}',
    '{"name":"n","reportType":4711}',
    '{"name":"n","reportType":"Reaction Graph"}',
    '{"name":"n","reportType":1,"reportTypeId":2}',
    '{"name":"n","reportType":1,"calculationIds":"4711"}',
    '{"name":"n","reportType":1,"calculationIds":"1,,2"}',
    '[]',
    '',
  ]
  for (const body of bodies) t.equal((await anna('POST', '/report', { body })).status, 400, body)
})

t.test('a list that cannot be set changes nothing', async t => {
  const { anna, report, calculations, list, service } = await reporting(t)
  const [a] = calculations
  service.seed.addUser({ name: 'bo', password: 'bo' })
  const foreign = service.seed.addCalculation({
    name: 'x',
    project: service.seed.addProject({ name: 'p', owner: 'bo' }),
  })
  const before = await list()
  const put = async (body: string) => (await anna('PUT', '/report/calculations', { body })).status
  t.equal(await put(`{"id":${report},"listCalculations":"${a},4711"}`), 400)
  t.equal(await put(`{"id":${report},"listCalculations":"${a},${foreign}"}`), 400)
  t.equal(await put(`{"id":${report},"listCalculations":"${a},x"}`), 400)
  t.equal(await put(`{"id":${report},"listCalculations":"${a},"}`), 400)
  t.equal(await put(`{"id":${report},"listCalculations":[${a}]}`), 400)
  t.equal(await put(`{"id":${report}}`), 400)
  t.equal(await put(`{"listCalculations":"${a}"}`), 400)
  t.equal(await put(`{"id":4711,"listCalculations":"${a}"}`), 404)
  t.same(await list(), before)
})

t.test(
  'a deleted calculation leaves its place empty, so that the other formulas keep their meaning',
  async t => {
    const { anna, calculations, list } = await reporting(t)
    const [a, b] = calculations
    await anna('DELETE', `/calculation?id=${a}`)
    t.same(await list(), [[Number(b), 2, null]])
  },
)

t.test('a deleted report is gone; a missing one is 400 on GET and 404 on DELETE', async t => {
  const { anna, report } = await reporting(t)
  t.equal((await anna('DELETE', `/report?id=${report}`)).status, 200)
  t.equal((await anna('GET', `/report?id=${report}`)).status, 400)
  t.equal((await anna('DELETE', `/report?id=${report}`)).status, 404)
})

t.test("another's report is 403 whatever is done with it", async t => {
  const { service, report, calculations } = await reporting(t)
  service.seed.addUser({ name: 'bo', password: 'bo' })
  const bo = await signedIn(t, service.url, 'bo')
  const list = `{"id":${report},"listCalculations":"${calculations[0]}"}`
  t.equal((await bo('GET', `/report?id=${report}`)).status, 403)
  t.equal((await bo('PUT', '/report', { body: `{"id":${report},"name":"x","reportType":1}` })).status, 403)
  t.equal((await bo('PUT', '/report/calculations', { body: list })).status, 403)
  t.equal((await bo('DELETE', `/report?id=${report}`)).status, 403)
})
