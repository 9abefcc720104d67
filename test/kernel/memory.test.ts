// Nodes that the kernel has forgotten, and names that are not there, cost no memory.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { opcodes } from '../../src/kernel/protocol.js'
import { inProcess } from '../testbed/in-process.js'
import { entryAt, halves, listedIn, numberAt, text, words } from '../testbed/kernel/bytes.js'
import { fillMany } from '../testbed/sample-data.js'

t.setTimeout(280_000)

const isFull = process.env['CALCFS_TEST_FULL'] !== undefined
const absent = isFull ? 1_000_000 : 200_000
const entries = isFull ? 100_000 : 20_000
const rounds = 3

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

t.test(`${entries} entries, looked up and forgotten ${rounds} times`, async t => {
  const testbed = await inProcess(t, {
    fill: fillMany(Array.from({ length: entries }, (_, at) => String(800_000 + at))),
  })
  const device = testbed.device()
  const { inodes } = device.session
  const enter = async (parent: number, name: string): Promise<number> =>
    entryAt(await device.ask(opcodes.lookup, parent, text(name))).node
  const projects = await enter(1, 'projects')
  const many = await enter(projects, 'Many')
  const [before, memory] = [inodes.size, [] as number[]]
  for (let round = 0; round < rounds; round += 1) {
    const given: number[] = []
    const handle = numberAt(await device.ask(opcodes.opendir, many, halves(0, 0)), 0)
    for (let offset = 0; ; ) {
      const page = await device.ask(opcodes.readdirplus, many, words(handle, offset, 131_072, 0, 0))
      const listed = listedIn(page, true)
      for (const { entry } of listed) if (entry !== undefined && entry.node !== 0) given.push(entry.node)
      if (listed.length === 0) break
      offset = listed.at(-1)?.next ?? 0
    }
    await device.ask(opcodes.releasedir, many, words(handle, 0, 0))
    t.ok(given.length >= entries, `${given.length} entries`)
    t.ok(inodes.size > entries, 'the daemon knows them')
    // Half of them one by one, and the other half at once, in any order.
    for (const node of given.slice(0, given.length / 2)) device.send(opcodes.forget, node, words(1))
    const rest = given.slice(given.length / 2).reverse()
    device.send(opcodes.batchForget, 0, words(rest.length, ...rest.flatMap(node => [node, 1])))
    t.equal(inodes.size, before, 'as after `echo 2 > drop_caches`')
    memory.push(megabytes())
  }
  const [first = 0, , last = 0] = memory
  t.comment(`${memory.map(one => one.toFixed(0)).join(', ')} MB`)
  t.ok(last < first + 30, 'memory as before')
  device.send(opcodes.batchForget, 0, words(2, many, 1, projects, 1))
})
