// A report's list and its fields: which requests a save becomes, and what is refused before it is sent.
import t from 'tap'
import { editableReport } from '../../../src/edit/kinds/report.js'
import { prettyPrint } from '../../../src/record/json/print.js'
import { failureOf, openRoom, rewrite, scratch } from '../edit-testbed.js'
import { fakeService, reportId, sameRecord } from '../fake-service.js'

const ids = '{"id":42,"title":"Water","reportType":"1","calculations":[12,7]}'
const rows =
  '{"id":42,"title":"Water","calculations":[{"calcId":12,"calcOrder":1,"title":"Reactant"},{"calcId":7,"calcOrder":2,"title":"TS"}]}'
const profile = rows.replace(
  '"title":"Water"',
  '"title":"Water","configuration":"<configuration><step label=\\"c9\\">c1+c2</step></configuration>"',
)
const puts = (requests: readonly string[]) => requests.filter(request => request !== 'GET')

async function setUp(t: Parameters<typeof scratch>[0], text: string) {
  const service = fakeService(text)
  const record = editableReport(service.ports, reportId)
  const room = await openRoom(await scratch(t))
  t.teardown(room.end)
  await room.texts.remember(record.key, prettyPrint(service.record), 'read')
  return { service, record, room, write: (written: string) => room.write(record, written) }
}

t.test('a new order is one request for the list', async t => {
  const { service, write } = await setUp(t, ids)
  await write(ids.replace('[12,7]', '[7,12]'))
  t.same(puts(service.requests), ['LIST 7,12'])
})

t.test('other fields are one request for the record', async t => {
  const { service, write } = await setUp(t, ids)
  await write(ids.replace('Water', 'Ice'))
  t.same(puts(service.requests), [`PUT ${ids.replace('Water', 'Ice')}`])
})

t.test('both are two requests, and the second does not put the old list back', async t => {
  const { service, write } = await setUp(t, rows)
  const swapped =
    '{"id":42,"title":"Ice","calculations":[{"calcId":7,"title":"TS"},{"calcId":12,"title":"Reactant"}]}'
  await write(swapped)
  t.equal(puts(service.requests).length, 2)
  t.match(service.requests[1], 'LIST 7,12')
  t.ok(
    sameRecord(
      service,
      '{"id":42,"title":"Ice","calculations":[{"calcId":7,"calcOrder":1,"title":"TS"},{"calcId":12,"calcOrder":2,"title":"Reactant"}]}',
    ),
  )
})

t.test('moved rows keep their titles without a second request, if the service keeps them', async t => {
  const { service, write } = await setUp(t, rows)
  await write('{"id":42,"title":"Water","calculations":[7,12]}')
  t.same(puts(service.requests), ['LIST 7,12'])
})

t.test('a title in a row is an edit of the record', async t => {
  const { service, write } = await setUp(t, rows)
  await write(rows.replace('Reactant', 'Educt'))
  t.same(puts(service.requests), [`PUT ${rows.replace('Reactant', 'Educt')}`])
})

t.test('rows that lost their titles get them back', async t => {
  const { service, record, room } = await setUp(t, rows)
  service.weather = 'loses-titles'
  const updateReport = service.ports.remote.updateReport
  service.ports.remote.updateReport = async (whole, context) => {
    service.weather = 'fine'
    return updateReport(whole, context)
  }
  const saved = await room.write(record, '{"id":42,"title":"Water","calculations":[7,12]}')
  t.match(saved, { outcome: 'stored', lost: undefined })
  t.equal(puts(service.requests).length, 2)
  t.match(prettyPrint(service.record), /Reactant/)
})

t.test('titles that the service drops for good are named, and the order is saved all the same', async t => {
  const { service, record, room } = await setUp(t, rows)
  service.weather = 'loses-titles'
  const saved = await room.write(record, '{"id":42,"title":"Water","calculations":[7,12]}')
  t.match(saved, { outcome: 'stored', lost: /"TS" \(calculation 7\).*"Reactant"/ })
})

t.test('a title that was edited and then dropped is a failure', async t => {
  const { service, record, room } = await setUp(t, rows)
  service.weather = 'loses-titles'
  const written =
    '{"id":42,"title":"Water","calculations":[{"calcId":7,"title":"New"},{"calcId":12,"title":"Reactant"}]}'
  t.match(await failureOf(room.write(record, written)), { kind: 'broken' })
})

t.test('an entry may be a path, and a path of what is already there is no edit', async t => {
  const { service, write } = await setUp(t, ids)
  t.match(await write(ids.replace('[12,7]', '["/db/demo/c12",7]')), { outcome: 'unchanged' })
  t.same(service.requests, [])
  await write(ids.replace('[12,7]', '[12,7,"/db/demo/c31"]'))
  t.same(puts(service.requests), ['LIST 12,7,31'])
})

t.test('a program may leave its paths in the text and save again', async t => {
  const { service, room, record } = await setUp(t, ids)
  const draft = await room.begin(record, ids.replace('7]', '7,"/db/demo/c31"]'))
  await room.save(record, draft)
  await rewrite(draft, ids.replace('7]', '7,"/db/demo/c31"]').replace('Water', 'Ice'))
  await room.save(record, draft)
  t.same(puts(service.requests), ['LIST 12,7,31', `PUT ${prettyPrint(service.record).replace(/\s/g, '')}`])
})

