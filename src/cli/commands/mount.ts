// `calcfs mount URL DIR`: mounts the drive, stays until it is unmounted, and shuts everything down in order.
import { execFile } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Command } from 'commander'
import { Option } from 'commander'
import { defaultLogFile } from '../../config/places.js'
import { recordPhrase } from '../../edit/journal/record-key.js'
import { automountType, fitness, mountAt, mountPath, type Unfit } from '../../mount/mount-point.js'
import { type SeldomClock, seldom } from '../../seldom.js'
import { codeOf } from '../../system/error-code.js'
import { makeDirectoriesNow, privateFile } from '../../system/own-file.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop, untilSignal } from '../../terminal/exit.js'
import type { Log } from '../../terminal/log.js'
import { complain, jsonFlag, printJson, printLine } from '../../terminal/print.js'
import { type Configured, configured, withEverydaySettings } from '../../terminal/settings.js'
import {
  forgetOwnSecrets,
  inBackground,
  isInBackground,
  type StartedMount,
  secretsOfStarter,
  tellStarter,
  waitingSentence,
} from '../mount/daemon.js'
import type { ServedDrive } from '../mount/serve-drive.js'

interface Flags {
  readonly daemon?: true
  readonly quiet?: true
  readonly json?: true
  /** This process was started by one with --daemon. */
  readonly inBackground?: true
  /** In a systemd unit: `calcfs hand-over` mounts it. */
  readonly handOver?: true
}

export const mountCommand = (): Command =>
  withEverydaySettings(
    new CliCommand('mount')
      .description('mount the drive; it stays in the foreground unless --daemon is given')
      .argument(
        '<url>',
        'address of the service, https://host is enough; may be left out where a configuration file names it',
      )
      .argument('[directory]', 'an empty directory to mount on')
      .option('--daemon', 'go to the background once the drive is mounted')
      .addOption(new Option('--in-background').hideHelp())
      .option('--quiet', 'with --daemon: print nothing where the drive is mounted')
      .addOption(jsonFlag('with --daemon: {"mountPoint", "user", "pid", "unsaved"}'))
      .addOption(new Option('--hand-over').hideHelp())
      .action((first: string, second: string | undefined, flags: Flags, command: Command) =>
        second === undefined
          ? mount(configured(command), refuseAddress(first), flags)
          : mount(configured(command, refuseSwapped(first, second)), second, flags),
      )
      .examples(
        ['calcfs mount https://lab.example.org ~/lab --daemon', 'in the background'],
        ['calcfs mount --profile group ~/group', 'as a profile of the configuration file says'],
        ['calcfs mount https://lab.example.org ~/lab --access read', 'look, and change nothing'],
      ),
  )

async function mount(given: Configured, directory: string, flags: Flags): Promise<void> {
  if (flags.json === true && flags.daemon !== true && flags.inBackground !== true)
    throw new Stop(exitCodes.usage, '--json is for a drive in the background; add --daemon.')
  const path = await mountPath(resolve(directory))
  const unfit = await fitness(path)
  if (unfit !== undefined) throw new Stop(exitCodes.mountPoint, unfitSentences[unfit](path))
  const { withPassword } = await import('../../app/sign-in.js')
  const asked = await withPassword(await withOwnSecrets(given, flags))
  if (flags.daemon === true) {
    const staysInGroup = (await mountAt(path))?.type === automountType
    return sayMounted(await inBackground(asked.sources.environment, staysInGroup), flags)
  }
  await serveMount(asked, path, flags)
}

function sayMounted(started: StartedMount, { quiet, json }: Flags): void {
  const { troubles, ...facts } = started
  for (const trouble of troubles) complain(trouble)
  const { mountPoint, user, pid, unsaved } = facts
  if (json === true) printJson(facts)
  else if (quiet !== true)
    printLine(`mounted ${mountPoint} as ${user} (process ${pid}); calcfs unmount ${mountPoint} ends it`)
  if (unsaved > 0 && json !== true) printLine(waitingSentence(unsaved))
}

/** Those of the environment live in this process's memory from here on. */
async function withOwnSecrets({ config, sources }: Configured, flags: Flags): Promise<Configured> {
  const secrets = flags.inBackground === true ? await secretsOfStarter() : {}
  const environment = { ...sources.environment, ...secrets }
  forgetOwnSecrets()
  return { config, sources: { ...sources, environment } }
}

