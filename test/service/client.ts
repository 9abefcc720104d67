// A service of its own for each test, and a plain HTTP client that neither decodes nor follows anything.
import type { Test } from 'tap'
import { Agent, request } from 'undici'
import { type Service, startService } from '../../src/service/service.js'
import type { ServiceOptions } from '../../src/service/store/options.js'
import { scratch } from '../testbed/disk/scratch.js'
import { withQuickPasswords } from '../testbed/service.js'

export interface ClientResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly bytes: Buffer
}
export interface ClientRequest {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
/** Sends a request to a path below the base URL. */
export type Client = (method: Method, path: string, context?: ClientRequest) => Promise<ClientResponse>

/** A client with these headers on every request; its connections end with the test. */
export function clientOf(t: Test, url: string, headers: Readonly<Record<string, string>> = {}): Client {
  const agent = new Agent()
  t.teardown(() => agent.destroy())
  return async (method, path, context = {}) => {
    const {
      statusCode,
      headers: answered,
      body,
    } = await request(url + path, {
      method,
      dispatcher: agent,
      headers: { ...headers, ...context.headers },
      ...(context.body === undefined ? {} : { body: context.body }),
    })
    const bytes = Buffer.from(await body.arrayBuffer())
    return { status: statusCode, headers: answered, text: bytes.toString(), bytes }
  }
}

export const basic = (name: string, password: string) =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`

/** A client that is logged in. */
export async function signedIn(t: Test, url: string, name: string): Promise<Client> {
  const answer = await clientOf(t, url)('POST', '/login', { headers: { authorization: basic(name, name) } })
  if (answer.status !== 200) throw new Error(`no log-in for ${name}: ${answer.status} ${answer.text}`)
  return clientOf(t, url, { authorization: `Bearer ${answer.text}` })
}

export interface ServiceTestbed {
  readonly service: Service
  /** The user `anna`, whose password is the user's name as for every user here. */
  readonly anna: Client
  /** The id of `/db/anna`. */
  readonly root: string
}

/** A service that holds the user anna and nothing else. */
export async function openServiceTestbed(
  t: Test,
  options: Partial<ServiceOptions> = {},
): Promise<ServiceTestbed> {
  const started = await startService({ data: await scratch(t), ...options })
  t.teardown(() => started.close())
  const service = { ...started, seed: withQuickPasswords(started.seed) }
  service.seed.addUser({ name: 'anna', password: 'anna', email: 'anna@example.org' })
  return { service, anna: await signedIn(t, service.url, 'anna'), root: service.seed.rootOf('anna') }
}

/** The statuses of many requests, so that a table of them can be compared at once. */
export async function statuses(
  client: Client,
  method: Method,
  paths: readonly string[],
): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const path of paths) found[path] = (await client(method, path)).status
  return found
}

/** The same status for every path. */
export const all = (status: number, paths: readonly string[]): Record<string, number> =>
  Object.fromEntries(paths.map(path => [path, status]))
