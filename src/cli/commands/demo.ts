// `calcfs demo`: the bundled service with real calculations, mounted in a scratch directory, and a guided tour.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Command } from 'commander'
import * as z from 'zod'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { packageRoot } from '../../terminal/package-root.js'
import { printLine } from '../../terminal/print.js'

const launcher = join(packageRoot(), 'bin/calcfs')

/** Milliseconds until the service listens. */
const startLimit = 60_000
/** Milliseconds that the service may take to exit. */
const endLimit = 20_000

export const demoCommand = (): Command =>
  new CliCommand('demo')
    .description('try calcfs: a service with sample calculations, mounted, with a short tour')
    .option('--check', 'take the tour alone, then end: exit code 0 if every step was right')
    .action((flags: { check?: true }) => demo(flags.check === true))
    .examples(
      ['calcfs demo', 'look around in it, until Ctrl-C'],
      ['calcfs demo --check', 'does calcfs work on this machine?'],
    )

async function demo(check: boolean): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'calcfs-demo-'))
  const drive = join(scratch, 'drive')
  const log = join(scratch, 'requests.jsonl')
  const data = join(scratch, 'service')
  const interrupted = untilSignal()
  const service = calcfs(scratch, 'serve', '--port', '0', '--data', data, '--sample', '--access-log', log)
  let isMounted = false
  try {
    await mkdir(drive)
    const url = await listening(service)
    const mounting = calcfs(scratch, 'mount', url, drive, '--user', 'demo', '--log-level', 'warn', '--daemon')
    isMounted = (await ended(mounting)) === 0
    if (!isMounted)
      throw new Stop(exitCodes.noFuse, 'the drive was not mounted; calcfs doctor says what is missing.')
    const right = await tour({ drive, url, requestLog: log })
    if (!right)
      throw new Stop(exitCodes.failed, 'a step of the tour did not come out as it should; see above.')
    if (check) return
    printLine(`\nLook around in another terminal or a file manager:  cd ${drive}`)
    printLine('Sign-in: demo / demo. Nothing here outlives this command. Ctrl-C ends it.')
    await interrupted
  } finally {
    // The drive first, so that it ends properly while its service still answers. A program may still be in it.
    if (isMounted) await ended(calcfs(scratch, 'unmount', '--force', drive))
    service.kill('SIGTERM')
    const late = setTimeout(() => service.kill('SIGKILL'), endLimit)
    await ended(service)
    clearTimeout(late)
    await rm(scratch, { recursive: true, force: true })
    printLine('The demo has ended: unmounted, service stopped, scratch directory removed.')
  }
}

/** A calcfs command in a child process; only this process receives Ctrl-C. */
const calcfs = (scratch: string, ...args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [launcher, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      CALCFS_PASSWORD: 'demo',
      XDG_CACHE_HOME: join(scratch, 'cache'),
      XDG_STATE_HOME: join(scratch, 'state'),
    },
    detached: true,
  })

/** The exit code; null after a signal. */
async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

/** The address that the service prints when it is ready. */
async function listening(service: ChildProcess): Promise<string> {
  const late = setTimeout(() => service.kill(), startLimit)
  try {
    if (service.stdout !== null)
      for await (const line of createInterface({ input: service.stdout })) {
        const found = /listening on (\S+)/.exec(line)?.[1]
        if (found !== undefined) return found
      }
  } finally {
    clearTimeout(late)
  }
  throw new Stop(exitCodes.failed, 'the service did not come up; its output is above.')
}

function untilSignal(): Promise<void> {
  return new Promise(ended => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)
      process.on(signal, () => ended())
  })
}

interface Tour {
  /** Where the drive is mounted. */
  readonly drive: string
  readonly url: string
  /** The service's access log, one JSON line a request. */
  readonly requestLog: string
}

interface Step {
  readonly say: string
  /** A line for sh, run in the drive. */
  readonly command: string
  readonly expect: RegExp
}

/** Milliseconds a command of the tour may take. */
const commandLimit = 60_000
const linesShown = 14

/** The supporting information of the sample: no formula depends on its order, so it may be changed. */
const reordered = 2

