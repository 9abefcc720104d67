// What is said again and again is said once a minute, and the last line says what holds.
import t from 'tap'
import { type Say, seldom } from '../src/seldom.js'

function bed() {
  let time = 0
  let timers: { readonly due: number; readonly action: () => void }[] = []
  const lines: unknown[] = []
  const clock = {
    now: () => time,
    after: (milliseconds: number, action: () => void) => timers.push({ due: time + milliseconds, action }),
  }
  const say: Say = seldom((sentence, about) => lines.push([sentence, about]), clock)
  function pass(milliseconds: number): void {
    time += milliseconds
    const due = timers.filter(one => one.due <= time)
    timers = timers.filter(one => one.due > time)
    for (const { action } of due) action()
  }
  return { say, pass, lines }
}

t.test('the same line comes once a minute, and tells how often it was left unsaid', async t => {
  const { say, pass, lines } = bed()
  for (let at = 0; at < 60; at += 1) {
    say('away', { why: `it takes ${at} ms` })
    pass(1_000)
  }
  say('away', { why: 'refused' })
  say('away', { why: 'it takes 9 ms' })
  t.same(lines, [
    ['away', { why: 'it takes 0 ms' }],
    ['away', { why: 'refused' }],
    ['away', { why: 'it takes 9 ms', before: 59 }],
  ])
})

t.test('after a minute at most the last line says what holds', async t => {
  const { say, pass, lines } = bed()
  for (let at = 0; at < 5; at += 1) {
    say('away')
    pass(1_000)
    say('back')
    pass(1_000)
  }
  say('away')
  t.same(lines, [
    ['away', {}],
    ['back', {}],
  ])
  pass(60_000)
  t.same(lines.slice(2), [['away', { before: 5 }]])
  pass(600_000)
  t.equal(lines.length, 3)
})

t.test('it remembers a hundred lines, whatever is said', async t => {
  const { say, lines } = bed()
  const words = Array.from({ length: 101 }, (_, at) => 'x'.repeat(at))
  for (const word of words) say(word)
  say('')
  say('x'.repeat(100))
  t.equal(lines.length, 102)
})
