// What a slow call waited for: its own requests and those that it shares, by cause, in milliseconds.
import fc from 'fast-check'
import t from 'tap'
import { openKernelCalls } from '../../src/activity/kernel-calls.js'
import { slowCallOf } from '../../src/activity/slow-calls.js'
import { type WaitCause, Waits, waitWords } from '../../src/waits.js'

const pause = (milliseconds: number): Promise<void> => new Promise(wake => setTimeout(wake, milliseconds))

t.test('LOG-5 a slow call names each cause, those of a request that it has joined too', async t => {
  const calls = openKernelCalls()
  const call = calls.begin('getattr', '/projects/A')
  t.equal(calls.current, call.waits, 'its verb finds where to note')
  calls.returned(call, true)
  t.equal(calls.current, undefined)
  const shared = new Waits()
  const answered = shared.begin('answer', 'GET /project?id=7')
  call.waits.join(shared)
  await pause(120)
  answered()
  const admitted = call.waits.begin('slot')
  await pause(60)
  t.equal(call.waits.present, 'slot')
  admitted()
  const slow = slowCallOf({ ...call, began: call.began - 1_000 }, performance.now() - call.began + 1_000, 0)
  const waited = slow?.about['waited'] as Record<string, number>
  t.ok((waited[waitWords.answer] ?? 0) >= 100)
  t.ok((waited[waitWords.slot] ?? 0) >= 50)
  t.ok((waited['calcfs itself'] ?? 0) >= 900, 'what nothing explains is said, too')
  t.same(slow?.about['requests'], ['GET /project?id=7'])
  t.match(slow?.sentence, /^a slow call: getattr took \d+\.\d s \(1\.\d s calcfs itself, /)
})

t.test('LOG-5 a wait too short for the sentence has its milliseconds all the same', async t => {
  const call = openKernelCalls().begin('getattr', '/projects/A')
  const short = call.waits.begin('bandwidth')
  await pause(5)
  short()
  const slow = slowCallOf({ ...call, began: call.began - 1_500 }, performance.now() - call.began + 1_500, 0)
  t.notMatch(slow?.sentence, /\b0\.0 s/)
  t.ok(Object.hasOwn(slow?.about['waited'] ?? {}, waitWords.bandwidth))
})

t.test('a quick call has no line', async t => {
  const call = openKernelCalls().begin('read', '/x')
  t.equal(slowCallOf(call, 999, 0), undefined)
})

t.test('waits of any order and overlap cover no more than the call took, and leave nothing out', async () => {
  const causes = Object.keys(waitWords) as WaitCause[]
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...causes), fc.boolean(), fc.boolean()), { maxLength: 40 }),
      async steps => {
        const began = performance.now()
        const own = new Waits()
        const others = [new Waits(), new Waits()]
        for (const other of others) {
          own.join(other)
          // Two requests can wait for each other's log-in.
          other.join(own)
        }
        const open: (() => void)[] = []
        for (const [cause, isShared, ends] of steps) {
          open.push((isShared ? (others[steps.length % 2] ?? own) : own).begin(cause))
          if (ends) open.shift()?.()
        }
        const ended = performance.now()
        const rest = own.unexplained(began, ended)
        const longest = own.between(began, ended)[0]?.milliseconds ?? 0
        return rest >= -1e-6 && rest + longest <= ended - began + 1e-6
      },
    ),
  )
})
