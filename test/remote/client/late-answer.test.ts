// A change that the service answers too late is not overtaken by the next one of the same thing.
import t from 'tap'
import type { UnansweredChanges } from '../../../src/remote/client/late-answer.js'
import { type Instant, instant, type RequestContext } from '../../../src/remote/remote.js'
import { until } from '../../testbed/within.js'
import { failsAs } from '../fails.js'
import { ask, type Heard, rawService, whole } from '../raw.js'

const put = (subject: string, body: string) => ({ method: 'PUT', path: '/thing', body, subject }) as const

/** Answers bodies with `slow` in them after a second and a half. */
const late = ({ body }: Heard) =>
  body.includes('slow')
    ? (socket: { write(answer: string): unknown }) => void setTimeout(() => socket.write(whole('{}')), 1500)
    : whole('{}')

t.test('SAVE-17 what an earlier process has left unanswered is waited for, too', async t => {
  const began = Date.now()
  const kept = new Map<string, Instant>([
    ['report 1', instant(began + 600)],
    ['report 2', instant(Date.now() + 60_000)],
  ])
  const unanswered: UnansweredChanges = {
    until: subject => kept.get(subject),
    note: (subject, until) => void kept.set(subject, until),
    answered: subject => void kept.delete(subject),
    ended: () => undefined,
  }
  const service = await rawService(t, late, { unanswered })
  await failsAs(t, 'timeout', service.asked.text(put('report 2', '"never"'), ask()))
  await service.asked.text(put('report 1', '"later"'), ask())
  t.ok(Date.now() - began >= 550)
  await failsAs(t, 'outcome-unknown', service.asked.text(put('report 3', '"slow"'), ask(500)))
  t.ok(kept.has('report 3'))
  await service.asked.text(put('report 3', '"next"'), ask())
  t.notOk(kept.has('report 3'), 'it was answered')
  t.same(
    service.heard.map(({ body }) => body),
    ['"later"', '"slow"', '"next"'],
  )
})

t.test('SAVE-17 what was looked at before a late answer came is looked at again', async t => {
  const ends = new Map<string, Instant>()
  const unanswered: UnansweredChanges = {
    until: () => undefined,
    note: () => {},
    answered: subject => void ends.set(subject, instant(Date.now())),
    ended: subject => ends.get(subject),
  }
  const service = await rawService(t, late, { unanswered })
  let looks = 0
  const resting = (at: Instant): RequestContext => ({
    ...ask(),
    look: {
      at,
      again: async () => {
        looks += 1
      },
    },
  })
  await failsAs(t, 'outcome-unknown', service.asked.text(put('new share', '"slow"'), ask(500)))
  await until(5000, 'the answer comes', () => ends.has('new share'))
  const end = ends.get('new share') ?? instant(0)
  await service.asked.text(put('new share', '"after"'), resting(instant(end + 1)))
  t.equal(looks, 0, 'that look has seen what was made')
  await service.asked.text(put('new share', '"before"'), resting(end))
  t.equal(looks, 1)
  await service.asked.text(put('report 1', '"another"'), resting(end))
  t.equal(looks, 1, 'another thing is not looked at')
})
