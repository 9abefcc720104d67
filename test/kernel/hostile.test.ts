// No bytes of a kernel do more to the daemon than be refused: each whole request is answered once, whatever it says.
import { constants } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { opcodes } from '../../src/kernel/protocol.js'
import { inProcess } from '../testbed/in-process.js'
import { init, message, numberAt, setattr, text, words } from '../testbed/kernel/bytes.js'
import { log } from '../testbed/sample-data.js'
import { textOf } from '../testbed/testbed.js'
import { drawnFrom } from '../testbed/variants.js'
import { until } from '../testbed/within.js'

const count = 100_000
const atOnce = 200
/** INIT ends a session that it does not fit, and is tried on its own. */
const unanswered = new Set<number>([opcodes.forget, opcodes.batchForget, opcodes.interrupt])
const errnos = new Set(Object.values(constants.errno))
const names = [
  '',
  ...'projects reports . .. a/b 42.json by-id new.json'.split(' '),
  'ä\u0301',
  'x'.repeat(300),
]

t.test('drawn requests, cut and lying, are answered with an errno or dropped', async t => {
  const { seed, draw } = drawnFrom()
  t.comment(`seed ${seed}`)
  const testbed = await inProcess(t)
  const device = testbed.device()
  const { session } = device
  const waiting = new Map<number, number>()
  const opened: (readonly [number, number])[] = []
  const wrong: string[] = []
  const number = (): number => [0, 1, draw(40), 2 ** 31, 2 ** 32 - 1, 2 ** 53 - 1][draw(6)] ?? 0
  const noise = (length: number): Buffer => Buffer.from(Array.from({ length }, () => draw(256)))
  const name = (): string => names[draw(names.length)] ?? ''
  const bodies = [
    () => noise(draw(120)),
    () => text(name()),
    () => Buffer.concat([noise(8 * draw(3)), text(name(), name())]),
    () => Buffer.concat([noise(draw(17)), Buffer.from(name())]),
    () => Buffer.concat([words(number(), number(), number(), number(), number()), noise(draw(30))]),
    () => setattr({ size: number(), handle: draw(50) }),
    () => Buffer.alloc(0),
  ]

  device.listener = (unique, error, reply) => {
    // What is told names no request.
    if (unique === 0) return
    const opcode = waiting.get(unique)
    waiting.delete(unique)
    if (opcode === undefined) wrong.push(`an answer to ${unique}, which waits for none`)
    if (error > 0 || (error < 0 && !errnos.has(-error))) wrong.push(`opcode ${opcode} ended with ${error}`)
    if (error === 0 && (opcode === opcodes.open || opcode === opcodes.opendir))
      opened.push([opcode, numberAt(reply, 0)])
    if (error === 0 && opcode === opcodes.create) opened.push([opcodes.open, numberAt(reply, 128)])
  }
  for (let at = 1; at <= count; at += 1) {
    const opcode = draw(20) === 0 ? number() % 2 ** 32 : draw(55)
    if (opcode === opcodes.init) continue
    const nodes = session.inodes.size + 3
    const node = draw(8) === 0 ? number() : 1 + draw(nodes)
    const drawn = message(opcode, bodies[draw(bodies.length)]?.() ?? Buffer.alloc(0), { unique: at, node })
    const lies = draw(20)
    if (lies === 0) drawn.writeUInt32LE(draw(2) === 0 ? drawn.length + 1 : number() >>> 0, 0)
    const given = lies === 1 ? drawn.subarray(0, draw(drawn.length)) : drawn
    const isWhole = given.length >= 40 && given.readUInt32LE(0) === given.length
    if (isWhole && !unanswered.has(opcode)) waiting.set(at, opcode)
    else waiting.delete(at)
    const before = wrong.length
    session.serve(given)
    if (unanswered.has(opcode)) wrong.length = before
    if (at % atOnce === 0) {
      await turn()
      await until(120_000, 'the answers', () => waiting.size < atOnce * 5)
    }
  }
  await until(120_000, 'the last answers', () => waiting.size === 0)
  t.same(wrong, [], `seed ${seed}`)

  for (const [at, [opcode, handle]] of opened.entries()) {
    waiting.set(count + at + 1, opcode)
    const closing = opcode === opcodes.open ? opcodes.release : opcodes.releasedir
    session.serve(message(closing, words(handle, 0, 0), { unique: count + at + 1 }))
  }
  await until(120_000, 'all is closed', () => waiting.size === 0)
  for (const { id, lookups } of [...session.inodes.all])
    if (id !== 1) device.send(opcodes.forget, id, words(lookups))
  await until(20_000, 'all is forgotten', () => session.inodes.size === 1)
  device.listener = undefined
  t.equal(
    await textOf(testbed, 'projects/Water splitting/TS1_opt/run.log'),
    log,
    'and the drive is as it was',
  )
})

t.test('an INIT that cannot be agreed on ends the session', async t => {
  const device = (await inProcess(t)).device(4096)
  const errors: number[] = []
  device.listener = (_, error) => errors.push(error)
  device.send(opcodes.init, 0, Buffer.alloc(15))
  device.send(opcodes.init, 0, init({ minor: 8, flags: 0 }))
  device.send(opcodes.getattr, 1, words(0, 0))
  t.same(errors, [-constants.errno.EIO, -constants.errno.EPROTO], 'and nothing is answered any more')
})
