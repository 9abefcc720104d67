// `calcfs serve`: runs the bundled service until a signal ends it.
import { once } from 'node:events'
import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { Option } from 'commander'
import { xdg } from '../../config/places.js'
import type { Service } from '../../service/service.js'
import {
  type Access,
  complete,
  type MissingReport,
  poor,
  type Shortcomings,
  type Switch,
  switches,
  switchNames,
} from '../../service/store/options.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { printLine, tell } from '../../terminal/print.js'
import { wholeNumber } from '../../terminal/settings.js'

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
  const { accessLog } = flags
  try {
    const log = accessLog === undefined || accessLog === '-' ? undefined : openSync(accessLog, 'a', 0o600)
    const onAnswer = (access: Access): void => {
      const line = JSON.stringify(access)
      // Written synchronously: a program that reads the file after an answer finds its line.
      if (log === undefined) printLine(line)
      else writeSync(log, `${line}\n`)
    }
    const { startService } = await import('../../service/service.js')
    const service = await startService({
      data: flags.data ?? defaultData(process.env),
      host: flags.host,
      port: flags.port,
      latency: flags.latency,
      tokenLifetime: flags.tokenLifetime,
      shortcomings: shortcomings(flags),
      ...(accessLog === undefined ? {} : { onAnswer }),
    })
    // A second Ctrl-C ends it at once.
    const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    await fill(service, flags.sample === true)
    printLine(`calcfs serve: listening on ${service.url}`)
    if (flags.sample === true) await tellUsers(service)
    await ended
    await service.close()
  } catch (error) {
    tell(`calcfs serve: ${explained(error, flags)}`)
    process.exitCode = 1
  }
}

function defaultData(environment: NodeJS.ProcessEnv): string {
  const base = xdg(environment, 'XDG_DATA_HOME', '.local/share')
  if (base !== undefined) return join(base, 'calcfs', 'service')
  throw new Stop(exitCodes.usage, 'no home directory is known; name a directory for the data with --data.')
}

/** Commander turns a flag named --no-x into x, true unless it is given. */
function shortcomings(flags: Flags): Shortcomings {
  const base = flags.poor === true ? poor : complete
  const given = switchNames.filter(name => flags[name] === !switches[name][0].startsWith('--no-'))
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
  printLine(`calcfs serve: users of the sample: ${names.join(', ')}`)
}

function explained(error: unknown, flags: Flags): string {
  if (!(error instanceof Error)) return String(error)
  const { code, syscall, path }: NodeJS.ErrnoException = error
  if (code === 'EADDRINUSE')
    return `port ${flags.port} is in use; give another one with --port, or --port 0 for any`
  const where = syscall === 'listen' || syscall === 'getaddrinfo' ? `${flags.host}:${flags.port}` : path
  return where === undefined || code === undefined ? error.message : `${where} cannot be used (${code})`
}
