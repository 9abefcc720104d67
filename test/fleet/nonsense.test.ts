// A server that is no Redis, or holds what is none of calcfs: a mount comes up and reads as without it, and says why it is passed by.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t from 'tap'
import { fleetBed } from '../testbed/fleet/fleet.js'
import { everything } from '../testbed/fleet/reads.js'
import { until, within } from '../testbed/within.js'

t.setTimeout(120_000)

/** How many commands a piece holds: each begins with the number of its words. */
const commandsIn = (piece: Buffer): number => piece.toString('latin1').split(/(?:^|\r\n)\*\d+\r\n/).length - 1

t.test('FLEET-3 a server that answers OK to everything delays no mount, and is passed by', async t => {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('data', piece => socket.write('+OK\r\n'.repeat(commandsIn(piece))))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const bed = await fleetBed(t)
  const truth = await everything(await bed.join({}, true), 'projects')
  const { port } = server.address() as AddressInfo
  const node = await within(10_000, 'a mount', bed.join({ fleet: `redis://127.0.0.1:${port}` }, 'at once'))
  t.strictSame(await within(20_000, 'the walk', everything(node, 'projects')), truth)
  t.match(node.line.fleet?.status().away, /nonsense|does not answer/)
})

t.test('FLEET-3 clearing what is stopped ends soon, and says so', async t => {
  const bed = await fleetBed(t)
  const node = await bed.join()
  await everything(node, 'projects')
  bed.redis.signal('SIGSTOP')
  t.teardown(() => bed.redis.signal('SIGCONT'))
  await t.rejects(
    within(15_000, 'clearing', node.line.control.fleetClear({})),
    /nothing was cleared for sure/,
  )
  bed.redis.signal('SIGCONT')
  await until(10_000, 'it is used again', () => node.line.fleet?.status().away === undefined)
  t.ok((await node.line.control.fleetClear({})).values > 0)
  t.same(await bed.redis.client.keys('calcfs:*:v'), [])
})
