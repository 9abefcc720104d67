// A length that two sources of the service tell differently: an error until they agree, and nothing is kept of it.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { complete } from '../../../src/service/store/options.js'
import type { Interceptor } from '../../testbed/proxy.js'
import { cml, fillSampleData, ids, log } from '../../testbed/sample-data.js'
import { type OpenTestbed, outcome, type Testbed, textOf } from '../../testbed/testbed.js'
import { variants } from '../../testbed/variants.js'

const project = 'projects/Water splitting'
/** Each way has a calculation with a file of its own. */
const fileOf = (number: number): string => `${project}/Way ${number}/run.log`
const asked = (number: number): RegExp => new RegExp(`^GET .*bitstream\\?id=${2000 + number}&`)

/** The answer to each GET while HEAD says the truth; each proves its own end as far as HTTP can. */
export const wrongBodies: Readonly<Record<string, Interceptor>> = {
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

function fillWays(seed: Seed): void {
  fillSampleData(seed)
  ways.forEach((_, number) => {
    seed.addCalculation({
      id: String(2000 + number),
      name: `Way ${number}`,
      project: ids.water,
      files: { 'run.log': log },
    })
  })
}

/** A file and a geometry of each of two calculations, and how their requests are called. */
const twoSources = { [`${project}/NAME/run.log`]: /bitstream\?/, [`${project}/NAME/NAME.xyz`]: /xyz\?/ }

function fillTwo(seed: Seed): void {
  fillSampleData(seed)
  for (const [id, name] of [
    ['3001', 'One'],
    ['3002', 'Two'],
  ] as const)
    seed.addCalculation({ id, name, project: ids.water, files: { 'run.log': log, 'output.cml': cml } })
}

/** Contents whose size a service with Range does not state, by their own nature. */
const silent: Readonly<Record<string, { bytes: string; type?: string; how: Interceptor }>> = {
  'an empty content, answered with its length,': { bytes: '', how: response => whole(response, '') },
  'an empty content, answered in chunks,': { bytes: '', how: response => chunked(response, '') },
  'an empty content, of which no range is': {
    bytes: '',
    how: response => void response.writeHead(416).end(),
  },
  'a page': {
    bytes: '<html>1</html>',
    type: 'text/html',
    how: response => {
      response.writeHead(206, { 'content-type': 'text/html', 'content-range': 'bytes 0-0/14' })
      response.end('<')
    },
  },
}

function fillSilent(seed: Seed, files: Readonly<Record<string, string>>): void {
  fillSampleData(seed)
  const all = { ...files, 'run.log': log }
  seed.addCalculation({ id: '4001', name: 'Silent', project: ids.water, files: all })
}

export function contradictions(t: Test, open: OpenTestbed): void {
  t.test(
    'READ-10 another length than the stated one is EIO as long as it comes, over a restart too',
    async t => {
      const testbed = await open(t, { fill: fillWays })
      const { files, service } = testbed
      const mend = ways.map(([, how], number) => service.intercept(asked(number), how))
      for (const number of ways.keys()) t.equal((await files.lstat(fileOf(number))).size, log.length)
      for (const when of ['at once', 'again', 'after a restart', 'after a restart again']) {
        if (when === 'after a restart') await testbed.remount()
        for (const [number, [what]] of ways.entries()) {
          const path = fileOf(number)
          t.equal(await outcome(files.readFile(path)), 'EIO', `${what}, ${when}`)
          t.same(await readTwice(testbed, path), ['EIO', 'EIO'], `${what}, ${when}, one handle`)
          t.equal((await files.lstat(path)).size, log.length, `${what}: the size ${when}`)
        }
        await testbed.pass(1100)
      }
      for (const undo of mend) undo()
      for (const [number, [what]] of ways.entries())
        t.equal(await textOf(testbed, fileOf(number)), log, `${what}: right bytes as soon as they come`)
    },
  )

  t.test('READ-10 what foresight fetches is held against HEAD, too', async t => {
    const testbed = await open(t, { fill: fillWays })
    const { files, service } = testbed
    const isGood = (number: number) => number % 4 < 3
    for (const [number, [, how]] of ways.entries()) if (!isGood(number)) service.intercept(asked(number), how)
    // Nothing is looked at beforehand: every folder is entered and its file read, as `cat */run.log` does.
    for (const [number, [what]] of ways.entries()) {
      const read = await outcome(
        textOf(testbed, fileOf(number)).then(text => t.ok(isGood(number) && text === log, `${what}: right`)),
      )
      t.equal(read, isGood(number) ? 'done' : 'EIO', what)
      t.equal((await files.lstat(fileOf(number))).size, log.length, `${what}: the size`)
    }
  })

  const oneSource = {
    'HEAD alone': { lacks: { range: true }, odd: /^HEAD .*/ },
    'Range alone': { lacks: { head: true }, odd: /^GET .*/ },
  }
  for (const [way, { lacks, odd }] of Object.entries(oneSource)) {
    t.test(`READ-10 after one odd answer ${way} is still asked, for files and geometries`, async t => {
      const testbed = await open(t, { fill: fillTwo, service: { shortcomings: { ...complete, ...lacks } } })
      const { files, service } = testbed
      for (const [path, cut] of Object.entries(twoSources)) {
        const first = new RegExp(`${odd.source}${cut.source}id=3001`)
        const mendFirst = service.intercept(first, async (response, { headers, carryOut }) => {
          if (response.req.method === 'HEAD') response.writeHead(502).end()
          else if (headers?.range !== undefined) whole(response, log)
          else (await carryOut())()
        })
        await outcome(files.readFile(path.replaceAll('NAME', 'One')))
        mendFirst()
        const bytes = path.endsWith('.log') ? log : await service.elsewhere('GET', '/calculation/xyz?id=3002')
        const short = new RegExp(`^GET .*${cut.source}id=3002`)
        const mend = service.intercept(short, async (response, { headers, carryOut }) => {
          if (headers?.range !== undefined) (await carryOut())()
          else whole(response, bytes.slice(0, -1))
        })
        t.equal(
          await outcome(files.readFile(path.replaceAll('NAME', 'Two'))),
          'EIO',
          `${path}: one byte short`,
        )
        mend()
        await testbed.pass(1100)
        t.equal(await textOf(testbed, path.replaceAll('NAME', 'Two')), bytes, `${path}: right again`)
      }
    })
  }

  for (const [what, { bytes, type = 'application/octet-stream', how }] of variants(
    open,
    Object.entries(silent),
    2,
  )) {
    t.test(`READ-10 ${what} is no sign that a service has neither HEAD nor Range`, async t => {
      const names = [0, 1, 2, 3].map(number => `${number}.html`)
      const testbed = await open(t, {
        fill: seed => fillSilent(seed, Object.fromEntries(names.map(name => [name, bytes]))),
        service: { shortcomings: { ...complete, head: true } },
      })
      const { files, service } = testbed
      const answer: Interceptor = async (response, passing) => {
        if (passing.headers?.range === undefined) whole(response, bytes, type)
        else await how(response, passing)
      }
      service.intercept(/^GET .*fileId=\d.html/, answer)
      for (const name of names) t.equal((await files.lstat(`${project}/Silent/${name}`)).size, bytes.length)
      for (const name of names) t.equal(await textOf(testbed, `${project}/Silent/${name}`), bytes)
      const mend = service.intercept(/^GET .*fileId=run.log/, async (response, { headers, carryOut }) => {
        if (headers?.range !== undefined) (await carryOut())()
        else whole(response, log.slice(0, -5))
      })
      t.equal(await outcome(files.readFile(`${project}/Silent/run.log`)), 'EIO', 'five bytes short')
      mend()
      await testbed.pass(1100)
      t.equal(await textOf(testbed, `${project}/Silent/run.log`), log)
    })
  }

  t.test('READ-10 what a service refused before is asked again by the next mount', async t => {
    const names = ['a.in', 'b.in', 'c.in']
    const testbed = await open(t, {
      fill: seed => fillSilent(seed, Object.fromEntries(names.map(name => [name, name]))),
      service: { shortcomings: { ...complete, head: true } },
    })
    const { files, service } = testbed
    const mend = service.intercept(/^GET .*fileId=.\.in/, (response, { heard }) =>
      whole(response, heard.path.slice(-4)),
    )
    for (const name of names) t.equal((await files.lstat(`${project}/Silent/${name}`)).size, 4)
    mend()
    await testbed.remount()
    service.intercept(/^GET .*fileId=run.log/, async (response, { headers, carryOut }) => {
      if (headers?.range !== undefined) (await carryOut())()
      else whole(response, log.slice(0, -5))
    })
    t.equal((await files.lstat(`${project}/Silent/run.log`)).size, log.length)
    t.equal(await outcome(files.readFile(`${project}/Silent/run.log`)), 'EIO')
  })

  t.test('READ-11 `user.calcfs.error` and `calcfs why` tell both lengths', async t => {
    const testbed = await open(t, { fill: fillWays })
    const { files, service } = testbed
    const path = fileOf(0)
    await files.lstat(path)
    service.intercept(asked(0), response => whole(response, log.slice(0, -5)))
    t.equal(await outcome(files.readFile(path)), 'EIO')
    const error = await files.xattr(path, 'user.calcfs.error')
    t.match(error, String(log.length))
    t.match(error, String(log.length - 5))
  })
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
