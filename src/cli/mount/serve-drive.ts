// One drive from its configuration to its end: signed in, put together, served on a mount point and to the commands.
import { Activity, lookEvery } from '../../activity/activity.js'
import { noteAccount } from '../../app/account/notes.js'
import { type AssembledDrive, assemble } from '../../app/assemble.js'
import { kernelCacheSeconds, readDeadline } from '../../app/assembly-settings.js'
import { type Connection, connect } from '../../app/connect.js'
import { prepareDirectories, refuseNetworkDisk } from '../../app/own-places.js'
import { introduced, triedPassword } from '../../app/sign-in.js'
import type { Config } from '../../config/config.js'
import { asFailure, Failure } from '../../failure.js'
import { openMetricsPort } from '../../metrics/metrics-port.js'
import type { Mounted } from '../../mount/lifecycle.js'
import { automountType, mountedType } from '../../mount/mount-point.js'
import { type Clock, every } from '../../remote/clock.js'
import type { Capabilities } from '../../remote/rest/lacking.js'
import { seldom } from '../../seldom.js'
import type { Log, LogReader } from '../../terminal/log.js'
import { version } from '../../terminal/package-root.js'
import type { Configured } from '../../terminal/settings.js'
import { serveControl } from '../control/server.js'
import { socketFor } from '../control/socket.js'
import { logCalls, logFailures } from './call-log.js'
import { showNotices } from './desktop-notice.js'
import { mountByOneWay } from './kernel-way.js'

/** The parts that a process gives to its drives. */
export interface Surroundings {
  readonly log: Log
  /** The part of it that can be read back. */
  readonly logLines?: LogReader | undefined
  readonly clock: Clock
  /** Is told the bytes of each long answer. */
  readonly longAnswer: (bytes: number) => void
}

/** The service knows the user, and the commands find the drive; the kernel does not know it yet. */
export interface PreparedDrive {
  /** @throws Stop where the kernel or libfuse refuses */
  mount(): Promise<ServedDrive>
}

export interface ServedDrive {
  /** Resolves when the drive is no longer mounted, by this process or any other. */
  readonly gone: Promise<void>
  /** The operations that the drive lacks, and the advice, in sentences. */
  readonly troubles: readonly string[]
  /** Checks every kept content against its checksum, in the background. */
  check(): void
  /** The drafts that the service does not have. */
  unsent(): ReturnType<AssembledDrive['drafts']['unsent']>
  /** Lets programs have their answers, unmounts, and ends what runs. */
  end(): Promise<void>
}

/**
 * Sends the first request: a wrong password or address ends here with a sentence, before anything is mounted.
 * @throws Stop
 */
export async function prepareDrive(
  given: Configured,
  path: string,
  { log, logLines, clock, longAnswer }: Surroundings,
): Promise<PreparedDrive> {
  const { config, sources } = given
  const capabilities: Capabilities = { sizes: {} }
  const activity = new Activity()
  const warn = seldom((sentence, about = {}) => log.warn(about, sentence), clock)
  const connection = connect(given, {
    capabilities,
    longAnswer,
    trace: log.isLevelEnabled('debug') ? request => log.debug(request, 'request') : undefined,
    requests: activity.requests,
    note: happened => warn(oddity(happened), { happened }),
    clock,
  })
  const refusal = await triedPassword(given, connection.account)
  refuseNetworkDisk(connection.account.places)
  prepareDirectories(connection.account, (sentence, about) => log.warn(about, sentence))
  const socket = await socketFor(path, sources.environment).catch(withoutSocket(log))
  const line = await assemble({
    config,
    connection,
    capabilities,
    mountPoint: path,
    isMount: true,
    controlSocket: socket,
    log,
    logLines,
    activity,
    version: version(),
    clock,
  })
  await introduced(line, connection.account, refusal, (sentence, about) => log.warn(about, sentence)).catch(
    async thrown => {
      await line.close()
      throw thrown
    },
  )
  let tellDevice: (device: string | undefined) => void = () => {}
  const device = new Promise<string | undefined>(resolve => {
    tellDevice = resolve
  })
  const control =
    socket === undefined
      ? undefined
      : await serveControl(
          () => socketFor(path, sources.environment),
          { control: line.control, reader: line.reader, device },
          sentence => log.warn(sentence),
        ).catch(withoutSocket(log))
  return {
    async mount() {
      const { mounted, troubles } = await up(path, { line, connection, config, log, clock, activity }).catch(
        async thrown => {
          tellDevice(undefined)
          await control?.close()
          throw thrown
        },
      )
      tellDevice(mounted.device)
      await noteAccount(connection.account).catch(cause =>
        log.warn({ cause }, 'where this drive is mounted could not be noted for later commands'),
      )
      const watch = await watched(line, { config, log, clock })
      const stopLooking = every(clock, lookEvery, () => activity.pauses.look())
      log.info({ service: connection.account.base.href, user: connection.account.user }, `mounted on ${path}`)
      line.tidy().catch(cause => log.warn({ cause }, 'tidying up after earlier mounts failed'))
      return {
        gone: mounted.gone,
        troubles: [...troubles, ...watch.troubles],
        check: () =>
          void line.check().catch(cause => log.warn({ cause }, 'the kept files could not be counted')),
        unsent: () => line.drafts.unsent(),
        async end() {
          line.stopDeleting()
          // Also after a lazy unmount by force: programs keep their open files.
          await mounted.answered(config.deadlineSave + answerMargin)
          await mounted.unmount()
          stopLooking()
          await watch.stop()
          await control?.close()
          await line.close()
        },
      }
    },
  }
}

