// How long an answer may be that is not content: by its length, and by what it takes as a tree or in print.
import t from 'tap'
import { Wire } from '../../../src/remote/wire/wire.js'
import { failsAs } from '../fails.js'
import { ask, rawService, whole } from '../raw.js'

const get = { method: 'GET', path: '/x' } as const
const maxAnswer = 16 << 20

t.test('MEM-1 an answer that is too long, or too much once it is understood, is refused', async t => {
  const long = `{"s":"${'x'.repeat(maxAnswer)}"}`
  const answers = {
    'with its length': whole(long),
    'in chunks': `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`,
    'of many short values': whole(`[${'1,'.repeat(maxAnswer / 4)}1]`),
  }
  for (const [name, answer] of Object.entries(answers)) {
    const service = await rawService(t, () => answer)
    const failure = await failsAs(t, 'broken', service.asked.text(get, ask(120_000)))
    t.match(failure.message, /a record over 16 MiB or a list over 64 MiB|16777216 bytes allowed here/, name)
  }
  const most = `"${'x'.repeat(maxAnswer - 2)}"`
  const service = await rawService(t, () => whole(most))
  t.equal((await service.asked.text(get, ask(120_000))).length, maxAnswer)
})

t.test('MEM-1 a record that is many times as long in print is refused', async t => {
  const nested = (depth: number, items: number): string =>
    `{"id":7,"deep":${'['.repeat(depth)}${'1,'.repeat(items)}1${']'.repeat(depth)}}`
  const read = async (text: string) => {
    const service = await rawService(t, () => whole(text))
    return service.asked.jsonText(get, ask(120_000))
  }
  t.equal((await read(nested(2, 800_000))).length, nested(2, 800_000).length)
  const failure = await failsAs(t, 'broken', read(nested(190, 800_000)))
  t.match(failure.message, /more memory than calcfs allows/)
})

t.test('MEM-1 a list of more children than may be held is refused, however short they are', async t => {
  const listOf = (count: number): string =>
    `[${Array.from({ length: count }, (_, at) => `{"id":${at + 1},"name":"c${at}"}`).join(',')}]`
  const speech = new Wire({}, () => {})
  const read = async (count: number) => {
    const service = await rawService(t, () => whole(listOf(count)))
    return service.asked.readInto(get, () => speech.children('calculation'), ask(120_000))
  }
  t.equal((await read(240_000)).end().length, 240_000)
  const failure = await failsAs(t, 'broken', read(480_000))
  t.match(failure.message, /more memory than calcfs allows/)
})
