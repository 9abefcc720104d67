// What is said again and again is said once a minute, and the last line says what holds.
import t from 'tap'
import { seldom } from '../src/seldom.js'

function bed() {
  let time = 0
  let timers: { readonly due: number; readonly action: () => void }[] = []
  const lines: unknown[] = []
  const clock = {
    now: () => time,
    after: (milliseconds: number, action: () => void) => timers.push({ due: time + milliseconds, action }),
  }
  const say = seldom((sentence, about) => lines.push([sentence, about]), clock)
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
    ['away (and 58 more in the last minute)', { why: 'it takes 59 ms', more: 58 }],
    ['away', { why: 'refused' }],
  ])
})

t.test('after a minute at most the last line says what holds', async t => {
  for (const count of [5, 6]) {
    const { say, pass, lines } = bed()
    const said = Array.from({ length: 2 * count }, (_, at) => (at % 2 === 0 ? 'away' : 'back'))
    for (const one of count === 5 ? [...said, 'away'] : said) {
      say(one)
      pass(1_000)
    }
    t.same(lines, [
      ['away', {}],
      ['back', {}],
    ])
    pass(60_000)
    t.match(lines.at(-1), count === 5 ? [/^away/] : [/^back/])
    const until = lines.length
    pass(600_000)
    t.equal(lines.length, until)
  }
})

t.test(
  'lines that differ in numbers and paths only are the same, those of another level are not',
  async t => {
    const { say, lines } = bed()
    say('no answer to GET /calculation?id=1 within 20 ms', {}, 'warn')
    say('no answer to GET /calculation?id=2 within 19 ms', {}, 'warn')
    say('no answer to GET /calculation?id=2 within 19 ms', {}, 'error')
    t.equal(lines.length, 2)
  },
)

t.test('a hundred different lines are said in a minute, whatever happens; the rest is counted', async t => {
  const { say, pass, lines } = bed()
  const words = Array.from({ length: 10_000 }, (_, at) => `${'x'.repeat(at % 200)}${'y'.repeat(at % 50)}`)
  for (const word of words) say(word)
  t.equal(lines.length, 100)
  pass(60_000)
  t.ok(lines.length <= 201)
  t.match(lines.at(-1), [/^\d+ more lines of other causes in the last minute$/])
  const told = lines.reduce<number>((sum, line) => sum + countIn(line), 0)
  t.equal(told, words.length, 'every line is said or counted')
})

/** How many lines one stands for. */
const countIn = (line: unknown): number => {
  const [sentence, about] = line as [string, { more?: number }]
  const more = about.more ?? 0
  return /^\d+ more lines/.test(sentence) ? more : more + 1
}
