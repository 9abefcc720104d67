// A drive over a service in memory: a scheduler decides when each request arrives and when it is answered.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scheduler } from 'fast-check'
import { pino } from 'pino'
import { type AssembledDrive, assemble } from '../../../src/app/assemble.js'
import { kernelCacheSeconds } from '../../../src/app/assembly-settings.js'
import type { Connection } from '../../../src/app/connect.js'
import { readConfig } from '../../../src/config/config.js'
import { Failure } from '../../../src/failure.js'
import { fieldOf, type JsonObject, textOf } from '../../../src/record/json/json.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { type Instant, instant, type Remote } from '../../../src/remote/remote.js'
import { Wire } from '../../../src/remote/wire/wire.js'
import { makePrivateNow } from '../../../src/system/own-file.js'
import { clockOf } from '../../testbed/clocks.js'
import { HarshKernel } from '../../testbed/kernel/harsh-kernel.js'
import type { DriveFiles } from '../../testbed/testbed.js'

export const fields = ['title', 'description', 'name'] as const
export type FieldName = (typeof fields)[number]

/** The report as it was at one moment, and what changed it. */
export interface Moment {
  readonly record: JsonObject
  readonly by: 'drive' | 'web'
}

export const valueIn = (record: JsonObject, field: FieldName): string => textOf(fieldOf(record, field)) ?? ''

export interface Interleaved {
  /** An operation on the drive that is mounted now: an unmount waits for it, and it for a mount that is coming up. */
  during<Value>(work: (files: DriveFiles) => Promise<Value>): Promise<Value>
  readonly history: readonly Moment[]
  isUp: boolean
  web(field: FieldName, value: string): void
  pass(milliseconds: number): void
  remount(): Promise<void>
  /** Whether a file of the state directory holds this text. */
  isKept(text: string): boolean
  end(): Promise<void>
}

export async function openInterleaved(scheduler: Scheduler): Promise<Interleaved> {
  const base = mkdtempSync(join(tmpdir(), 'calcfs-interleaved-'))
  const places = { state: join(base, 'state'), cache: join(base, 'cache') }
  const history: Moment[] = [
    {
      record: parseObject(
        '{"id":42,"title":"t","description":"d","name":"n","reportType":"1","calculations":[]}',
      ),
      by: 'web',
    },
  ]
  let time = 1_700_000_000_000
  const now = (): Instant => instant(time)
  const clock = clockOf(now)
  const present = (): JsonObject => history.at(-1)?.record ?? parseObject('{}')
  const { dialect } = new Wire({}, () => {})

  const world: Interleaved = {
    async during(work) {
      await mounted
      const running = work(kernel.files)
      const ended = running.then(
        () => {},
        () => {},
      )
      busy.add(ended)
      await ended
      busy.delete(ended)
      return running
    },
    history,
    isUp: true,
    web(field, value) {
      const text = JSON.stringify(value)
      const changed = present().fields.map(one =>
        one.name === field ? `"${field}":${text}` : `${one.rawName}:${rawOf(one.value)}`,
      )
      history.push({ record: parseObject(`{${changed.join(',')}}`), by: 'web' })
    },
    pass(milliseconds) {
      time += milliseconds
    },
    async remount() {
      const before = mounted
      mounted = before.then(async () => {
        await Promise.all(busy)
        await kernel.end()
        await line.close()
        // A daemon does not come up within a millisecond.
        time += 1_000
        line = await up()
        mount()
        await line.tidy()
      })
      await mounted
    },
    isKept: text => filesBelow(places.state).some(file => readFileSync(file).includes(text)),
    async end() {
      await kernel.end()
      await line.close()
      rmSync(base, { recursive: true, force: true, maxRetries: 5 })
    },
  }

  /** A request: it leaves, is carried out if the service is there, and its answer comes if the line still holds. */
  async function request<Answer>(label: string, carryOut: () => Answer): Promise<Answer> {
    await scheduler.schedule(Promise.resolve(), `${label} arrives`)
    if (!world.isUp) throw new Failure('unreachable', 'nothing listens there')
    const answer = carryOut()
    await scheduler.schedule(Promise.resolve(), `${label} is answered`)
    if (!world.isUp) throw new Failure('unreachable', 'the line broke')
    return answer
  }

  const known: Partial<Remote> = {
    answered: async () => {},
    user: async () => ({ candidates: ['demo'], record: parseObject('{"username":"demo"}') }),
    report: id =>
      request('GET', () => {
        if (id !== '42') throw new Failure('absent', 'no such report')
        return present()
      }),
    updateReport: record => request('PUT', () => void history.push({ record, by: 'drive' })),
    reportTypes: async () => [],
  }
  const remote = new Proxy(known, {
    get: (target, name: keyof Remote) =>
      target[name] ?? (() => Promise.reject(new Failure('absent', `${name}: there is none`))),
  }) as Remote

  const sources = {
    flags: { user: 'demo', url: 'http://127.0.0.1:9/rest' },
    environment: { HOME: base },
    files: [],
  }
  const config = readConfig(sources)
  const account = {
    base: new URL('http://127.0.0.1:9/rest'),
    user: 'demo',
    places,
    parents: [],
    keyring: false,
  }
  const connection: Connection = {
    account,
    remote,
    dialect,
    lacks: () => false,
    doubts: () => false,
    lacking: () => [],
    signIn: () => ({ until: undefined, renewed: false }),
    away: () => undefined,
    guesses: () => 0,
    close: async () => {},
  }

  async function up(): Promise<AssembledDrive> {
    for (const place of Object.values(places)) makePrivateNow(place)
    const log = pino({ level: 'silent' })
    return assemble({
      config,
      connection,
      capabilities: { sizes: {} },
      mountPoint: '/drive',
      log,
      version: 'test',
      clock,
    })
  }

  function mount(): void {
    const { drive, news, failureLog } = line
    const [keptSeconds, failed] = [kernelCacheSeconds(config), failureLog.note]
    kernel.mount({ drive, news, clock, keptSeconds, readOnly: false, failed })
  }

  const kernel = new HarshKernel()
  const busy = new Set<Promise<void>>()
  let mounted: Promise<unknown> = Promise.resolve()
  let line = await up()
  mount()
  return world
}

const rawOf = (value: JsonObject['fields'][number]['value']): string =>
  value.type === 'array' ? '[]' : value.type === 'object' ? '{}' : value.raw

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
}

/** Resolves once no work of this process on the disk is under way: then only the scheduler decides what comes next. */
export async function quiet(): Promise<void> {
  for (let calm = 0; calm < 2; ) {
    await new Promise(setImmediate)
    calm = process.getActiveResourcesInfo().some(one => one.startsWith('FSReq')) ? 0 : calm + 1
  }
}