/** With one argument it is the directory, and the address comes from the configuration. */
function refuseAddress(directory: string): string {
  if (!/^https?:\/\//.test(directory)) return directory
  throw new Stop(exitCodes.usage, `no directory is given. Write: calcfs mount ${directory} DIRECTORY`)
}

/** An address cannot be a directory that is meant. */
function refuseSwapped(address: string, directory: string): string {
  if (!/^https?:\/\//.test(directory) || /^https?:\/\//.test(address)) return address
  throw new Stop(exitCodes.usage, `the address comes first. Write: calcfs mount ${directory} ${address}`)
}

const unfitSentences: Readonly<Record<Unfit, (path: string) => string>> = {
  missing: path => `${path} does not exist; make it first: mkdir -p ${path}`,
  'not-a-directory': path => `${path} is not a directory; name an empty one.`,
  'not-empty': path => `${path} is not empty; mount on an empty directory, so that nothing is hidden.`,
  'in-use': path =>
    `something is mounted on ${path} already; remove it with calcfs unmount ${path}, or name another directory.`,
  'in-drive': path => `${path} is inside a mounted drive; name a directory outside of it.`,
  silent: path =>
    `what is mounted on ${path} does not answer; remove it with calcfs unmount --force ${path}, or name another directory.`,
  'not-allowed': path => `${path} cannot be read by you; name a directory of your own.`,
}

async function serveMount(asked: Configured, path: string, { handOver }: Flags): Promise<void> {
  const given = { ...asked, config: withLogFile(asked, path) }
  // The directory in which it was called stays free.
  if (isInBackground()) process.chdir('/')
  const { environment } = given.sources
  const [{ openLog }, { systemClock }, { giveMemoryBack }, { prepareDrive }] = await Promise.all([
    import('../../terminal/log.js'),
    import('../../remote/clock.js'),
    import('../mount/give-back.js'),
    import('../mount/serve-drive.js'),
  ])
  const log = await openLog(given.config)
  const surroundings = { log, clock: systemClock, longAnswer: giveMemoryBack() }
  const prepared = await prepareDrive(given, path, surroundings)
  surviveBugs(log, systemClock)
  // Before the kernel knows the mount: a signal right after it must not leave a dead mount point.
  ignoreUserSignals(log)
  const ended = untilSignal(...ends)
  // systemd then starts `calcfs hand-over`, the ExecStartPost= of the unit, which is up when that has ended.
  if (handOver === true) await notifySystemd('READY=1', environment)
  const served = await prepared.mount()
  if (handOver === true) {
    const { sayUp } = await import('../mount/hand-over.js')
    await sayUp(environment['RUNTIME_DIRECTORY'] ?? '')
  }
  const unsaved = served.unsent()
  if (unsaved.length > 0) log.warn(waitingSentence(unsaved.length))
  // Of a log that is a file the terminal shows nothing.
  if (given.config.logFile !== undefined && !isInBackground())
    for (const trouble of served.troubles) complain(trouble)
  tellStarter({ mountPoint: path, user: served.user, unsaved: unsaved.length, troubles: served.troubles })
  if (handOver !== true) await notifySystemd('READY=1', environment)
  await Promise.race([ended, served.gone])
  await notifySystemd('STOPPING=1', environment)
  try {
    await served.end()
    sayUnsent(served.unsent(), log)
  } catch (cause) {
    log.error({ cause }, 'running operations could not be ended properly')
    process.exitCode = 1
  }
  log.info(`unmounted ${path}`)
  await new Promise<void>(told => {
    setTimeout(told, lastWordsMs)
    log.flush(() => told())
  })
  // libfuse's thread does not end by itself after a lazy unmount.
  process.exit()
}

/** In the background there is no terminal: the log is a file below the state directory, where no other is named. */
function withLogFile({ config, sources }: Configured, path: string): Configured['config'] {
  if (config.logFile !== undefined || !isInBackground()) return config
  const logFile = defaultLogFile(path, config, sources.environment)
  try {
    makeDirectoriesNow(dirname(logFile))
    closeSync(openSync(logFile, 'a', privateFile))
    return { ...config, logFile }
  } catch (thrown) {
    if (codeOf(thrown) === undefined) throw thrown
    // A full or closed disk takes no mount away.
    return config
  }
}

/** Milliseconds for which the end waits for the reader of its log. */
const lastWordsMs = 1_000

/** A bug must not end the mount and the open files of the user's programs; it is logged with its stack. */
function surviveBugs(log: Log, clock: SeldomClock): void {
  const bug = seldom((sentence, about = {}) => log.error(about, sentence), clock)
  const sentence = 'a bug in calcfs; the mount goes on'
  process.removeAllListeners('uncaughtException')
  const tell = (thrown: unknown): void => {
    const { stack, message } = thrown instanceof Error ? thrown : new Error(String(thrown))
    bug(sentence, { stack, why: message })
  }
  process.on('uncaughtException', tell)
  process.on('unhandledRejection', tell)
}

/** Other daemons reopen their log or print their progress on these. */
function ignoreUserSignals(log: Log): void {
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const)
    process.on(signal, () => log.info(`${signal} is ignored`))
}

/** Signals that would end the process at once cause an orderly end. */
const ends = [
  ...(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const),
  ...(['SIGXCPU', 'SIGALRM', 'SIGVTALRM', 'SIGIO', 'SIGPWR', 'SIGSTKFLT'] as const),
]

function sayUnsent(unsent: ReturnType<ServedDrive['unsent']>, log: Log): void {
  if (unsent.length === 0) return
  const names = unsent.map(({ key }) => (key === undefined ? 'a record' : recordPhrase(key))).join(', ')
  log.warn(
    `not saved on the service: ${names}; the texts are kept and will be in .calcfs/drafts at the next mount`,
  )
  process.exitCode = exitCodes.unsent
}

const notifyDeadline = 5000

/** Does nothing outside a unit that waits for it, and has NotifyAccess=all. @throws where systemd-notify fails: the unit would be killed at its start-up limit, and should say why */
async function notifySystemd(
  state: 'READY=1' | 'STOPPING=1',
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  if (!environment['NOTIFY_SOCKET']) return
  await promisify(execFile)('systemd-notify', [state], { timeout: notifyDeadline })
}
