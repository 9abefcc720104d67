// A laptop's networks, on links of the test's own: silence, another address, sleep, a portal, a wrong certificate. What is known is shown, and all is right again soon.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { type Authority, authority } from '../testbed/machine/certificates.js'
import { ownNetwork } from '../testbed/machine/own-network.js'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import { type MountTestbed, realMount } from '../testbed/mount.js'
import { fillMany, ids, log } from '../testbed/sample-data.js'
import { testService } from '../testbed/service.js'
import { namesOf, outcome } from '../testbed/testbed.js'
import { within } from '../testbed/within.js'

// Each of them waits most of the time.
t.jobs = 3

/** Milliseconds: less than the deadlines that connections which lead nowhere would cost. It takes at most two seconds, and longer on a slow machine. */
const soon = 12_000

const many = 12
const fileOf = (at: number): string => `by-id/calculation/${800_000 + at}/a.out`
const pageOf = (at: number): string => `by-id/calculation/${800_000 + at}/page.html`

/** @param secure an authority that the daemon trusts, and where the way to the service is encrypted */
async function placed(
  t: Test,
  secure?: { readonly by: Authority; readonly port: (service: number, host: string) => Promise<number> },
) {
  const network = await ownNetwork(t)
  const filesOf = (id: string) => ({ 'a.out': `text ${id}\n`.repeat(50), 'page.html': `<p>${id}</p>` })
  const calculations = Array.from({ length: many }, (_, at) => String(800_000 + at))
  const service = await testService(t, { fill: fillMany(calculations, filesOf) })
  const own = Number(new URL(service.url).port)
  const port = secure === undefined ? own : await secure.port(own, network.host)
  const passage = await network.open(t, () => port)
  const scheme = secure === undefined ? 'http' : 'https'
  const testbed = await realMount(
    t,
    {
      settings: {
        ttlListing: '1s',
        ...(secure === undefined ? {} : { caFile: secure.by.file }),
      },
    },
    {
      service,
      prefix: [...network.within, 'env', 'CALCFS_INSECURE_HTTP=yes'],
      url: service.url.replace(/http:\/\/127\.0\.0\.1:\d+/, `${scheme}://${passage.host}:${passage.port}`),
    },
  )
  return { testbed, network, passage }
}

/** The port on which a server of this test listens. */
async function listening(t: Test, server: Server): Promise<number> {
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  t.teardown(() => void server.close())
  return (server.address() as AddressInfo).port
}

async function webServer(
  t: Test,
  heard: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<number> {
  const server = createServer(heard)
  const port = await listening(t, server)
  t.teardown(() => server.closeAllConnections())
  return port
}

async function timed<Value>(what: string, work: Promise<Value>): Promise<{ value: Value; ms: number }> {
  const elapsed = stopwatch()
  const value = await within(40_000, what, work)
  return { value, ms: elapsed() }
}

async function warm({ files }: MountTestbed): Promise<void> {
  await files.readdir('projects/Water splitting')
  await files.readdir('projects/Many')
  await files.readFile(`by-id/calculation/${ids.transition}/run.log`)
  await files.readFile('projects/Water splitting/.project.json')
  for (let at = 0; at < 3; at += 1) await files.readFile(fileOf(at))
}

/** What was read before, past every lifetime. */
async function knownIsShown(t: Test, testbed: MountTestbed): Promise<void> {
  const { files } = testbed
  const looks: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['a listing', () => namesOf(testbed, 'projects/Water splitting')],
    ['a file', () => files.readFile(`by-id/calculation/${ids.transition}/run.log`)],
    ['a record', () => files.readFile('projects/Water splitting/.project.json')],
    ['a stat', () => files.lstat(fileOf(1))],
    ['the top', () => namesOf(testbed, 'projects')],
    ['a listing again', () => namesOf(testbed, 'projects/Many')],
  ]
  for (const [what, look] of looks) {
    const { value, ms } = await timed(what, outcome(look()))
    t.equal(value, 'done', `${what} is shown`)
    t.ok(ms < soon, `${what} is shown in ${ms} ms`)
  }
  t.equal((await files.readFile(`by-id/calculation/${ids.transition}/run.log`)).toString(), log)
  t.equal(
    (await namesOf(testbed, 'projects/Many')).filter(name => /^c\d/.test(name)).length,
    many,
    'no name is lost',
  )
}

/** Three files that were never read are read, whatever a try before that ends with. */
async function rightAgain(t: Test, testbed: MountTestbed, from: number): Promise<void> {
  const elapsed = stopwatch()
  const began = Date.now()
  for (let at = from; at < from + 3; at += 1)
    for (;;) {
      const { value } = await timed(fileOf(at), testbed.files.readFile(fileOf(at)).then(String, String))
      if (value === `text ${800_000 + at}\n`.repeat(50)) break
      if (!/^Error: E[A-Z]+:/.test(value) || Date.now() - began > 30_000)
        throw new Error(`${fileOf(at)} is shown as: ${value}`)
      await wait(100)
    }
  const took = elapsed()
  t.ok(took < soon, `all is right ${took} ms after the return`)
}

