// Every kind of fault at once, again and again: two seconds after the last one every file, record and listing is right again.
import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { chance } from '../long/chance.js'
import { inProcess } from '../testbed/in-process.js'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import type { InterceptedRequest, Interceptor } from '../testbed/proxy.js'
import { fillSampleData } from '../testbed/sample-data.js'
import { outcome, type Testbed } from '../testbed/testbed.js'
import { within } from '../testbed/within.js'

const runs = Number(process.env['CALCFS_TEST_RUNS'] ?? 2)
const firstSeed = Number(process.env['CALCFS_TEST_SEED'] ?? Date.now() % 2 ** 31)
t.setTimeout(60_000 + runs * 60_000)

/** Milliseconds: what a lost request would cost is its deadline of ten seconds and more. */
const soon = 6_000
const many = 35
const idOf = (at: number): string => String(700_000 + at)
const bytesOf = (at: number): string => `${idOf(at)} says what it says\n`.repeat(at % 5 === 0 ? 12_000 : 40)

const status =
  (code: number, more: Record<string, string> = {}): Interceptor =>
  response => {
    response.writeHead(code, { 'content-type': 'text/plain', ...more })
    response.end('a fault')
  }
const wait = (milliseconds: number): Promise<void> => new Promise(wake => setTimeout(wake, milliseconds))

/** The bytes that are due, where a file is asked for: faults cut and delay, they do not lie. */
function dueTo({ heard: { method, path } }: InterceptedRequest): string | undefined {
  const id = /bitstream\?id=(7\d{5})/.exec(path)?.[1]
  return method === 'GET' && id !== undefined ? bytesOf(Number(id) - 700_000) : undefined
}

/** Writes the head of the answer and so much of it. */
function begin(response: ServerResponse, passing: InterceptedRequest, part: number): void {
  const due = dueTo(passing) ?? '['.padEnd(700)
  response.writeHead(200, passing.heard.method === 'HEAD' ? {} : { 'content-length': String(due.length) })
  response.flushHeaders()
  if (part > 0) response.write(due.slice(0, part))
}

/** A body in pieces, each after so many milliseconds. */
async function dripping(
  response: ServerResponse,
  passing: InterceptedRequest,
  drip: { piece: number; pause: number },
): Promise<void> {
  const due = dueTo(passing) ?? '['.padEnd(700)
  begin(response, passing, 0)
  for (let sent = 0; sent < due.length && !response.req.socket.destroyed; sent += drip.piece) {
    response.write(due.slice(sent, sent + drip.piece))
    await wait(drip.pause)
  }
}

const reset = (response: ServerResponse): void => void response.socket?.resetAndDestroy()

const faults: readonly Interceptor[] = [
  ...[400, 401, 408, 423, 429, 500, 502, 503, 504].map(code => status(code)),
  status(429, { 'retry-after': '1' }),
  status(503, { 'retry-after': '1' }),
  status(302, { location: 'http://elsewhere.invalid/' }),
  status(507),
  // A line that breaks before the answer, behind its head, and in its middle.
  reset,
  response => response.destroy(),
  (response, passing) => {
    begin(response, passing, 0)
    setTimeout(reset, 20, response)
  },
  (response, passing) => {
    begin(response, passing, 300)
    setTimeout(reset, 20, response)
  },
  (response, passing) => {
    begin(response, passing, 300)
    setTimeout(() => response.destroy(), 20)
  },
  // A service that stands still at each of these places.
  () => {},
  (response, passing) => begin(response, passing, 0),
  (response, passing) => begin(response, passing, 300),
  // Slow ones.
  (response, passing) => dripping(response, passing, { piece: 64, pause: 20 }),
  (response, passing) => dripping(response, passing, { piece: 1, pause: 1_000 }),
  async (_, { carryOut }) => (await wait(1_500).then(carryOut))(),
  response => void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'),
  response => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<html>we are sorry</html>')
  },
]

const open = (t: Test): Promise<Testbed> =>
  inProcess(t, {
    fill(seed) {
      fillSampleData(seed)
      seed.addProject({ id: '900', name: 'Many', owner: 'demo' })
      for (let at = 0; at < many; at += 1)
        seed.addCalculation({ id: idOf(at), name: `c${at}`, project: '900', files: { 'a.out': bytesOf(at) } })
    },
  })

const uses: readonly ((testbed: Testbed, at: number) => Promise<unknown>)[] = [
  ({ files }, at) => files.readFile(`by-id/calculation/${idOf(at)}/a.out`),
  ({ files }, at) => files.lstat(`by-id/calculation/${idOf(at)}/a.out`),
  ({ files }, at) => files.readdir(`by-id/calculation/${idOf(at)}`),
  ({ files }, at) => files.readFile(`by-id/calculation/${idOf(at)}/.calculation.json`),
  ({ files }) => files.readdir('projects/Many'),
]

for (let run = 0; run < runs; run += 1) {
  const seed = firstSeed + run
  t.test(`AVAIL-1 all is right two seconds after the last fault, seed ${seed}`, async t => {
    const testbed = await open(t)
    const pick = chance(seed)
    // Half of the files are known before, and half of the faults reach the log-ins, too.
    for (let at = 0; at < many; at += 2) await testbed.files.lstat(`by-id/calculation/${idOf(at)}/a.out`)
    const which = run % 2 === 0 ? /./ : /^\w+ \/(?!login)/
    const passes = async (_: ServerResponse, { carryOut }: InterceptedRequest): Promise<void> =>
      (await carryOut())()
    const heal = testbed.service.intercept(which, (response, passing) =>
      (pick.fraction() < 0.15 ? passes : pick.of(faults))(response, passing),
    )
    const ending = Date.now() + 3_000
    const worker = async (): Promise<void> => {
      while (Date.now() < ending) await outcome(pick.of(uses)(testbed, pick.whole(0, many - 1)))
    }
    const workers = Array.from({ length: 40 }, worker)
    await wait(ending - Date.now())
    heal()
    await wait(2_000)
    const began = Date.now()
    const wrong: string[] = []
    for (let at = 0; at < many; at += 1) {
      const elapsed = stopwatch()
      const path = `by-id/calculation/${idOf(at)}/a.out`
      const read = (): Promise<Buffer> => testbed.files.readFile(path)
      // The head of a faulty answer tells no version: a file that was known by it is another one now, once.
      const again = (cause: unknown): Promise<Buffer> =>
        String(cause).includes('ESTALE') ? read() : Promise.reject(cause)
      const text = await within(40_000, path, read().catch(again)).catch(String)
      const took = elapsed()
      if (String(text) !== bytesOf(at)) wrong.push(`${path}: ${String(text).slice(0, 200)} after ${took} ms`)
      else if (took > soon) wrong.push(`${path} took ${took} ms`)
    }
    t.same(wrong, [], `every file is read, in ${Date.now() - began} ms`)
    for (const use of uses.slice(2)) t.equal(await outcome(use(testbed, 3)), 'done')
    await within(60_000, 'the calls of the faulty time', Promise.all(workers))
  })
}
