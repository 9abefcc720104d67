// STATE-1: the lock of a record: one holder at a time, of whichever process, and nothing else is held up.
import t from 'tap'
import { openRecordLocks } from '../../../src/edit/journal/record-lock.js'
import { instant } from '../../../src/remote/remote.js'
import { clockOf } from '../../testbed/clocks.js'
import { failureOf, scratch } from '../edit-testbed.js'

const report = { kind: 'report', id: '42' } as const
const now = () => instant(Date.now())
const ask = (milliseconds: number) => ({
  deadline: instant(Date.now() + milliseconds),
  priority: 'user' as const,
})
const pause = (milliseconds: number) => new Promise<void>(wake => setTimeout(wake, milliseconds))

t.test('STATE-1 the file of a report and its order have one lock; other records have their own', async t => {
  const directory = await scratch(t)
  const [one, other] = [openRecordLocks(directory, clockOf(now)), openRecordLocks(directory, clockOf(now))]
  const seen: string[] = []
  const work = (name: string, held: () => boolean) => async () => {
    seen.push(`${name} begins`)
    for (let looks = 0; held() && looks < 1_000; looks += 1) await pause(10)
    seen.push(`${name} ends`)
  }
  const first = one(
    report,
    ask(20_000),
    work('report', () => !seen.includes('another ends')),
  )
  while (seen.length === 0) await pause(1)
  const free = () => false
  await Promise.all([
    first,
    other({ ...report, as: 'order' }, ask(20_000), work('order', free)),
    other({ kind: 'report', id: '43' }, ask(20_000), work('another', free)),
  ])
  t.same(seen, [
    'report begins',
    'another begins',
    'another ends',
    'report ends',
    'order begins',
    'order ends',
  ])
})

t.test('STATE-1 a wait that takes too long fails, and the next one gets the lock', async t => {
  const directory = await scratch(t)
  const [one, other] = [openRecordLocks(directory, clockOf(now)), openRecordLocks(directory, clockOf(now))]
  let [begun, released] = [false, false]
  const long = one(report, ask(20_000), async () => {
    begun = true
    for (let looks = 0; !released && looks < 1_000; looks += 1) await pause(10)
  })
  while (!begun) await pause(1)
  t.match(await failureOf(other(report, ask(100), async () => {})), { kind: 'busy' })
  released = true
  await long
  t.equal(await other(report, ask(2_000), async () => 'done'), 'done')
  t.match(
    await failureOf(one(report, ask(2_000), () => Promise.reject(new Error('fails')))).catch(String),
    /fails/,
  )
  t.equal(await other(report, ask(2_000), async () => 'free again'), 'free again')
})