t.test(
  'NET-1 where nothing arrives any more what is known is shown, and all is right once packets arrive',
  async t => {
    const { testbed, network } = await placed(t)
    await warm(testbed)
    await network.silence()
    await wait(1_500)
    await knownIsShown(t, testbed)
    t.match(await outcome(testbed.files.readFile(fileOf(11))), /^(ETIMEDOUT|EHOSTUNREACH)$/)
    t.match(await testbed.calcfs('status', testbed.directory), {
      code: 4,
      stdout: /the service has been away since/,
    })
    await network.hear()
    await rightAgain(t, testbed, 3)
  },
)

t.test('NET-1 after a sleep in which the far end has forgotten the connections all is right', async t => {
  const { testbed, network, passage } = await placed(t)
  await warm(testbed)
  const pid = testbed.daemonPid()
  if (pid === undefined) throw new Error('the daemon is not there')
  process.kill(pid, 'SIGSTOP')
  await network.silence()
  passage.forget()
  await wait(4_000)
  await network.move()
  await network.hear()
  process.kill(pid, 'SIGCONT')
  await rightAgain(t, testbed, 3)
  await knownIsShown(t, testbed)
})

const page = '<!DOCTYPE html><html><body>Please accept the terms</body></html>'

const portals: Readonly<Record<string, (response: ServerResponse, elsewhere: string) => void>> = {
  'that redirects to another origin': (response, elsewhere) => {
    response.writeHead(302, { location: `${elsewhere}/login` }).end()
  },
  'that answers everything with a page': response => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  },
  'that answers everything with nothing': response => {
    response.writeHead(200, { 'content-length': '0' }).end()
  },
  'that says 511': response => {
    response.writeHead(511, { 'content-type': 'text/html' }).end(page)
  },
}

for (const [what, answer] of Object.entries(portals))
  t.test(
    `NET-5 a captive portal ${what} shows nothing wrong, and gets no token at its own address`,
    async t => {
      const { testbed, passage } = await placed(t)
      await warm(testbed)
      const asked: string[] = []
      const login = await webServer(t, (request, response) => {
        asked.push(`${request.method} ${request.headers.authorization}`)
        response.end(page)
      })
      const portal = await webServer(t, (_, response) => answer(response, `http://127.0.0.1:${login}`))
      const back = passage.lead(portal)
      passage.forget()
      await wait(1_500)
      await knownIsShown(t, testbed)
      for (const path of [fileOf(10), pageOf(11), 'projects/Many/c9/page.html'])
        t.not(await outcome(testbed.files.readFile(path)), 'done', `${path} is an error`)
      t.match(await testbed.calcfs('status', testbed.directory), { code: 4, stdout: /has been away since/ })
      // The connections to the portal stay, as after a name that led there for a while.
      back()
      await rightAgain(t, testbed, 3)
      t.equal((await testbed.files.readFile(pageOf(11))).toString(), '<p>800011</p>')
      t.same(asked, [])
    },
  )

t.test('NET-6 a wrong certificate is an error, and no token goes there', async t => {
  const [trusted, other] = await Promise.all([authority(t), authority(t)])
  let service = 0
  let heard = 0
  const front = createTlsServer(client => {
    const inner = connect(service, '127.0.0.1')
    client.on('error', () => inner.destroy())
    inner.on('error', () => client.destroy())
    client.on('data', () => {
      heard += 1
    })
    client.pipe(inner).pipe(client)
  })
  const { testbed, network, passage } = await placed(t, {
    by: trusted,
    async port(own, host) {
      service = own
      front.setSecureContext(await trusted.signed(host))
      return listening(t, front)
    },
  })
  await warm(testbed)
  const wrong = {
    'of another authority': await other.signed(network.host),
    'for another address': await trusted.signed('192.0.2.1'),
    'that has expired': await trusted.signed(network.host, -1),
  }
  for (const [what, certificate] of Object.entries(wrong)) {
    front.setSecureContext(certificate)
    passage.forget()
    await wait(1_500)
    heard = 0
    await knownIsShown(t, testbed)
    t.equal(await outcome(testbed.files.readFile(fileOf(11))), 'EPROTO', what)
    const said = what === 'of another authority' ? /certificate is not trusted; see --ca-file/ : /certificate/
    t.match(await testbed.calcfs('status', testbed.directory), { code: 4, stdout: said }, what)
    t.equal(heard, 0, `nothing is sent to a certificate ${what}`)
  }
  front.setSecureContext(await trusted.signed(network.host))
  await rightAgain(t, testbed, 3)
})
