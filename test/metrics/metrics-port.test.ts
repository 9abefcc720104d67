// Promises of the port of the metrics to a drive: any user of the machine may open it, and none of them takes the drive's time.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openMetricsPort } from '../../src/metrics/metrics-port.js'
import { until, within } from '../testbed/within.js'

t.setTimeout(120_000)

const limit = 30_000
const question = 'GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n'
/** As many as the port takes at the same time. */
const connections = 16

/** A drive whose answer takes the process ten milliseconds. */
async function openPort(t: Test) {
  let asked = 0
  const drive = {
    async metrics() {
      asked += 1
      const end = performance.now() + 10
      while (performance.now() < end);
      return { text: `asked_total ${asked}\n` }
    },
    health: async () => ({ isHealthy: true, why: 'the service answers' }),
  }
  const port = await openMetricsPort({ host: '127.0.0.1', port: 0 }, drive)
  t.teardown(() => port.close())
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  return {
    asked: () => asked,
    async open() {
      const socket = connect(Number(port.address.split(':').at(-1)), '127.0.0.1')
      sockets.push(socket)
      socket.on('error', () => {})
      await within(limit, 'a connection', once(socket, 'connect'))
      return socket
    },
    isAnswered: (path: string) =>
      fetch(`http://${port.address}${path}`).then(
        async answer => answer.status === 200 && (await answer.text()) !== '',
        () => false,
      ),
  }
}

t.test(
  'METRIC-1 thousands of questions at once, whose answers are not taken, cost the drive nothing',
  async t => {
    const { open, asked, isAnswered } = await openPort(t)
    for (let at = 0; at < connections; at += 1) {
      const socket = await open()
      socket.pause()
      socket.write(question.repeat(20_000))
    }
    let longest = 0
    for (const end = performance.now() + 2_000; performance.now() < end; ) {
      const began = performance.now()
      await sleep(1)
      longest = Math.max(longest, performance.now() - began)
    }
    t.ok(asked() <= 40, `it was asked ${asked()} times`)
    t.ok(longest < 1_000, `the process did nothing else for ${longest} ms`)
    await until(limit, 'another one is answered', () => isAnswered('/metrics'), 50)
  },
)

t.test('METRIC-1 connections that ask slowly, or take no answer, give way within ten seconds', async t => {
  const { open, isAnswered } = await openPort(t)
  for (let at = 0; at < connections; at += 1) (await open()).write(question.slice(0, at === 0 ? 0 : -2))
  t.notOk(await isAnswered('/healthz'), 'all connections are taken')
  const began = performance.now()
  await until(limit, 'the port is free', () => isAnswered('/healthz'), 200)
  t.ok(performance.now() - began < 15_000, 'it took no half a minute')
})
