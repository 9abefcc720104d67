// Lengths of contents: as many bytes as was told, or an error; where nothing tells a length, two bodies that are the same.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { complete } from '../../../src/service/store/options.js'
import type { Interceptor } from '../../testbed/proxy.js'
import { ids, log } from '../../testbed/sample-data.js'
import { type OpenTestbed, outcome, type Testbed, textOf } from '../../testbed/testbed.js'
import { drawnFrom, variants } from '../../testbed/variants.js'

const project = 'projects/Water splitting'
/** Each way has a calculation with a file of its own. */
const fileOf = (number: number): string => `${project}/Way ${number}/run.log`
const asked = (number: number): RegExp => new RegExp(`^GET .*bitstream\\?id=${2000 + number}&`)

/** The answer to each GET while HEAD says the truth; each proves its own end as far as HTTP can. */
const wrongBodies: Readonly<Record<string, Interceptor>> = {
  'five bytes too few': response => whole(response, log.slice(0, -5)),
  'five bytes too many': response => whole(response, `${log}12345`),
  'nothing, with Content-Length 0': response => whole(response, ''),
  'half of it, with its length': response => whole(response, log.slice(0, log.length / 2)),
  'half of it in chunks that end well': response => chunked(response, log.slice(0, log.length / 2)),
  'more in chunks that end well': response => chunked(response, `${log}\n`),
  'an error in JSON as application/json': response => {
    whole(response, '{"error":"the session has ended"}', 'application/json')
  },
  'an error in JSON without saying so': response => whole(response, '{"error":"the session has ended"}'),
  'a page without saying so': response => whole(response, '<html>Sign in</html>'),
  'HTTP/1.0 that is cut at one place': response => closed(response, log.slice(0, 4096)),
  'HTTP/1.0 that goes on too long': response => closed(response, `${log}12345`),
  'a megabyte of zeros packed into the right length': response => packed(response),
}

const ways = Object.entries(wrongBodies)

function addWays(seed: Seed): void {
  ways.forEach((_, number) => {
    seed.addCalculation({
      id: String(2000 + number),
      name: `Way ${number}`,
      project: ids.water,
      files: { 'run.log': log },
    })
  })
}

const told = ['HEAD', 'Range', 'nothing'] as const
const forms = { 'with its length': whole, 'in chunks': chunked, 'in HTTP/1.0': closed }

export function lengths(t: Test, open: OpenTestbed): void {
  t.test('READ-13 another length than was told is ESTALE once, then EIO as long as it comes', async t => {
    const testbed = await open(t, { adds: addWays })
    const { files, service } = testbed
    const mend = ways.map(([, how], number) => service.intercept(asked(number), how))
    for (const number of ways.keys()) t.equal((await files.lstat(fileOf(number))).size, log.length)
    for (const [number, [what]] of variants(open, [...ways.entries()], 3)) {
      const path = fileOf(number)
      t.match(await outcome(files.readFile(path)), /^(ESTALE|EIO)$/, what)
      for (const when of ['again', 'and again']) {
        t.equal(await outcome(files.readFile(path)), 'EIO', `${what}, ${when}`)
        t.same(await readTwice(testbed, path), ['EIO', 'EIO'], `${what}, ${when}, one handle`)
        t.equal((await files.lstat(path)).size, log.length, `${what}: the size ${when}`)
        await testbed.pass(1100)
      }
    }
    for (const undo of mend) undo()
    for (const [number, [what]] of ways.entries())
      t.equal(await textOf(testbed, fileOf(number)), log, `${what}: right bytes as soon as they come`)
  })

  const { seed, draw } = drawnFrom()
  for (const source of told)
    t.test(
      `READ-10 of bodies of any form, with ${source} to tell the length, all bytes or an error (seed ${seed})`,
      async t => {
        const lacks = { head: source !== 'HEAD', range: source !== 'Range' }
        const deals = Array.from({ length: 8 }, (_, number) => ({
          id: String(2500 + number),
          form: Object.keys(forms)[draw(3)] as keyof typeof forms,
          // Of each answer in turn, how many bytes are missing.
          missing: [draw(3), draw(3)].map(one => (one === 0 ? 1 + draw(1000) : 0)),
        }))
        const testbed = await open(t, {
          service: { shortcomings: { ...complete, ...lacks } },
          adds(into) {
            for (const { id } of deals)
              into.addCalculation({ id, name: id, project: ids.water, files: { 'run.log': log } })
          },
        })
        // A foreseen body that says its length counts: each length is told before.
        for (const { id } of deals) await testbed.files.lstat(`${project}/${id}/run.log`)
        for (const { id, form, missing } of deals) {
          let answers = 0
          const mend = testbed.service.intercept(
            new RegExp(`^GET .*bitstream\\?id=${id}&`),
            async (response, passing) => {
              if (passing.headers?.range !== undefined && !lacks.range) return (await passing.carryOut())()
              const short = missing[answers % 2] ?? 0
              answers += 1
              return forms[form](response, log.slice(0, log.length - short))
            },
          )
          const path = `${project}/${id}/run.log`
          const what = `${id}, ${form}, ${missing} missing`
          const isSame = missing[0] === missing[1]
          const text = await textOf(testbed, path).catch(() => undefined)
          const sent = missing.map(one => log.slice(0, log.length - one))
          // Where nothing else tells a length, a cut that says its own, or is the same twice, cannot be told from the file.
          const isTold = source !== 'nothing'
          const right = [log, ...(!isTold && (form === 'with its length' || isSame) ? sent : [])]
          t.ok(text === undefined || right.includes(text), `${what}: ${text?.length} bytes`)
          if (missing.every(one => one === 0)) t.equal(text, log, what)
          mend()
        }
      },
    )
}

/** The kernel asks again, page by page, for what its read-ahead did not get. */
async function readTwice({ files }: Testbed, path: string): Promise<string[]> {
  const file = await files.open(path, 'r')
  const outcomes = [await outcome(file.read(65_536, 0)), await outcome(file.read(4096, 0))]
  await file.close()
  return outcomes
}

function whole(response: ServerResponse, text: string, type = 'application/octet-stream'): void {
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

function chunked(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'transfer-encoding': 'chunked' })
  response.end(text)
}

/** Only the end of the connection ends it. */
function closed(response: ServerResponse, text: string): void {
  response.socket?.end(`HTTP/1.0 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n${text}`)
}

async function packed(response: ServerResponse): Promise<void> {
  const bytes = gzipSync(Buffer.alloc(1 << 20))
  response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bytes.length })
  response.end(bytes)
  await once(response, 'close')
}
