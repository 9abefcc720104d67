// The origin of every measurement: one process that shows one generated tree through three doors, and counts requests.
// Every door shows the same names, sizes, bytes and dates. `<calculation>.xyz`, which the REST door makes on demand and
// calcfs lists, lies in the other doors as a file, so that all copy the same; the records that calcfs shows besides
// (`.project.json`, `.index.tsv`, `.shares`, `.calculation.json`) are nowhere else: they count against calcfs alone.
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { stretch } from '../trees/bytes.js'
import { pathsOf } from '../trees/paths.js'
import { type TreeName, treeNames, treeOf } from '../trees/trees.js'
import { type Door, openCounter } from './counts.js'
import { davDoor } from './dav.js'
import { plainDoor } from './plain.js'
import { restDoor } from './rest.js'
import { type Exchange, sendText } from './send.js'

const usage = `node dist/bench/origin/origin.js --tree ${treeNames.join('|')} [--log FILE] [--no-geometry] [--certificate FILE --key FILE] [--round-trip MILLISECONDS]`

const { values: options } = parseArgs({
  options: {
    tree: { type: 'string', default: 'lab' },
    log: { type: 'string' },
    'no-geometry': { type: 'boolean', default: false },
    /** PEM files; with them the REST door speaks TLS. */
    certificate: { type: 'string' },
    key: { type: 'string' },
    /** Of the link to the clients, to tell which requests waited for one another. */
    'round-trip': { type: 'string', default: '0' },
  },
})

const name = treeNames.find((known): known is TreeName => known === options.tree)
if (name === undefined) throw new Error(`there is no tree "${options.tree}": ${usage}`)
const tree = treeOf(name, !options['no-geometry'])
const paths = pathsOf(tree)
// Made now: the first request for a file must not wait for the making of all bytes.
for (const form of ['text', 'binary'] as const) stretch({ form, size: 1, start: 0 }, 0, 1)
const counter = openCounter(options.log, Number(options['round-trip']))

const identity =
  options.certificate === undefined || options.key === undefined
    ? undefined
    : { cert: readFileSync(options.certificate), key: readFileSync(options.key) }

const servers = {
  rest: behind('rest', restDoor(tree, paths), identity),
  files: behind('files', plainDoor(paths)),
  dav: behind('dav', davDoor(paths)),
  counts: createServer((request, response) => {
    const asked = { kind: 'counts', bytes: 0 }
    if (request.url?.startsWith('/-/counts') !== true)
      return sendText({ request, response, asked }, 404, '', {})
    const counts = counter.take(!request.url.endsWith('?keep'))
    sendText({ request, response, asked }, 200, JSON.stringify(counts), {
      'content-type': 'application/json',
    })
  }),
}

function behind(door: Door, answer: (exchange: Exchange) => void, secrets?: typeof identity): Server {
  const settings = { keepAliveTimeout: 60_000, noDelay: true }
  const listener: RequestListener = (request, response) =>
    answer({ request, response, asked: counter.begin(door, request, response) })
  const server =
    secrets === undefined
      ? createServer(settings, listener)
      : createTlsServer({ ...settings, ...secrets }, listener)
  return server.on('connection', () => counter.connected())
}

/** Port 0 of this machine alone; resolves with the address that came of it. */
function listening(server: Server, scheme = 'http'): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () =>
      resolve(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    )
  })
}

async function end(): Promise<void> {
  for (const server of Object.values(servers)) {
    server.close()
    server.closeAllConnections()
  }
  await counter.close()
  process.exit(0)
}

process.once('SIGTERM', () => void end())
process.once('SIGINT', () => void end())
process.once('disconnect', () => void end())

const [rest, files, dav, counts] = await Promise.all([
  listening(servers.rest, identity === undefined ? 'http' : 'https'),
  listening(servers.files),
  listening(servers.dav),
  listening(servers.counts),
])
console.log(
  JSON.stringify({ tree: name, rest: rest.replace(/\/$/, ''), files, dav, counts: `${counts}-/counts` }),
)
