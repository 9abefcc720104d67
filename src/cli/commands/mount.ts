// `calcfs mount URL DIR`: mounts the drive, stays until it is unmounted, and shuts everything down in order.
import { resolve } from 'node:path'
import { Command } from 'commander'
import { type AssembledDrive, assemble } from '../../app/assemble.js'
import { kernelCacheSeconds } from '../../app/assembly-settings.js'
import { type Connection, connect } from '../../app/connect.js'
import { prepareDirectories } from '../../app/own-places.js'
import { type LoginRefusal, triedPassword, withPassword } from '../../app/sign-in.js'
import type { Config } from '../../config/config.js'
import { asFailure, Failure } from '../../failure.js'
import type { TraceCall } from '../../mount/fuse.js'
import { mountDrive } from '../../mount/lifecycle.js'
import { fitness, mountPath, type Unfit } from '../../mount/mount-point.js'
import { systemClock } from '../../remote/clock.js'
import type { Capabilities } from '../../remote/rest/capabilities.js'
import { networkFileSystem } from '../../system/network-filesystem.js'
import { type ExitCode, exitCodeOf, exitCodes, Stop } from '../../terminal/exit.js'
import { type Log, openLog } from '../../terminal/log.js'
import { type Configured, configured, withSettings } from '../../terminal/settings.js'
import { version } from '../../terminal/version.js'
import { serveControl } from '../control/server.js'
import { socketFor } from '../control/socket.js'
import { inBackground, tellStarter } from '../mount/daemon.js'
import { giveMemoryBack } from '../mount/give-back.js'
import { notifySystemd } from '../mount/notify.js'

/** Start of the background work, so that the user's first accesses are not delayed. In milliseconds. */
const checkAfterMs = 10_000

interface Flags {
  readonly daemon?: true
}

export function mountCommand(): Command {
  const command = new Command('mount')
    .description('mount the drive; it stays in the foreground unless --daemon is given')
    .argument(
      '<url>',
      'address of the service, https://host is enough; may be left out where a configuration file names it',
    )
    .argument('[directory]', 'an empty directory to mount on')
    .option('--daemon', 'go to the background once the drive is mounted')
    .action((first: string, second: string | undefined, flags: Flags) =>
      second === undefined
        ? mount(configured(command), refuseAddress(first), flags)
        : mount(configured(command, first), second, flags),
    )
  return withSettings(command, 'service', 'log', 'drive')
}

async function mount(given: Configured, directory: string, flags: Flags): Promise<void> {
  const path = await mountPath(resolve(directory))
  await refuseUnfit(path)
  const asked = await withPassword(given)
  if (flags.daemon === true) return inBackground(asked.sources.environment)
  await serveMount(asked, path)
}

