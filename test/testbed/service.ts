// The bundled service in the test's own process, with a count of what a drive asks it and a second user that changes things.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Seed } from '../../src/service/seed.js'
import { startService } from '../../src/service/service.js'
import type { ServiceOptions } from '../../src/service/store/options.js'
import { openTestProxy, type ReceivedRequest, type TestProxy } from './proxy.js'
import type { TestLifetime } from './testbed.js'

type Work = [work: () => Promise<unknown>]

interface Comparing {
  same(found: unknown, due: unknown, what: string): unknown
}

export interface TestService extends TestProxy {
  readonly seed: Seed
  /** Runs something and answers the requests that arrived meanwhile, log-ins and questions about the user apart. */
  during(work: () => Promise<unknown>): Promise<readonly ReceivedRequest[]>
  /** Holds that these requests of the work change something, and no other. */
  sends(t: Comparing, due: readonly string[], ...work: Work | [what: string, ...Work]): Promise<void>
  /** From now on another service with these contents answers at the same address. */
  remake(fill: (seed: Seed) => void, options?: Partial<ServiceOptions>): Promise<void>
  /** The file of its database. */
  readonly database: string
  /** Asks the service past the front as `demo`, as the platform's web pages would; answers the text. */
  elsewhere(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: string): Promise<string>
  /** So are these fields of a record changed. */
  edit(kind: 'report' | 'project' | 'calculation', id: string, fields: object): Promise<void>
}

/** Starts a service that has the user `demo`, is seeded, and ends with the test. */
export async function testService(
  t: TestLifetime,
  fill: (seed: Seed) => void,
  options: Partial<ServiceOptions> = {},
): Promise<TestService> {
  const { service, data } = await filled(fill, options)
  const proxy = await openTestProxy(service.port)
  const all = [{ service, data }]
  t.teardown(async () => {
    await proxy.end().catch(() => {})
    for (const one of all) {
      await one.service.close()
      await rm(one.data, { recursive: true, force: true })
    }
  })
  let present = service

  let signedIn: Promise<string> | undefined
  async function signIn(): Promise<string> {
    const authorization = `Basic ${Buffer.from('demo:demo').toString('base64')}`
    const answer = await fetch(`${present.url}/login`, { method: 'POST', headers: { authorization } })
    return answer.text()
  }

  async function during(work: () => Promise<unknown>): Promise<readonly ReceivedRequest[]> {
    const before = proxy.heard.length
    await work()
    return proxy.heard.slice(before).filter(({ path }) => !/^\/(login|user\/info)/.test(path))
  }

  const elsewhere: TestService['elsewhere'] = async (method, path, body) => {
    signedIn ??= signIn()
    const headers = { authorization: `Bearer ${await signedIn}`, 'content-type': 'application/json' }
    const answer = await fetch(present.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    const said = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${said}`)
    return said
  }

  return {
    ...proxy,
    elsewhere,
    async edit(kind, id, fields) {
      const record = JSON.parse(await elsewhere('GET', `/${kind}?id=${id}`))
      await elsewhere('PUT', `/${kind}`, JSON.stringify({ ...record, ...fields }))
    },
    seed: service.seed,
    async remake(other, more = {}) {
      const made = await filled(other, { ...options, ...more })
      all.push(made)
      present = made.service
      signedIn = undefined
      proxy.turnTo(present.port)
    },
    database: join(data, 'service.db'),
    during,
    async sends(t, due, ...given) {
      const [what, work] = given.length === 2 ? given : ['what it changes', ...given]
      t.same(writes(await during(work)), due, what)
    },
  }
}

async function filled(fill: (seed: Seed) => void, options: Partial<ServiceOptions>) {
  const data = await mkdtemp(join(tmpdir(), 'calcfs-ground-service-'))
  const service = await startService({ data, ...options })
  const seed = withQuickPasswords(service.seed)
  try {
    seed.together(() => {
      seed.addUser({ name: 'demo', password: 'demo' })
      fill(seed)
    })
  } catch (thrown) {
    await service.close()
    await rm(data, { recursive: true, force: true })
    throw thrown
  }
  return { service: { ...service, seed }, data }
}

/** Hundreds of services are filled in a run of all tests: half of its time would go into the hashes of their passwords. */
export const withQuickPasswords = (seed: Seed): Seed => ({
  ...seed,
  addUser: user => seed.addUser({ passwordCost: 2, ...user }),
})

/** `PUT /report` and the like, for comparison in tests. */
export const lines = (heard: readonly ReceivedRequest[]): string[] =>
  heard.map(({ method, path }) => `${method} ${path}`)

/** The requests that change something. */
export const writes = (heard: readonly ReceivedRequest[]): string[] =>
  lines(heard.filter(({ method }) => method !== 'GET' && method !== 'HEAD'))
