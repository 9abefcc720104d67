// `calcfs serve`: runs the bundled service until a signal ends it.

import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { Option } from 'commander'
import type { Service } from '../../service/service.js'
import {
  type Access,
  complete,
  type MissingReport,
  poor,
  type Shortcomings,
} from '../../service/store/options.js'
import { homeOf } from '../../system/user-name.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { printText, tell } from '../../terminal/print.js'
import { wholeNumber } from '../../terminal/settings.js'

type Switch = Exclude<keyof Shortcomings, 'missingReport'>

interface Flags extends Readonly<Partial<Record<Switch, boolean>>> {
  readonly port: number
  readonly host: string
  readonly data?: string
  readonly sample?: true
  readonly latency: number
  readonly accessLog?: string
  readonly tokenLifetime: number
  readonly poor?: true
  readonly missingReport?: MissingReport
}

/** The operations that an instance may lack, by their flags. Commander turns a flag named --no-x into x, true unless it is given. */
const switches: Readonly<Record<Switch, readonly [flag: string, says: string]>> = {
  head: ['--no-head', 'HEAD answers 405'],
  range: ['--no-range', 'a Range header is ignored'],
  contentLength: ['--no-content-length', 'content is sent without its length'],
  root: ['--no-root', '/db/<user> has no id'],
  unquotedLists: ['--unquoted-lists', 'file lists are written [a.in, output.cml]'],
  hide: ['--hide', '404 instead of 403 for what the caller has no right to see'],
  onlyReportType: ['--only-report-type', '404 on /report/types'],
  onlyNinePaths: [
    '--only-nine-paths',
    "what the platform's public listing names: 404 on /user/info, /navigation/path/resolve, /project/share, /calculation/xyz and /report/types",
  ],
  bareListings: ['--bare-listings', 'listings say id and name only'],
  loseRowTitles: ['--lose-row-titles', "setting a report's list forgets the titles of its rows"],
  ownSpelling: ['--own-spelling', 'names and titles are stored with underscores for blanks'],
}

/** The command; it prints one line with the URL once the service listens. */
export function serveCommand(): Command {
  const command = new CliCommand('serve')
    .description('run the bundled service: the whole REST API on a database of its own')
    .option('--port <number>', 'TCP port; 0 takes any free one', wholeNumber(0, 65535), 8420)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--data <directory>', 'where its data lie (default: $XDG_DATA_HOME/calcfs/service)')
    .option('--sample', 'put the sample calculations in, if the service is still empty')
    .option('--latency <milliseconds>', 'delay before each answer', wholeNumber(0, 3_600_000), 0)
    .option('--access-log <file>', 'one JSON line a request; - for standard output')
    .option('--token-lifetime <seconds>', 'how long a token is good for', wholeNumber(1, 10_000_000), 86_400)
    .optionsGroup('What this instance lacks:')
    .option('--poor', 'everything below but --only-nine-paths')
  for (const [flag, says] of Object.values(switches)) command.option(flag, says)
  command
    .addOption(
      new Option(
        '--missing-report <status>',
        'what a report that is not there answers (default: 400)',
      ).choices(['400', '404', 'null']),
    )
    .action(serve)
  return command.examples(
    ['calcfs serve --sample', 'sample calculations at http://127.0.0.1:8420, user demo, password demo'],
    ['calcfs serve --sample --port 0 --latency 80', 'at any free port, as slow as one far away'],
    ['calcfs serve --sample --only-nine-paths', 'an instance that is mounted with --root ID'],
  )
}

async function serve(flags: Flags): Promise<void> {
  let log: AccessLog | undefined
  try {
    if (flags.accessLog !== undefined) log = openAccessLog(flags.accessLog)
    const { startService } = await import('../../service/service.js')
    const service = await startService({
      data: flags.data ?? defaultData(process.env),
      host: flags.host,
      port: flags.port,
      latency: flags.latency,
      tokenLifetime: flags.tokenLifetime,
      shortcomings: shortcomings(flags),
      ...(log === undefined ? {} : { onAnswer: log.write }),
    })
    const ended = untilSignal()
    await fill(service, flags.sample === true)
    printText(`calcfs serve: listening on ${service.url}\n`)
    if (flags.sample === true) await tellUsers(service)
    await ended
    await service.close()
  } catch (error) {
    tell(`calcfs serve: ${explained(error, flags)}`)
    process.exitCode = 1
  } finally {
    log?.close()
  }
}

/** The service's data directory where no option names one. */
function defaultData(environment: NodeJS.ProcessEnv): string {
  const home = homeOf(environment)
  const base =
    environment['XDG_DATA_HOME'] ?? (home === undefined ? undefined : join(home, '.local', 'share'))
  if (base !== undefined) return join(base, 'calcfs', 'service')
  throw new Stop(exitCodes.usage, 'no home directory is known; name a directory for the data with --data.')
}

function shortcomings(flags: Flags): Shortcomings {
  const base = flags.poor === true ? poor : complete
  const lacks = (name: Switch): boolean => flags[name] === !switches[name][0].startsWith('--no-')
  const given = (Object.keys(switches) as readonly Switch[]).filter(lacks)
  return {
    ...base,
    ...Object.fromEntries(given.map(name => [name, true])),
    missingReport: flags.missingReport ?? base.missingReport,
  }
}

async function fill(service: Service, sample: boolean): Promise<void> {
  if (service.seed.hasUsers()) return
  try {
    if (sample) (await import('../../service/sample.js')).loadSample(service.seed)
    else tell('calcfs serve: there is no user yet, so no log-in is possible; --sample makes demo and guest')
  } catch (error) {
    await service.close()
    throw error
  }
}

/** A directory that was there before may have other users. */
async function tellUsers(service: Service): Promise<void> {
  const { sampleUsers } = await import('../../service/sample.js')
  const users = sampleUsers().filter(({ name }) => service.seed.hasUser(name))
  const names = users.map(({ name, password }) => `${name} (password ${password})`)
  printText(`calcfs serve: users of the sample: ${names.join(', ')}\n`)
}

function untilSignal(): Promise<void> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}

interface AccessLog {
  readonly write: (access: Access) => void
  readonly close: () => void
}

/** Lines are written synchronously, so that a program that reads the file after an answer finds its line. */
function openAccessLog(file: string): AccessLog {
  const descriptor = file === '-' ? 1 : openSync(file, 'a', 0o600)
  return {
    write: access => {
      writeSync(descriptor, `${JSON.stringify(access)}\n`)
    },
    close: () => {
      if (descriptor !== 1) closeSync(descriptor)
    },
  }
}

function explained(error: unknown, flags: Flags): string {
  if (!(error instanceof Error)) return String(error)
  const { code, syscall, path }: NodeJS.ErrnoException = error
  if (code === 'EADDRINUSE')
    return `port ${flags.port} is in use; give another one with --port, or --port 0 for any`
  const where = syscall === 'listen' || syscall === 'getaddrinfo' ? `${flags.host}:${flags.port}` : path
  return where === undefined || code === undefined ? error.message : `${where} cannot be used (${code})`
}
