// A report's list and its fields: which requests a save becomes, and what is refused before it is sent.
import t from 'tap'
import { editableReport } from '../../../src/edit/kinds/report.js'
import { prettyPrint } from '../../../src/record/json/print.js'
import { failureOf, openRoom, scratch } from '../edit-testbed.js'
import { fakeService, reportId } from '../fake-service.js'

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

t.test('titles that the service drops for good are named, and the order is saved all the same', async t => {
  const { service, record, room } = await setUp(t, rows)
  service.losesTitles = true
  const saved = await room.write(record, '{"id":42,"title":"Water","calculations":[7,12]}')
  t.match(saved, { outcome: 'stored', lost: /"TS" \(calculation 7\).*"Reactant"/ })
})

t.test('a title that was edited and then dropped is a failure', async t => {
  const { service, record, room } = await setUp(t, rows)
  service.losesTitles = true
  const written =
    '{"id":42,"title":"Water","calculations":[{"calcId":7,"title":"New"},{"calcId":12,"title":"Reactant"}]}'
  t.match(await failureOf(room.write(record, written)), { kind: 'broken' })
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

t.test('formulas written for an order that was changed meanwhile are a conflict', async t => {
  const { service, room, record } = await setUp(t, profile)
  service.record = fakeService(profile.replace(/"calcId":12/, '"calcId":31').replace('c1+c2', 'c1+c2')).record
  const failure = await failureOf(room.write(record, profile.replace('c1+c2', 'c1-c2')))
  t.match(failure, { kind: 'conflict', message: /c1 was calculation 12/ })
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
