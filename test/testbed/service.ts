// The bundled service in the test's own process, with a count of what a drive asks it and a second user that changes things.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Seed } from '../../src/service/seed.js'
import { startService } from '../../src/service/service.js'
import type { ServiceOptions } from '../../src/service/store/options.js'
import { openTestProxy, type ReceivedRequest } from './proxy.js'
import { fillSampleData } from './sample-data.js'
import type { TestbedOptions, TestLifetime } from './testbed.js'

type Work = [work: () => Promise<unknown>]

interface Comparing {
  same(found: unknown, due: unknown, what: string): unknown
}

export type ServiceWish = Pick<TestbedOptions, 'fill' | 'adds' | 'service'>

export type TestService = Awaited<ReturnType<typeof testService>>

/** Starts a service that has the user `demo`, is seeded, and ends with the test. */
export async function testService(
  t: TestLifetime,
  { fill = fillSampleData, adds, service: options }: ServiceWish = {},
) {
  const whole = (seed: Seed): void => {
    fill(seed)
    adds?.(seed)
  }
  const { service, data } = await filled(whole, options)
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

  /** Runs something and answers the requests that arrived meanwhile, log-ins and questions about the user apart. */
  async function during(work: () => Promise<unknown>): Promise<readonly ReceivedRequest[]> {
    const before = proxy.heard.length
    await work()
    return proxy.heard.slice(before).filter(({ path }) => !/^\/(login|user\/info)/.test(path))
  }

  /** Asks the service past the front as `demo`, as the platform's web pages would; answers the text. */
  async function elsewhere(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: string,
  ): Promise<string> {
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
    /** So are these fields of a record changed. */
    async edit(kind: 'report' | 'project' | 'calculation', id: string, fields: object): Promise<void> {
      const record = JSON.parse(await elsewhere('GET', `/${kind}?id=${id}`))
      await elsewhere('PUT', `/${kind}`, JSON.stringify({ ...record, ...fields }))
    },
    seed: service.seed,
    /** From now on another service with these contents answers at the same address. */
    async remake(other: (seed: Seed) => void, more: Partial<ServiceOptions> = {}): Promise<void> {
      const made = await filled(other, { ...options, ...more })
      all.push(made)
      present = made.service
      signedIn = undefined
      proxy.turnTo(present.port)
    },
    /** The file of its database. */
    database: join(data, 'service.db'),
    during,
    /** Holds that these requests of the work change something, and no other. */
    async sends(
      t: Comparing,
      due: readonly string[],
      ...given: Work | [what: string, ...Work]
    ): Promise<void> {
      const [what, work] = given.length === 2 ? given : ['what it changes', ...given]
      t.same(writes(await during(work)), due, what)
    },
  }
}

async function filled(fill: (seed: Seed) => void, options: Partial<ServiceOptions> = {}) {
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
