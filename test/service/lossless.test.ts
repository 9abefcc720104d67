// Promises of records: no digit, no field and no order is lost on the way in and out.
import t from 'tap'
import { openServiceTestbed } from './client.js'

t.setTimeout(120_000)

t.test('ids beyond 2^53 are kept apart and come back whole', async t => {
  const { anna, service } = await openServiceTestbed(t)
  const { seed } = service
  const project = seed.addProject({ id: '9007199254740993', name: 'big', owner: 'anna' })
  seed.addProject({ id: '9007199254740992', name: 'neighbour', owner: 'anna' })
  const largest = seed.addCalculation({
    id: '9223372036854775807',
    name: 'largest',
    project,
    files: { a: 'x' },
  })
  const next = seed.addCalculation({ id: '9223372036854775806', name: 'next', project })
  const report = seed.addReport({ id: '9007199254740995', name: 'r', owner: 'anna' })
  seed.addUser({ name: 'bo', password: 'bo' })
  const share = seed.addShare({ id: '9007199254740997', project, user: 'bo', permission: 'READ' })
  const text = async (path: string) => (await anna('GET', path)).text

  t.match(await text('/project?id=9007199254740993'), /^\{"id":9007199254740993,"name":"big"/)
  t.match(
    await text(`/calculation?id=${largest}`),
    /"id":9223372036854775807,"name":"largest".*"parentId":9007199254740993/,
  )
  t.match(
    await text(`/project/descendant?id=${project}`),
    /"id":9223372036854775806,.*"id":9223372036854775807,/,
  )
  t.equal(await text('/navigation/path/resolve?path=/db/anna/big/next&type=calculation'), next)
  t.match(await text(`/project/share?id=${project}`), new RegExp(`"shareId":${share},"projectId":${project}`))
  const list = `{"id":${report},"listCalculations":"${largest},${next}"}`
  t.equal((await anna('PUT', '/report/calculations', { body: list })).status, 200)
  t.match(
    await text(`/report?id=${report}`),
    /"calcId":9223372036854775807,"calcOrder":1.*"calcId":9223372036854775806/,
  )
  t.equal((await anna('PUT', '/calculation', { body: `{"id":"${next}","name":"renamed"}` })).status, 200)
  t.match(await text(`/calculation?id=${largest}`), /"largest"/)
  t.match(await text(`/calculation?id=${next}`), /"renamed"/)
})

t.test('unknown fields stay as they were written, in their order', async t => {
  const { anna, service } = await openServiceTestbed(t)
  const project = service.seed.addProject({ name: 'p', owner: 'anna' })
  const calculation = service.seed.addCalculation({ name: 'c', project })
  const odd =
    '"z":0.10,"a":1e400,"big":123456789012345678901234567890,"deep":{"b" : [1.0, "\\u00e4\\/", {}], "a":null},"":-0'
  const puts: [string, string][] = [
    ['/project', `{"id":${project},"name":"p","description":"d",${odd}}`],
    ['/calculation', `{"id":${calculation},"name":"c",${odd}}`],
  ]
  for (const [path, body] of puts) {
    t.equal((await anna('PUT', path, { body })).status, 200)
    t.ok(
      (await anna('GET', `${path}?id=${JSON.parse(body.replace('1e400', '1')).id}`)).text.includes(odd),
      path,
    )
  }
  const { text: report } = await anna('POST', '/report', { body: `{"name":"r","reportType":"1",${odd}}` })
  t.ok((await anna('GET', `/report?id=${report}`)).text.includes(odd))
  service.seed.addUser({ name: 'bo', password: 'bo' })
  const share = `{"projectId":${project},"user":"bo","permission":"READ",${odd}}`
  t.equal((await anna('POST', '/project/share', { body: share })).status, 200)
  t.ok((await anna('GET', `/project/share?id=${project}`)).text.includes(odd))
})

t.test('a record that was read and is sent back is stored as it was', async t => {
  const { anna, service } = await openServiceTestbed(t, { now: () => 1_700_000_000_000 })
  const project = service.seed.addProject({ name: 'p', owner: 'anna', fields: '{"x":1.50,"y":[ ]}' })
  const read = async () => (await anna('GET', `/project?id=${project}`)).text
  const before = await read()
  t.equal((await anna('PUT', '/project', { body: before })).status, 200)
  const undated = (text: string) => text.replace(/"modificationDate":"[^"]*"/, '')
  t.equal(undated(await read()), undated(before))
})
