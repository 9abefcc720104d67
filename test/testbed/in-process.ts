// The ground without a kernel: the drive as the daemon puts it together, behind one that is as harsh as kernels are.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { Activity } from '../../src/activity/activity.js'
import { accountOf } from '../../src/app/account/account.js'
import { type AssembledDrive, assemble } from '../../src/app/assemble.js'
import { kernelCacheSeconds } from '../../src/app/assembly-settings.js'
import { connect, serviceBase } from '../../src/app/connect.js'
import { introduced as introduceDrive, notTried } from '../../src/app/sign-in.js'
import { readConfig } from '../../src/config/config.js'
import { type Clock, systemClock } from '../../src/remote/clock.js'
import { makePrivateNow } from '../../src/system/own-file.js'
import { Stop } from '../../src/terminal/exit.js'
import { hastyClock, speedingClock } from './clocks.js'
import { KernelDevice, type Mountable } from './kernel/device.js'
import { HarshKernel } from './kernel/harsh-kernel.js'
import { type TestService, testService } from './service.js'
import { roomy, type Testbed, type TestbedOptions, type TestLifetime } from './testbed.js'

/** A drive without a kernel, whose files on the local disk a test may damage. */
export interface InProcessTestbed extends Testbed {
  /** Where the drafts, the history and the known reports lie. */
  readonly state: string
  /** Where the contents and the ledger lie. */
  readonly cache: string
  /** The kernel's end of the mount; of a mount of its own, where the bytes of its pages are given. */
  device(pageBytes?: number): KernelDevice
  /** What `mount` would end with before anything is mounted; undefined where it is mounted. */
  introduced(): Promise<string | undefined>
  /** The failure that was met last, as status.json tells it. */
  lastFailure(): string | undefined
  /** Failures that are bugs. */
  readonly mistakes: readonly string[]
  /** `meanwhile` is done while no daemon runs. */
  remount(meanwhile?: () => Promise<unknown>): Promise<void>
}

interface Assembling {
  readonly password?: string | undefined
  readonly clock?: Clock
  /** Of its requests, where that is another one. */
  readonly requests?: Clock
  readonly mountPoint?: string
}

/** A drive as the daemon puts it together, with its caches and its state below `home`. */
export function assembling(
  home: string,
  given: Readonly<Record<string, string | readonly string[]>>,
  { password = 'demo', clock = systemClock, requests = clock, mountPoint = '/drive' }: Assembling = {},
) {
  const environment = { HOME: home, CALCFS_PASSWORD: password }
  const sources = { flags: { user: 'demo', ...given }, environment, files: [] }
  const config = readConfig(sources)
  return {
    config,
    environment,
    up() {
      const connection = connect({ config, sources }, { clock: requests })
      for (const place of Object.values(connection.account.places)) makePrivateNow(place)
      const log = pino({ level: 'silent' })
      return assemble({ config, connection, mountPoint, log, activity: new Activity(), clock })
    },
    mountable: ({ drive, news, failureLog }: AssembledDrive, mistakes: string[] = []): Mountable => ({
      drive,
      news,
      clock,
      keptSeconds: kernelCacheSeconds(config),
      readOnly: config.access === 'read',
      failed(verb, path, failure) {
        if (failure.kind === 'internal') mistakes.push(`${verb} ${path}: ${failure.stack}`)
        failureLog.note(verb, path, failure)
      },
    }),
  }
}

/** `beside`: the service of another drive, where it is to be the same. */
export async function inProcess(
  t: TestLifetime,
  wish: TestbedOptions = {},
  beside?: TestService,
): Promise<InProcessTestbed> {
  const service = beside ?? (await testService(t, wish))
  const base = await mkdtemp(join(tmpdir(), 'calcfs-drive-'))
  const clock = hastyClock()
  const settings = { url: service.url, ...roomy, ...wish.settings }
  const requests = speedingClock(clock, wish.speedup ?? 1)
  const { password } = wish
  const { config, environment, up, mountable } = assembling(base, settings, { password, clock, requests })
  const mistakes: string[] = []
  const account = accountOf(serviceBase(config), config.user ?? 'demo', config, environment)

  let line = await up()
  const kernel = new HarshKernel()
  kernel.mount(mountable(line, mistakes))
  t.teardown(async () => {
    try {
      await kernel.end()
    } finally {
      await line.close()
      // Remembering a shown text does not delay the read, and may still be in progress.
      await rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
    }
  })
  async function introduced(): Promise<string | undefined> {
    try {
      await introduceDrive(line, account, notTried)
      return undefined
    } catch (thrown) {
      if (!(thrown instanceof Stop)) throw thrown
      return thrown.message
    }
  }
  return {
    name: 'in-process',
    service,
    files: kernel.files,
    device: pageBytes =>
      pageBytes === undefined ? kernel.device : new KernelDevice(mountable(line, mistakes), pageBytes),
    get state() {
      return account.places.state
    },
    get cache() {
      return account.places.cache
    },
    mistakes,
    introduced,
    lastFailure: () => line.failureLog.last,
    async remount(meanwhile = async () => {}) {
      line.stopDeleting()
      await kernel.end()
      await line.close()
      await meanwhile()
      line = await up()
      kernel.mount(mountable(line, mistakes))
      await line.tidy()
    },
    async pass(milliseconds) {
      clock.pass(milliseconds)
    },
  }
}