const steps: readonly Step[] = [
  {
    say: 'What is at the top of the space of user demo',
    command: 'ls -1 projects',
    expect: /^Water splitting$/m,
  },
  {
    say: 'A sub-project and one of its calculations, with true sizes',
    command:
      "ls -l 'projects/Water splitting/Gas-phase molecules' 'projects/Water splitting/Gas-phase molecules/H2O_opt_freq'",
    expect: /H2O_opt_freq\.xyz$/m,
  },
  {
    say: 'The geometry, generated by the service from output.cml',
    command: "cat 'projects/Water splitting/Gas-phase molecules/H2O_opt_freq/H2O_opt_freq.xyz'",
    expect: /^3\n[^\n]*\n\s*O\s/,
  },
  {
    say: "A path pasted from the platform's web pages works as it is",
    command: "head -c 200 'db/demo/Water splitting/Gas-phase molecules/H2O_opt_freq/output.cml'",
    expect: /<\?xml|<molecule|<module|<cml/,
  },
  {
    say: "A colleague's project that is shared with demo",
    command: "ls -1 'db/guest/HCN isomerisation'",
    expect: /^HCN$/m,
  },
  {
    say: 'Search all outputs as on a local disk',
    command: 'grep -rli --exclude=".*" b3lyp projects | sort | head -5',
    expect: /\S/,
  },
  {
    say: 'The calculations of a report, in order',
    command: `cat reports/${reordered}/order.txt`,
    expect: /\t/,
  },
]

/** Runs the tour; false as soon as a step fails. */
async function tour(place: Tour): Promise<boolean> {
  printLine(`\n${place.url} is mounted on ${place.drive}\n`)
  for (const step of steps) if (!(await take(step, place))) return false
  return reorder(place)
}

async function take({ say, command, expect }: Step, place: Tour): Promise<boolean> {
  printLine(`# ${say}\n$ ${command}`)
  const output = await run(command, place.drive)
  const lines = output.trimEnd().split('\n')
  for (const line of lines.slice(0, linesShown)) printLine(`  ${line}`)
  if (lines.length > linesShown) printLine(`  … ${lines.length - linesShown} more lines`)
  printLine('')
  if (expect.test(output)) return true
  printLine(`  This is wrong: ${expect} was expected.`)
  return false
}

/** As any editor would: the last calculation of the list comes first, and the file is saved. */
async function reorder({ drive, requestLog }: Tour): Promise<boolean> {
  const edit = `const fs = require('fs'), path = 'reports/${reordered}.json'
const report = JSON.parse(fs.readFileSync(path))
report.calculations.unshift(report.calculations.pop())
fs.writeFileSync(path, JSON.stringify(report, null, 2))`
  printLine(
    `# Put the last calculation of the report first, with any editor or program, and save\n$ node <<END\n${edit}\nEND`,
  )
  const before = (await writes(requestLog)).length
  const order = await run(`cut -f1 reports/${reordered}/order.txt`, drive)
  await run(`"$NODE" -e "$EDIT"`, drive, { EDIT: edit, NODE: process.execPath })
  const sent = (await writes(requestLog)).slice(before)
  printLine('  What the service was asked to change:')
  for (const request of sent) printLine(`  ${request.method} ${request.url} → ${request.status}`)
  await run('touch reports', drive)
  const after = await run(`sleep 1.2; cut -f1 reports/${reordered}/order.txt`, drive)
  printLine(`  the order was ${oneLine(order)}, now it is ${oneLine(after)}\n`)
  const ids = order.trim().split('\n')
  const wanted = [...ids.slice(-1), ...ids.slice(0, -1)].join('\n')
  return sent.length === 1 && /report\/calculations$/.test(sent[0]?.url ?? '') && after.trim() === wanted
}

const oneLine = (text: string): string => text.trim().split('\n').join(' ')

async function run(
  command: string,
  directory: string,
  environment: Record<string, string> = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', command], {
    cwd: directory,
    timeout: commandLimit,
    maxBuffer: 16 * 1024 * 1024,
    env: { ...process.env, ...environment },
  })
  return stdout
}

const accessLine = z.object({ method: z.string(), url: z.string(), status: z.number() })

/** The requests that changed something, in order. */
async function writes(log: string): Promise<z.infer<typeof accessLine>[]> {
  const lines = (await readFile(log, 'utf8')).trimEnd().split('\n')
  return lines
    .map(line => accessLine.parse(JSON.parse(line)))
    .filter(({ method, url }) => ['POST', 'PUT', 'DELETE'].includes(method) && !url.endsWith('/login'))
}
