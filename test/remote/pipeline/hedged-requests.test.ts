// A question that is sent twice: which sending is answered, and what happens to one that is lost.
import t from 'tap'
import { Failure } from '../../../src/failure.js'
import { openAskers } from '../../../src/remote/askers.js'
import type { Clock } from '../../../src/remote/clock.js'
import {
  type AnsweredSend,
  firstResponseHead,
  type HedgedSend,
} from '../../../src/remote/pipeline/hedged-requests.js'
import { instant } from '../../../src/remote/remote.js'

/** Time passes only by `pass`. */
function steppedClock(): Clock & { pass(milliseconds: number): Promise<void> } {
  let now = 0
  const due = new Set<{ readonly at: number; readonly action: () => void }>()
  return {
    now: () => instant(now),
    after(milliseconds, action) {
      const entry = { at: now + milliseconds, action }
      due.add(entry)
      return () => due.delete(entry)
    },
    async pass(milliseconds) {
      for (let left = milliseconds; left > 0; left -= 50) {
        now += 50
        for (const entry of [...due]) {
          if (entry.at > now) continue
          due.delete(entry)
          entry.action()
        }
        await new Promise(setImmediate)
      }
    },
  }
}

t.test('AVAIL-3 a lost request is sent until it is answered, as long as the one asker waits', async t => {
  const clock = steppedClock()
  const askers = openAskers()
  const headed = {} as unknown as AnsweredSend
  const sent: string[] = []
  /** Silent, refused at once (the service counts as away), silent … and answered at the third try. */
  const start = (): HedgedSend => {
    sent.push(sent.length === 0 ? 'silent' : sent.length < 3 ? 'refused' : 'answered')
    const how = sent.at(-1)
    const head =
      how === 'answered'
        ? Promise.resolve(headed)
        : how === 'refused'
          ? Promise.reject(new Failure('unreachable', 'away'))
          : new Promise<AnsweredSend>(() => {})
    return { head, sentAt: clock.now(), drop() {} }
  }
  const ask = { deadline: instant(60_000), priority: 'user', askers } as const
  const superseded = new Failure('busy', 'another one was answered')
  const answer = firstResponseHead(ask, { clock, start, unusual: () => 250, superseded })
  await clock.pass(1_500)
  askers.join()
  await clock.pass(4_000)
  t.same(sent, ['silent', 'refused', 'refused', 'answered'])
  t.equal(await Promise.race([answer, new Promise(wake => setTimeout(wake, 5_000))]), headed)
})
