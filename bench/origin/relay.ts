// A link with a round-trip time: a TCP relay that delays every piece by half of it each way; where wanted, with a bandwidth.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { type Line, openLine } from './line.js'

const usage =
  'node dist/bench/origin/relay.js --to HOST:PORT --delay MILLISECONDS [--handshake] [--megabits NUMBER]'

const { values: options } = parseArgs({
  options: {
    to: { type: 'string', default: '' },
    /** Milliseconds of a round trip. */
    delay: { type: 'string', default: '0' },
    /** A new connection costs a round trip too, as it does on a real link. */
    handshake: { type: 'boolean', default: false },
    /** The bandwidth of each direction, a second, which all connections share; without it there is no limit. */
    megabits: { type: 'string' },
  },
})

const [, host = '', port = ''] = /^(.+):(\d+)$/.exec(options.to) ?? []
const delay = Number(options.delay)
const megabits = options.megabits === undefined ? undefined : Number(options.megabits)
if (host === '' || !(delay >= 0) || (megabits !== undefined && !(megabits > 0))) throw new Error(usage)

/** Bytes a millisecond. */
const lineOfOneDirection = (): Line | undefined =>
  megabits === undefined ? undefined : openLine(megabits * 125)
const lines = { up: lineOfOneDirection(), down: lineOfOneDirection() }

/** Bytes a millisecond, on one connection: more than FUSE or a client here can take. A faster sender waits. */
const mostRate = 1_200_000
/** Bytes that arrived and were not taken, after which reading stops: the window of a receiver that stopped reading. */
const mostUntaken = 4 * 1024 * 1024
/** Timers fire on whole milliseconds; what is due this soon goes out at once. */
const soon = 0.5

/** A piece on its way, or the end of the stream. */
interface Held {
  readonly due: number
  readonly piece: Buffer | 'end' | 'lost'
}

/** One direction of a connection: what comes from one side goes to the other, `lag` milliseconds later. */
function lagged(from: Socket, to: Socket, lag: number, line: Line | undefined): void {
  const held: Held[] = []
  let first = 0
  let waiting = 0
  /** Until it is this connection's turn on the line. */
  let queued = false
  let lastDue = 0
  let timer: NodeJS.Timeout | undefined
  const mostHeld = Math.max(1, lag) * mostRate

  function hold(piece: Held['piece']): void {
    // A timer takes a millisecond at least.
    if (lag === 0 && line === undefined) {
      deliver(piece)
      return
    }
    const leaves = line !== undefined && piece instanceof Buffer ? line.take(piece.length) : performance.now()
    lastDue = Math.max(lastDue, leaves + lag)
    held.push({ due: lastDue, piece })
    if (timer === undefined) schedule(lastDue - performance.now())
  }

  function schedule(milliseconds: number): void {
    timer = setTimeout(release, Math.max(0, Math.floor(milliseconds)))
  }

  function release(): void {
    timer = undefined
    const limit = performance.now() + soon
    to.cork()
    for (let next = held[first]; next !== undefined && next.due <= limit; next = held[first]) {
      first += 1
      deliver(next.piece)
    }
    to.uncork()
    held.splice(0, first)
    first = 0
    const next = held[0]
    if (next !== undefined) schedule(next.due - performance.now())
    considerFlow()
  }

  function deliver(piece: Held['piece']): void {
    if (piece === 'end') to.end()
    else if (piece === 'lost') to.destroy()
    else {
      waiting -= piece.length
      if (!to.destroyed) to.write(piece)
    }
  }

  function considerFlow(): void {
    if (!queued && line?.isBusy() === true) {
      queued = true
      line.wait(() => {
        queued = false
        considerFlow()
      })
    }
    const full = queued || waiting > mostHeld || to.writableLength > mostUntaken
    if (full && !from.isPaused()) from.pause()
    else if (!full && from.isPaused()) from.resume()
  }

  from.on('data', piece => {
    waiting += piece.length
    hold(piece)
    considerFlow()
  })
  to.on('drain', considerFlow)
  from.once('end', () => hold('end'))
  from.once('close', () => hold('lost'))
  // A connection that breaks is closed right after, and the other side sees it closed.
  from.on('error', () => undefined)
  // A client that had to wait for its handshake is not read yet.
  considerFlow()
}

const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: options.handshake })

server.on('connection', client => {
  const link = (): void => {
    const origin = connect({ host, port: Number(port), allowHalfOpen: true, noDelay: true })
    lagged(client, origin, delay / 2, lines.up)
    lagged(origin, client, delay / 2, lines.down)
  }
  if (options.handshake) setTimeout(link, delay)
  else link()
})

const end = (): void => process.exit(0)
process.once('SIGTERM', end)
process.once('SIGINT', end)
process.once('disconnect', end)

server.listen(0, '127.0.0.1', () => {
  const { port: own } = server.address() as AddressInfo
  console.log(JSON.stringify({ port: own, url: `http://127.0.0.1:${own}`, delay }))
})