/** With one argument it is the directory, and the address comes from the configuration. */
function refuseAddress(directory: string): string {
  if (!/^https?:\/\//.test(directory)) return directory
  throw new Stop(exitCodes.usage, `no directory is given. Write: calcfs mount ${directory} DIRECTORY`)
}

async function refuseUnfit(path: string): Promise<void> {
  const unfit = await fitness(path)
  if (unfit !== undefined) throw new Stop(exitCodes.mountPoint, unfitSentence(unfit, path))
}

function unfitSentence(unfit: Unfit, path: string): string {
  switch (unfit) {
    case 'missing':
      return `${path} does not exist; make it first: mkdir -p ${path}`
    case 'not-a-directory':
      return `${path} is not a directory; name an empty one.`
    case 'not-empty':
      return `${path} is not empty; mount on an empty directory, so that nothing is hidden.`
    case 'in-use':
      return `something is mounted on ${path} already; remove it with calcfs unmount ${path}, or name another directory.`
    case 'in-drive':
      return `${path} is inside a mounted drive; name a directory outside of it.`
    case 'silent':
      return `what is mounted on ${path} does not answer; remove it with calcfs unmount --force ${path}, or name another directory.`
    case 'not-allowed':
      return `${path} cannot be read by you; name a directory of your own.`
  }
}

async function serveMount(given: Configured, path: string): Promise<void> {
  const { config, sources } = given
  const log = openLog(config)
  const capabilities: Capabilities = { sizes: {} }
  const connection = connect(given, {
    capabilities,
    longAnswer: giveMemoryBack(),
    trace: log.isLevelEnabled('debug') ? request => log.debug(request, 'request') : undefined,
    note: happened => log.warn({ happened }, oddity(happened)),
  })
  const refusal = await triedPassword(given, connection.account)
  refuseNetworkDisk(connection.account.places)
  prepareDirectories(connection.account.places, (sentence, about) => log.warn(about, sentence))
  const socket = await socketFor(path, sources.environment).catch(withoutSocket(log))
  let isMounted = async () => true
  const line = await assemble({
    config,
    connection,
    capabilities,
    mountPoint: path,
    isMounted: () => isMounted(),
    controlSocket: socket,
    log,
    version: version(),
    clock: systemClock,
  })
  await introduce(line, connection, log, refusal)
  surviveBugs(log)
  const control =
    socket === undefined ? undefined : await serveControl(socket, line.control).catch(withoutSocket(log))
  // Before the kernel knows the mount: a signal right after it must not leave a dead mount point.
  const ended = untilSignal(log)
  const mounted = await up(path, { line, connection, config, log }).catch(async thrown => {
    await control?.close()
    throw thrown
  })
  isMounted = mounted.isThere
  line.claimMountPoint()
  log.info({ service: connection.account.base.href, user: connection.account.user }, `mounted on ${path}`)
  tellStarter({ mounted: path })
  await notifySystemd('READY=1', sources.environment)
  line.tidy().catch(cause => log.warn({ cause }, 'tidying up after earlier mounts failed'))
  const checking = setTimeout(() => {
    line.check().catch(cause => log.warn({ cause }, 'the kept contents could not be checked'))
  }, checkAfterMs).unref()
  await Promise.race([ended, mounted.gone])
  clearTimeout(checking)
  await notifySystemd('STOPPING=1', sources.environment)
  // Also after a lazy unmount by force: programs keep their open files.
  await mounted.answered(config.deadlineSave + answerMargin)
  await mounted.unmount()
  try {
    await control?.close()
    await line.close()
    sayUnsent(line, log)
  } catch (cause) {
    log.error({ cause }, 'running operations could not be ended properly')
    process.exitCode = 1
  }
  log.info(`unmounted ${path}`)
  // libfuse's thread does not end by itself after a lazy unmount.
  process.exit()
}

const oddity = (happened: unknown): string =>
  happened instanceof Failure ? happened.message : 'the service sent something unexpected'

/** The drive works without the socket, only the commands that use it do not. */
const withoutSocket =
  (log: Log) =>
  (thrown: unknown): undefined => {
    log.warn(`calcfs why, refresh, drafts and report cannot reach this drive: ${asFailure(thrown).message}`)
  }

/** Locks and the ledger need a local disk; calcfs is often used with a home directory on NFS. */
function refuseNetworkDisk(places: Connection['account']['places']): void {
  for (const [what, directory] of Object.entries(places)) {
    const network = networkFileSystem(directory)
    if (network === undefined) continue
    throw new Stop(
      exitCodes.usage,
      `${directory} lies on ${network}, where drafts are not safe from two machines at once; name a local directory with --${what}-dir.`,
    )
  }
}

/**
 * The first request, before anything is mounted: a wrong password or address ends here with a sentence. An outage ends the
 * mount only where nothing of the service is cached; else the drive shows what is cached.
 */
async function introduce(
  line: AssembledDrive,
  { account }: Connection,
  log: Log,
  refusal: LoginRefusal,
): Promise<void> {
  const met = await line.introduce()
  // Without an answer from the service the password is not verified either.
  const failure = met === undefined ? await refusal.known : met
  if (failure === undefined) return
  if (failure.kind === 'unauthenticated') {
    throw await endedBy(
      line,
      exitCodes.signIn,
      `${account.base.origin} does not let ${account.user} in: ${failure.message}`,
    )
  }
  if (line.knowsService) {
    log.warn(
      { kind: failure.kind },
      `the service does not answer, the drive shows what is known: ${failure.message}`,
    )
    return
  }
  const code = exitCodeOf(failure) === exitCodes.unreachable ? exitCodes.unreachable : exitCodes.failed
  throw await endedBy(
    line,
    code,
    `${account.base.href} does not answer as the platform does: ${failure.message}; check the address, or run calcfs doctor.`,
  )
}

async function endedBy(line: AssembledDrive, code: ExitCode, sentence: string): Promise<Stop> {
  await line.close()
  return new Stop(code, sentence)
}

async function up(
  path: string,
  parts: { line: AssembledDrive; connection: Connection; config: Config; log: Log },
) {
  const { line, connection, config, log } = parts
  const longest = Math.max(config.deadlineMetadata, config.deadlineRead, config.deadlineSave)
  const settings = {
    source: connection.account.base.href,
    readOnly: config.access === 'read',
    allowOther: config.allowOther,
    cacheSeconds: kernelCacheSeconds,
    timer: longest + timerMargin,
  }
  const logCall: TraceCall = (verb, at, { milliseconds, errno }) =>
    log.debug({ verb, path: at, ms: Number(milliseconds.toFixed(2)), errno }, 'call')
  const logFailure = (verb: string, at: string, thrown: unknown): void => {
    if (!(thrown instanceof Failure)) return
    line.failureLog.note(verb, at, thrown)
    const level = thrown.kind === 'internal' ? 'error' : 'debug'
    log[level](
      { verb, path: at, kind: thrown.kind, said: thrown.said, stack: stackOf(thrown) },
      thrown.message,
    )
  }
  try {
    const call = log.isLevelEnabled('debug') ? logCall : undefined
    return await mountDrive(path, { drive: line.drive, log: { failed: logFailure, call } }, settings)
  } catch (cause) {
    await line.close()
    throw new Stop(
      exitCodes.noFuse,
      `the kernel or libfuse did not mount ${path} (${cause instanceof Error ? cause.message : String(cause)}); calcfs doctor says what is missing.`,
      { cause },
    )
  }
}

/** Milliseconds by which the binding's own timer is later than every deadline. */
const timerMargin = 10_000

/** Milliseconds by which the answer to a save may be later than its deadline. */
const answerMargin = 2_000

const stackOf = (failure: Failure): string | undefined =>
  failure.kind === 'internal' && failure.cause instanceof Error ? failure.cause.stack : undefined

/** A bug must not end the mount and the open files of the user's programs; it is logged with its stack. */
function surviveBugs(log: Log): void {
  process.on('uncaughtException', cause =>
    log.error({ stack: cause.stack }, 'a bug in calcfs; the mount goes on'),
  )
  process.on('unhandledRejection', cause =>
    log.error(
      { stack: cause instanceof Error ? cause.stack : String(cause) },
      'a bug in calcfs; the mount goes on',
    ),
  )
}

/**
 * Signals that would end the process at once cause an orderly end. SIGUSR1 and SIGUSR2 are ignored: other daemons reopen
 * their log or print their progress on them.
 */
function untilSignal(log: Log): Promise<void> {
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const)
    process.on(signal, () => log.info(`${signal} is ignored`))
  return new Promise(ended => {
    for (const signal of ends) process.on(signal, () => ended())
  })
}

const ends = [
  ...(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const),
  ...(['SIGXCPU', 'SIGALRM', 'SIGVTALRM', 'SIGIO', 'SIGPWR', 'SIGSTKFLT'] as const),
]

function sayUnsent(line: AssembledDrive, log: Log): void {
  const unsent = line.drafts.unsent()
  if (unsent.length === 0) return
  const names = unsent.map(({ key }) => (key === undefined ? 'a record' : `${key.kind} ${key.id}`)).join(', ')
  log.warn(
    `not saved on the service: ${names}; the texts are kept and will be in .calcfs/drafts at the next mount`,
  )
  process.exitCode = exitCodes.unsent
}
