// The requests that a slow call names: its own and those that it shares, with their milliseconds.
import t from 'tap'
import { KernelCalls, RequestLog, slowCallOf } from '../../src/activity/kernel-calls.js'

const pause = (milliseconds: number): Promise<void> => new Promise(wake => setTimeout(wake, milliseconds))

t.test('LOG-5 a slow call names its requests, those that it has joined too', async t => {
  const calls = new KernelCalls()
  const call = calls.begin('getattr', () => '/projects/A')
  t.equal(calls.current, call.requests, 'its verb finds where to note')
  calls.returned(call, true)
  t.equal(calls.current, undefined)
  const shared = new RequestLog()
  const answered = shared.begin('GET /project?id=7')
  call.requests.join(shared)
  // Two requests can wait for each other's log-in.
  shared.join(call.requests)
  await pause(120)
  answered()
  call.requests.begin('GET /calculation?id=8')
  t.match(call.requests.since(call.began).at(-1), { request: 'GET /calculation?id=8', ended: undefined })
  t.equal(slowCallOf(call, 999, 0), undefined, 'a quick call has no line')
  const slow = slowCallOf(call, 1_100, 0)
  const requests = slow?.about['requests'] as { readonly request: string; readonly ms: number }[]
  t.same(
    requests.map(({ request }) => request),
    ['GET /calculation?id=8', 'GET /project?id=7'],
    'the slowest first',
  )
  t.ok((requests[1]?.ms ?? 0) >= 100)
  t.equal(slow?.sentence, 'a slow call: getattr took 1.1 s, for 2 requests')
})

t.test('LOG-5 a request that had ended before the call is none of its own', async t => {
  const shared = new RequestLog()
  shared.begin('GET /project?id=7')()
  await pause(5)
  const call = new KernelCalls().begin('getattr', () => '/projects/A')
  call.requests.join(shared)
  t.same(slowCallOf(call, 2_000, 0)?.about['requests'], [])
})
