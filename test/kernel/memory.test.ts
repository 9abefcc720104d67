// Names that are not there, and answers that come too late, cost no memory; that forgotten nodes are none is seen at the end of each drive of test/drive/.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { opcodes } from '../../src/kernel/protocol.js'
import { inProcess } from '../testbed/in-process.js'
import { entryAt, message, text, words } from '../testbed/kernel/bytes.js'
import { until } from '../testbed/within.js'

const isFull = process.env['CALCFS_TEST_FULL'] !== undefined
const absent = isFull ? 1_000_000 : 200_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function megabytes(): number {
  collect()
  return process.memoryUsage().heapUsed / 2 ** 20
}

t.test(`${absent} lookups of names that are not there leave nothing`, async t => {
  const device = (await inProcess(t)).device()
  const reports = entryAt(await device.ask(opcodes.lookup, 1, text('reports')))
  const lookups = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to; at += 1)
      await device.ask(opcodes.lookup, reports.node, text(`nothing ${at}`)).catch(() => {})
  }
  await lookups(0, 10_000)
  const before = megabytes()
  await lookups(10_000, absent)
  const grown = megabytes() - before
  t.comment(`${grown.toFixed(1)} MB more`)
  t.ok(grown < 10, 'memory as before')
  t.equal(device.session.inodes.size, 2)
  device.send(opcodes.forget, reports.node, words(1))
})

t.test('a lookup that its program did not live to see leaves no node', async t => {
  const { pid = 0 } = spawn('sleep', ['60'])
  t.teardown(() => process.kill(pid, 'SIGKILL'))
  // The signal that ends it is pending as long as it stands still.
  process.kill(pid, 'SIGSTOP')
  await until(10_000, 'its stop', () => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')))
  process.kill(pid, 'SIGTERM')
  const device = (await inProcess(t)).device()
  const projects = entryAt(await device.ask(opcodes.lookup, 1, text('projects')))
  const answers: number[] = []
  device.listener = (unique, error) => unique === 1001 && answers.push(error)
  const asked = { unique: 1001, node: projects.node, pid }
  device.session.serve(message(opcodes.lookup, text('Water splitting'), asked))
  device.session.serve(message(opcodes.interrupt, words(1001), { unique: 1003 }))
  device.listener = undefined
  t.same(answers, [-constants.errno.EINTR])
  // Another program has waited for the same answer.
  const { node } = entryAt(await device.ask(opcodes.lookup, projects.node, text('Water splitting')))
  await device.ask(opcodes.getattr, node, words(0, 0))
  device.send(opcodes.forget, node, words(1))
  t.equal(device.session.inodes.size, 2)
  device.send(opcodes.forget, projects.node, words(1))
})
