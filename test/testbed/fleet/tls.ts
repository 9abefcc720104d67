// A Redis that speaks TLS alone, under a certificate of an authority made for the test.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestLifetime } from '../testbed.js'
import { until } from '../within.js'
import { freePort } from './redis.js'

const ran = promisify(execFile)

export interface Authority {
  /** PEM, as `--fleet-ca-file` takes it. */
  readonly file: string
  /** A certificate for this machine, with its key. */
  signed(name: string): Promise<{ readonly certificate: string; readonly key: string }>
}

export interface TlsRedis {
  /** As `--fleet` takes it. */
  readonly address: string
  readonly authority: Authority
  /** Another one, which has signed nothing. */
  readonly stranger: Authority
  /** Names of what lies there. */
  keys(): Promise<readonly string[]>
}

/** Both programs are there, and the Redis can speak TLS. */
export async function canTls(): Promise<boolean> {
  try {
    await ran('openssl', ['version'])
    // One that is built without TLS lists no such flag.
    const { stdout } = await ran('redis-cli', ['--help']).catch((said: { stdout: string }) => said)
    return stdout.includes('--tls')
  } catch {
    return false
  }
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30']

async function madeAuthority(directory: string, name: string): Promise<Authority> {
  const at = (end: string): string => join(directory, `${name}${end}`)
  const whose = ['-subj', `/CN=${name}`, '-addext', 'basicConstraints=critical,CA:TRUE']
  await ran('openssl', ['req', '-x509', ...newKey, ...whose, '-keyout', at('.key'), '-out', at('.pem')])
  return {
    file: at('.pem'),
    async signed(of) {
      const own = (end: string): string => at(`-${of}${end}`)
      await ran('openssl', [
        'req',
        ...newKey,
        '-subj',
        `/CN=${of}`,
        '-keyout',
        own('.key'),
        '-out',
        own('.csr'),
      ])
      await writeFile(own('.ext'), 'subjectAltName=IP:127.0.0.1\n')
      const by = [
        '-CA',
        at('.pem'),
        '-CAkey',
        at('.key'),
        '-CAcreateserial',
        '-days',
        '30',
        '-extfile',
        own('.ext'),
      ]
      await ran('openssl', ['x509', '-req', '-in', own('.csr'), ...by, '-out', own('.pem')])
      return { certificate: own('.pem'), key: own('.key') }
    },
  }
}

export async function tlsRedis(t: TestLifetime): Promise<TlsRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'calcfs-tls-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const [authority, stranger] = await Promise.all(
    ['authority', 'stranger'].map(name => madeAuthority(directory, name)),
  )
  if (authority === undefined || stranger === undefined) throw new Error('two authorities are due')
  const { certificate, key } = await authority.signed('redis')
  const port = await freePort()
  const words = {
    port: 0,
    'tls-port': port,
    bind: '127.0.0.1',
    dir: directory,
    save: '',
    'tls-cert-file': certificate,
    'tls-key-file': key,
    'tls-ca-cert-file': authority.file,
    'tls-auth-clients': 'no',
  }
  const flags = Object.entries(words).flatMap(([name, value]) => [`--${name}`, String(value)])
  const server = spawn('redis-server', flags, { stdio: 'ignore' })
  const gone = once(server, 'exit')
  t.teardown(async () => {
    server.kill('SIGKILL')
    await gone
  })
  await until(10_000, 'redis-server listens', () => listens(port))
  return {
    address: `rediss://127.0.0.1:${port}`,
    authority,
    stranger,
    async keys() {
      const how = ['-p', String(port), '--tls', '--cacert', authority.file, '--raw']
      const { stdout } = await ran('redis-cli', [...how, 'KEYS', 'calcfs:*'])
      return stdout.split('\n').filter(line => line !== '')
    },
  }
}

const listens = (port: number): Promise<boolean> =>
  new Promise(done => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => done(true))
    socket.once('error', () => done(false))
    socket.once('connect', () => socket.destroy())
  })
