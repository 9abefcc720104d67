// How long an answer may be that is not content: by its length, by what it takes as a tree, and all on their way together.
import type { Socket } from 'node:net'
import t from 'tap'
import { openAskers } from '../../../src/remote/askers.js'
import { textBudget } from '../../../src/remote/connection/text-budget.js'
import { openWire } from '../../../src/remote/wire/wire.js'
import { failsAs } from '../fails.js'
import { ask, rawService, whole } from '../raw.js'

const get = { method: 'GET', path: '/x' } as const
const maxAnswer = 4 << 20

t.test(
  'MEM-2 an answer that is too long, or too much once it is understood, is refused',
  { timeout: 60_000 },
  async t => {
    const long = `{"s":"${'x'.repeat(maxAnswer)}"}`
    const answers = {
      'with its length': whole(long),
      'in chunks': `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`,
      'of many short values': whole(`[${'1,'.repeat(maxAnswer / 4)}1]`),
    }
    for (const [name, answer] of Object.entries(answers)) {
      const service = await rawService(t, () => answer, { maxAnswer })
      const failure = await failsAs(t, 'broken', service.asked.text(get, ask(20_000)))
      t.match(failure.message, /bytes/, name)
    }
    const most = `"${'x'.repeat(maxAnswer - 2)}"`
    const service = await rawService(t, () => whole(most), { maxAnswer })
    t.equal((await service.asked.text(get, ask(20_000))).length, maxAnswer)
  },
)

t.test('MEM-2 a record that is many times as long in print is refused', async t => {
  const nested = (depth: number, items: number): string =>
    `{"id":7,"deep":${'['.repeat(depth)}${'1,'.repeat(items)}1${']'.repeat(depth)}}`
  const read = async (text: string) => {
    const service = await rawService(t, () => whole(text), { maxAnswer })
    return service.asked.jsonText(get, ask(20_000))
  }
  t.equal((await read(nested(2, 200_000))).length, nested(2, 200_000).length)
  const failure = await failsAs(t, 'broken', read(nested(190, 200_000)))
  t.match(failure.message, /--max-answer/)
})

t.test('MEM-2 a list of more children than may be held is refused, however short they are', async t => {
  const listOf = (count: number): string =>
    `[${Array.from({ length: count }, (_, at) => `{"id":${at + 1},"name":"c${at}"}`).join(',')}]`
  const speech = openWire({}, () => {})
  const read = async (count: number) => {
    const service = await rawService(t, () => whole(listOf(count)), { maxAnswer: 1 << 20 })
    return service.asked.readInto(get, () => speech.calculations(), ask(20_000))
  }
  t.equal((await read(15_000)).end().length, 15_000)
  const failure = await failsAs(t, 'broken', read(30_000))
  t.match(failure.message, /--max-answer/)
})

t.test('MEM-2 answers on their way wait for memory, and the oldest of them never does', async t => {
  const budget = textBudget(100, 0)
  const first = budget.enter()
  const second = budget.enter()
  const third = budget.enter()
  t.equal(first.hold(60), undefined)
  t.equal(second.hold(30), undefined)
  const order: string[] = []
  const waiting = [
    second.hold(30)?.then(() => order.push('second')),
    third.hold(1)?.then(() => order.push('third')),
  ]
  t.equal(first.hold(500), undefined, 'the oldest goes on')
  await new Promise(setImmediate)
  t.same(order, [])
  first.release()
  await Promise.all(waiting)
  t.same(order, ['second', 'third'])
  second.release()
  third.release()
  t.equal(budget.enter().hold(100), undefined)
})

t.test('MEM-2 a long answer that drips holds up no short one', async t => {
  const budget = textBudget(100, 10)
  const long = budget.enter()
  t.equal(long.hold(1_000), undefined)
  const short = budget.enter()
  t.equal(short.hold(4), undefined)
  t.equal(short.hold(6), undefined)
  const waiting = short.hold(1)
  t.type(waiting, Promise)
  long.release()
  await waiting
})

t.test('MEM-2 a long answer that waits for memory is not taken for a slow one', async t => {
  const long = (id: number): string => `{"id":${id},"text":"${'x'.repeat(900_000)}"}`
  const drips = (socket: Socket): void => {
    const answer = whole(long(1))
    const [begun, step] = [700_000, 20_000]
    socket.write(answer.slice(0, begun))
    let at = begun
    const timer = setInterval(() => {
      socket.write(answer.slice(at, at + step))
      at += step
      if (at >= answer.length) clearInterval(timer)
    }, 400)
  }
  const service = await rawService(t, ({ path }) => (path.endsWith('1') ? drips : whole(long(2))), {
    maxAnswer: 1 << 20,
  })
  const read = (id: number) => {
    const askers = openAskers()
    askers.join()
    // A further one looks whether the answer is slow.
    setTimeout(() => askers.join(), 1_000)
    return service.asked.jsonText({ method: 'GET', path: `/${id}` }, { ...ask(20_000), askers })
  }
  const first = read(1)
  await new Promise(later => setTimeout(later, 200))
  const answers = await Promise.all([first, read(2)])
  t.same(
    answers.map(({ length }) => length),
    [long(1).length, long(2).length],
  )
  t.equal(service.heard.length, 2, 'each is asked for once')
})
