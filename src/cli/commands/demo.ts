// `calcfs demo`: the bundled service with real calculations, mounted in a scratch directory, and what to try there.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Command } from 'commander'
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
    .description('try calcfs: a service with sample calculations, mounted, and what to look at')
    .action(demo)
    .examples(
      ['calcfs demo', 'look around in it, until Ctrl-C'],
      ['calcfs --debug demo', 'the same, and where in the program an error came from'],
    )

async function demo(): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'calcfs-demo-'))
  const drive = join(scratch, 'drive')
  const data = join(scratch, 'service')
  const interrupted = untilSignal()
  const service = calcfs(scratch, 'serve', '--port', '0', '--data', data, '--sample')
  let isMounted = false
  try {
    await mkdir(drive)
    const url = await listening(service)
    const mounting = calcfs(scratch, 'mount', url, drive, '--user', 'demo', '--log-level', 'warn', '--daemon')
    isMounted = (await ended(mounting)) === 0
    if (!isMounted)
      throw new Stop(exitCodes.noFuse, 'the drive was not mounted; calcfs doctor says what is missing.')
    printLine(whatToTry(url, drive))
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

const molecules = 'projects/Water splitting/Gas-phase molecules'

const whatToTry = (url: string, drive: string): string => `
${url} is mounted on ${drive}. In another terminal, or in a file manager:

cd ${drive}; PATH=$PATH:${dirname(launcher)}
ls -l '${molecules}/H2O_opt_freq'
cat '${molecules}/H2O_opt_freq/H2O_opt_freq.xyz'    # made by the service from output.cml
grep -rl --include='*.out' B3LYP projects           # search all outputs
ls 'db/guest/HCN isomerisation'                     # what a colleague shares, by its path on the web pages
cat reports/2/order.txt                             # move its lines with an editor, and save: the report has that order
vi reports/2.json                                   # change the title: one PUT
calcfs status; calcfs history reports/2.json        # is all saved, and what was there before?

Sign-in: demo / demo. Nothing here outlives this command. Ctrl-C ends it.`
