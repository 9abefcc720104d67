// One drive from its configuration to its end: signed in, put together, served on a mount point and to the commands.
import { setFlagsFromString } from 'node:v8'
import { Activity } from '../../activity/activity.js'
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
import { automountType, mountAt } from '../../mount/mount-point.js'
import type { Clock } from '../../remote/clock.js'
import { seldom } from '../../seldom.js'
import type { Log } from '../../terminal/log.js'
import type { Configured } from '../../terminal/settings.js'
import { type ControlServer, serveControl } from '../control/server.js'
import { socketFor } from '../control/socket.js'
import { logCalls, logFailures } from './call-log.js'
import { noticesObstacle, showNotices } from './desktop-notice.js'
import { mountByOneWay } from './kernel-way.js'

interface Surroundings {
  readonly log: Log
  readonly clock: Clock
  /** Is told the bytes of each long answer. */
  readonly longAnswer: (bytes: number) => void
}

/**
 * Sends the first request: a wrong password or address ends here with a sentence, before anything is mounted. The commands find
 * the drive then; the kernel does not know it yet.
 * @throws Stop
 */
export async function prepareDrive(given: Configured, path: string, surroundings: Surroundings) {
  const { config, sources } = given
  const { log, clock, longAnswer } = surroundings
  const activity = new Activity()
  const warn = seldom((sentence, about = {}) => log.warn(about, sentence), clock)
  const connection = connect(given, {
    longAnswer,
    trace: log.isLevelEnabled('debug') ? request => log.debug(request, 'request') : undefined,
    requests: activity.requests,
    note: happened => warn(oddity(happened), { happened }),
    clock,
  })
  const refusal = await triedPassword(config, connection)
  refuseNetworkDisk(connection.account.places)
  prepareDirectories(connection.account, (sentence, about) => log.warn(about, sentence))
  const place = (): Promise<string> => socketFor(path, sources.environment)
  const socket = await place().catch(withoutSocket(log))
  const line = await assemble({
    config,
    connection,
    mountPoint: path,
    isMount: true,
    controlSocket: socket,
    log,
    activity,
    clock,
  })
  let control: ControlServer | undefined
  let tellDevice: (device: string | undefined) => void = () => {}
  const device = new Promise<string | undefined>(resolve => {
    tellDevice = resolve
  })
  const closing = async (thrown: unknown): Promise<never> => {
    tellDevice(undefined)
    await control?.close()
    await line.close()
    throw thrown
  }
  const away = await introduced(line, connection.account, refusal).catch(closing)
  if (away !== undefined) log.warn(away)
  if (socket !== undefined) {
    const { control: calls, reader } = line
    const asked = { control: calls, reader, device, patience: answersWithin(config) }
    control = await serveControl(place, asked, told => log.warn(told)).catch(withoutSocket(log))
  }
  return {
    /** @throws Stop where the kernel or libfuse refuses */
    async mount() {
      const parts = { path, line, connection, config, log, clock, activity }
      // The engine compiles plainly at the first call, and interprets nothing: the first warm walk took twice as long as the tenth.
      setFlagsFromString('--always-sparkplug')
      void line.listTop()
      const { mounted, trouble } = await up(parts).catch(closing)
      tellDevice(mounted.device)
      const served = await begun(parts, mounted, control)
      return { ...served, troubles: [away, trouble, ...served.troubles].filter(one => one !== undefined) }
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

interface DriveParts {
  readonly path: string
  readonly line: AssembledDrive
  readonly connection: Connection
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly activity: Activity
}

async function up({ path, line, connection, config, log, clock, activity }: DriveParts) {
  const settings = {
    source: sourceShown(config.url, connection.account.base.href),
    readOnly: config.access === 'read',
    onAutomount: (await mountAt(path))?.type === automountType,
    allowOther: config.allowOther,
    cacheSeconds: kernelCacheSeconds(config),
    xattrs: config.xattrs,
    timer: Math.max(readDeadline(config), config.deadlineSave) + timerMargin,
  }
  logCalls(activity.calls, { log, clock })
  const failed = logFailures(line.failureLog, { log, clock })
  const served = { drive: line.drive, news: line.news, log: { failed, calls: activity.calls }, clock }
  const { mounted, way, because } = await mountByOneWay({ path, served, settings }, config.kernel)
  activity.kernel.way = way
  activity.kernel.because = because
  if (way === config.kernel || process.platform !== 'linux') return { mounted, trouble: undefined }
  const trouble = `the kernel is spoken to through libfuse, not by calcfs itself: ${because}; calcfs doctor says what mends it.`
  log.warn(trouble)
  return { mounted, trouble }
}

async function begun(
  { path, line, connection, config, log, clock }: DriveParts,
  mounted: Mounted,
  control: ControlServer | undefined,
) {
  await noteAccount(connection.account).catch(cause =>
    log.warn({ cause }, 'where this drive is mounted could not be noted for later commands'),
  )
  const troubles: string[] = []
  const unshown = config.notify ? await noticesObstacle(process.env) : undefined
  if (unshown !== undefined) troubles.push(unshown)
  const port = await metricsPort(line, config, log).catch((thrown: unknown) => {
    troubles.push(asFailure(thrown).message)
  })
  for (const trouble of troubles) log.warn(trouble)
  const look = (): ReturnType<typeof line.control.activity> => line.control.activity({})
  const stopNotices = config.notify ? showNotices(clock, look, sentence => log.warn(sentence)) : () => {}
  log.info({ service: connection.account.base.href, user: connection.account.user }, `mounted on ${path}`)
  line.tidy().catch(cause => log.warn({ cause }, 'tidying up after earlier mounts failed'))
  return {
    /** Resolves when the drive is no longer mounted, by this process or any other. */
    gone: mounted.gone,
    user: connection.account.user,
    troubles,
    unsent: () => line.drafts.unsent(),
    /** Lets programs have their answers, unmounts, and ends what runs. */
    async end(): Promise<void> {
      line.stopDeleting()
      // Also after a lazy unmount by force: programs keep their open files.
      await mounted.answered(answersWithin(config))
      await mounted.unmount()
      stopNotices()
      await port?.close()
      await control?.close()
      await line.close()
    },
  }
}

export type ServedDrive = Awaited<ReturnType<Awaited<ReturnType<typeof prepareDrive>>['mount']>>

/** Where it cannot be had, the drive works all the same. */
async function metricsPort({ control }: AssembledDrive, config: Config, log: Log) {
  if (config.metrics === undefined) return undefined
  const port = await openMetricsPort(config.metrics, control)
  // Histograms begin with the first question.
  await control.metrics({})
  log.info(`metrics at http://${port.address}/metrics, health at /healthz`)
  return port
}

/** The address as it was typed, so that `mount -a` finds the line of /etc/fstab mounted; commands compare its beginning. */
const sourceShown = (typed: string | undefined, base: string): string =>
  typed !== undefined && base.startsWith(typed) ? typed : base

/** Milliseconds by which the binding's own timer is later than every deadline. */
const timerMargin = 10_000

/** Milliseconds in which what is asked of a drive that ends is answered, a save included. */
const answersWithin = ({ deadlineSave }: Config): number => deadlineSave + 2_000
