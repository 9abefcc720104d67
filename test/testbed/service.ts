// The bundled service in the test's own process, with a count of what a drive asks it and a second user who changes things.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Seed } from '../../src/service/seed.js'
import { startService } from '../../src/service/service.js'
import type { ServiceOptions } from '../../src/service/store/options.js'
import { type Front, type Heard, openFront } from './proxy.js'
import type { Ending } from './testbed.js'

export interface TestService extends Front {
  readonly seed: Seed
  /** Runs something and answers the requests that arrived meanwhile, log-ins and questions about the user apart. */
  during(work: () => Promise<unknown>): Promise<readonly Heard[]>
  /** From now on another service with these contents answers at the same address. */
  remake(fill: (seed: Seed) => void, options?: Partial<ServiceOptions>): Promise<void>
  /** The file of its database. */
  readonly database: string
  /** Asks the service past the front as `demo`, as the platform's web pages would; answers the text. */
  elsewhere(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: string): Promise<string>
}

/** Starts a service that is seeded and ends with the test. */
export async function testService(
  t: Ending,
  fill: (seed: Seed) => void,
  options: Partial<ServiceOptions> = {},
): Promise<TestService> {
  const { service, data } = await filled(fill, options)
  const front = await openFront(service.port)
  const all = [{ service, data }]
  t.teardown(async () => {
    await front.end().catch(alreadyAway)
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

  return {
    ...front,
    seed: service.seed,
    async remake(other, more = {}) {
      const made = await filled(other, { ...options, ...more })
      all.push(made)
      present = made.service
      signedIn = undefined
      front.turnTo(present.port)
    },
    database: join(data, 'service.db'),
    async during(work) {
      const before = front.heard.length
      await work()
      return front.heard.slice(before).filter(({ path }) => !/^\/(login|user\/info)/.test(path))
    },
    async elsewhere(method, path, body) {
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
    },
  }
}

async function filled(fill: (seed: Seed) => void, options: Partial<ServiceOptions>) {
  const data = await mkdtemp(join(tmpdir(), 'calcfs-ground-service-'))
  const service = await startService({ data, ...options })
  service.seed.together(() => fill(service.seed))
  return { service, data }
}

function alreadyAway(): void {}

/** `PUT /report` and the like, for comparison in tests. */
export const lines = (heard: readonly Heard[]): string[] =>
  heard.map(({ method, path }) => `${method} ${path}`)

/** The requests that change something. */
export const writes = (heard: readonly Heard[]): string[] =>
  lines(heard.filter(({ method }) => method !== 'GET' && method !== 'HEAD'))