const oddity = (happened: unknown): string =>
  happened instanceof Failure ? happened.message : 'the service sent something unexpected'

/** The drive works without the socket, only the commands that use it do not. */
const withoutSocket =
  (log: Log) =>
  (thrown: unknown): undefined => {
    log.warn(`calcfs why, refresh, drafts and report cannot reach this drive: ${asFailure(thrown).message}`)
  }

async function up(
  path: string,
  parts: {
    line: AssembledDrive
    connection: Connection
    config: Config
    log: Log
    clock: Clock
    activity: Activity
  },
): Promise<{ readonly mounted: Mounted; readonly troubles: readonly string[] }> {
  const { line, connection, config, log, clock, activity } = parts
  const longest = Math.max(readDeadline(config), config.deadlineSave)
  const settings = {
    source: sourceShown(config.url, connection.account.base.href),
    readOnly: config.access === 'read',
    onAutomount: (await mountedType(path)) === automountType,
    allowOther: config.allowOther,
    cacheSeconds: kernelCacheSeconds(config),
    xattrs: config.xattrs,
    timer: longest + timerMargin,
  }
  logCalls(activity.calls, { log, clock })
  const failed = logFailures(line.failureLog, { log, clock })
  try {
    const { drive, news } = line
    const served = { drive, news, log: { failed, calls: activity.calls }, clock }
    const { mounted, way, because } = await mountByOneWay({ path, served, settings }, config.kernel)
    activity.kernel.way = way
    activity.kernel.because = because
    if (way === config.kernel || process.platform !== 'linux') return { mounted, troubles: [] }
    const trouble = `the kernel is spoken to through libfuse, not by calcfs itself: ${because}; calcfs doctor says what mends it.`
    log.warn(trouble)
    return { mounted, troubles: [trouble] }
  } catch (thrown) {
    await line.close()
    throw thrown
  }
}

/** The address as it was typed, so that `mount -a` finds the line of /etc/fstab mounted; commands compare its beginning. */
const sourceShown = (typed: string | undefined, base: string): string =>
  typed !== undefined && base.startsWith(typed) ? typed : base

/** Milliseconds by which the binding's own timer is later than every deadline. */
const timerMargin = 10_000

/** Milliseconds by which the answer to a save may be later than its deadline. */
const answerMargin = 2_000

export interface Watch {
  /** The sentences about them for the user of a new mount. */
  readonly troubles: readonly string[]
  stop(): Promise<void>
}

/** Begins both. Where they cannot be had, the drive works all the same. */
export async function watched(
  { control }: AssembledDrive,
  { config, log, clock }: { readonly config: Config; readonly log: Log; readonly clock: Clock },
): Promise<Watch> {
  const troubles: string[] = []
  const warn = (sentence: string): void => log.warn(sentence)
  const port =
    config.metrics === undefined
      ? undefined
      : await openMetricsPort(config.metrics, control).catch((thrown: unknown) => {
          const { message } = asFailure(thrown)
          troubles.push(message)
          warn(message)
        })
  if (port) {
    // Histograms begin with the first question.
    await control.metrics({})
    log.info(`metrics at http://${port.address}/metrics, health at /healthz`)
  }
  const stopNotices = config.notify ? showNotices(clock, () => control.activity({}), warn) : () => {}
  return {
    troubles,
    async stop() {
      stopNotices()
      await port?.close()
    },
  }
}