t.test('a 64-bit id goes out as it was written', async t => {
  const { service, write } = await setUp(t, ids)
  await write(ids.replace('[12,7]', '[9007199254740993]'))
  t.same(puts(service.requests), ['LIST 9007199254740993'])
})

t.test('an empty list is what it says', async t => {
  const { service, write } = await setUp(t, ids)
  await write(ids.replace('[12,7]', '[]'))
  t.same(puts(service.requests), ['LIST '])
})

t.test('what the service could not take is never sent', async t => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['another id', ids.replace('42', '43'), /id of a report cannot be changed/],
    ['no id', ids.replace('"id":42,', ''), /the id is missing; keep 42/],
    ['an unknown type', ids.replace('"1"', '"9"'), /no report type 9; there are 1 \(type 1\), 2/],
    ['an unknown calculation', ids.replace('7]', '8]'), /no calculation 8/],
    ['an unknown path', ids.replace('7]', '"/db/unknown"]'), /no calculation at \/db\/unknown/],
    ['nonsense in the list', ids.replace('7]', 'null]'), /null in the list/],
    ['no list', ids.replace(',"calculations":[12,7]', ''), /write \[\] to clear it/],
  ]
  for (const [what, written, sentence] of cases) {
    const { service, write } = await setUp(t, ids)
    t.match(await failureOf(write(written)), { kind: 'refused', message: sentence }, what)
    t.same(puts(service.requests), [], what)
  }
})

t.test('only new entries of a list are looked up', async t => {
  const { service, write } = await setUp(t, ids.replace('[12,7]', '[55,12,7]'))
  await write(ids.replace('[12,7]', '[7,12,55]'))
  t.same(puts(service.requests), ['LIST 7,12,55'])
})

t.test('a list that the service never showed is not replaced by the way', async t => {
  const { service, write } = await setUp(t, '{"id":42,"title":"Water"}')
  const failure = await failureOf(write('{"id":42,"title":"Water","calculations":[12]}'))
  t.match(failure, { kind: 'refused', message: /unseen/ })
  t.same(puts(service.requests), [])
})

t.test('a new order under formulas is refused with the formulas', async t => {
  const { service, write } = await setUp(t, profile)
  const swapped = profile
    .replace('"calcId":12,"calcOrder":1', '"calcId":12,"calcOrder":2')
    .replace('"calcId":7,"calcOrder":2', '"calcId":7,"calcOrder":1')
  t.match(await failureOf(write(swapped)), {
    kind: 'refused',
    message: /c1\+c2.*formulas in the same save/,
  })
  t.match(await failureOf(write(profile.replace(/,\{"calcId":7[^}]*\}/, ''))), {
    message: /c2 was calculation 7/,
  })
  t.same(puts(service.requests), [])
  await write(swapped.replace('c1+c2', 'c2+c1'))
  t.equal(puts(service.requests).length, 2, 'changed together they are saved')
})

t.test('a calculation added behind the formulas changes none of them', async t => {
  const { service, write } = await setUp(t, profile)
  await write(profile.replace('}]}', '},{"calcId":31}]}'))
  t.match(puts(service.requests), ['LIST 12,7,31'])
})

t.test('formulas written for an order that was changed meanwhile are a conflict', async t => {
  const { service, room, record } = await setUp(t, profile)
  service.record = fakeService(profile.replace(/"calcId":12/, '"calcId":31').replace('c1+c2', 'c1+c2')).record
  const draft = await room.begin(record, profile.replace('c1+c2', 'c1-c2'))
  t.match(await failureOf(room.save(record, draft)), { kind: 'conflict', message: /c1 was calculation 12/ })
  t.same(puts(service.requests), [])
})

t.test('a graph keeps the calculations that it computes with', async t => {
  const graph = ids.replace(
    '"reportType"',
    '"configuration":"<graph><node cid_formula=\\"12+7\\"/></graph>","reportType"',
  )
  const { service, write } = await setUp(t, graph)
  t.match(await failureOf(write(graph.replace('[12,7]', '[12]'))), {
    kind: 'refused',
    message: /calculation 7/,
  })
  await write(graph.replace('[12,7]', '[7,12]'))
  t.same(puts(service.requests), ['LIST 7,12'], 'their order means nothing to a graph')
})

t.test('a formula counts by place number, also where a place is empty', async t => {
  const gap = profile.replace('"calcOrder":2', '"calcOrder":3').replace('c1+c2', 'c3')
  const { service, write } = await setUp(t, gap)
  const [first, second] = gap.match(/\{"calcId"[^}]*\}/g) ?? []
  const failure = await failureOf(write(gap.replace(`${first},${second}`, `${second},${first}`)))
  t.match(failure.message, /c3 was calculation 7/)
  t.match(await failureOf(write(gap.replace('}]}', '},{"calcId":31}]}'))), {
    message: /c3 was calculation 7 and would be 31/,
  })
  t.same(puts(service.requests), [])
})
