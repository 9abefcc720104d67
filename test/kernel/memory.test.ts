// Names that are not there cost no memory; that forgotten nodes are none is seen at the end of each drive of test/drive/.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { opcodes } from '../../src/kernel/protocol.js'
import { inProcess } from '../testbed/in-process.js'
import { entryAt, text, words } from '../testbed/kernel/bytes.js'

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
