// A service of its own for each test, and a plain HTTP client that neither decodes nor follows anything.
import type { Test } from 'tap'
import { Agent, request } from 'undici'
import { startService } from '../../src/service/service.js'
import type { ServiceOptions } from '../../src/service/store/options.js'
import { scratch } from '../testbed/disk/scratch.js'
import { withQuickPasswords } from '../testbed/service.js'

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
export type Client = ReturnType<typeof clientOf>

/** A client with these headers on every request; its connections end with the test. */
export function clientOf(t: Test, url: string, headers: Readonly<Record<string, string>> = {}) {
  const agent = new Agent()
  t.teardown(() => agent.destroy())
  /** Sends a request to a path below the base URL. */
  return async (
    method: Method,
    path: string,
    context: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Buffer } = {},
  ) => {
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

/**
 * A service that holds the user `anna` and nothing else, and the id of `/db/anna`. The user's password is the user's name, as for
 * every user here.
 */
export async function openServiceTestbed(t: Test, options: Partial<ServiceOptions> = {}) {
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
