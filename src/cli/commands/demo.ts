// `calcfs demo`: the bundled service with real calculations, mounted in a scratch directory, and a guided tour.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Command } from 'commander'
import { detach, mountedType } from '../../mount/mount-point.js'
import { withExamples } from '../../terminal/examples.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { packageRoot } from '../../terminal/package-root.js'
import { printLine } from '../../terminal/print.js'
import { tour } from '../demo/tour.js'

const launcher = join(packageRoot(), 'bin/calcfs')

/** Milliseconds until the service listens or the drive is mounted. */
const startLimit = 60_000
/** Milliseconds a child may take to exit. */
const endLimit = 20_000

export function demoCommand(): Command {
  const command = new Command('demo')
    .description('try calcfs: a service with sample calculations, mounted, with a short tour')
    .option('--check', 'take the tour alone, then end: exit code 0 if every step was right')
    .action((flags: { check?: true }) => demo(flags.check === true))
  return withExamples(
    command,
    ['calcfs demo', 'look around in it, until Ctrl-C'],
    ['calcfs demo --check', 'does calcfs work on this machine?'],
  )
}

async function demo(check: boolean): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'calcfs-demo-'))
  const drive = join(scratch, 'drive')
  const children: ChildProcess[] = []
  const interrupted = untilSignal()
  try {
    await mkdir(drive)
    const log = join(scratch, 'requests.jsonl')
    const service = child(children, [
      'serve',
      '--port',
      '0',
      '--data',
      join(scratch, 'service'),
      '--sample',
      '--access-log',
      log,
    ])
    const url = await said(service, /listening on (\S+)/, 'the service')
    child(children, ['mount', url, drive, '--user', 'demo', '--log-level', 'warn'], {
      CALCFS_PASSWORD: 'demo',
      XDG_CACHE_HOME: join(scratch, 'cache'),
      XDG_STATE_HOME: join(scratch, 'state'),
    })
    await mounted(drive)
    const right = await tour({ drive, url, requestLog: log, print: line => printLine(line) })
    if (!right)
      throw new Stop(exitCodes.failed, 'a step of the tour did not come out as it should; see above.')
    if (check) return
    printLine(`\nLook around in another terminal or a file manager:  cd ${drive}`)
    printLine('Sign-in: demo / demo. Nothing here outlives this command. Ctrl-C ends it.')
    await interrupted
  } finally {
    await endDemo(drive, children)
    await rm(scratch, { recursive: true, force: true })
    printLine('The demo has ended: unmounted, service stopped, scratch directory removed.')
  }
}

/** A calcfs command in a child process; only this process receives Ctrl-C, and passes it on. */
function child(
  children: ChildProcess[],
  args: readonly string[],
  environment: Record<string, string> = {},
): ChildProcess {
  const started = spawn(process.execPath, [launcher, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
    detached: true,
  })
  children.push(started)
  return started
}

/** The part of a line that a child prints when it is ready. */
async function said(started: ChildProcess, form: RegExp, who: string): Promise<string> {
  const late = setTimeout(() => started.kill(), startLimit)
  try {
    if (started.stdout !== null) {
      for await (const line of createInterface({ input: started.stdout })) {
        const found = form.exec(line)?.[1]
        if (found !== undefined) return found
      }
    }
  } finally {
    clearTimeout(late)
  }
  throw new Stop(exitCodes.failed, `${who} did not come up; its output is above.`)
}

async function mounted(drive: string): Promise<void> {
  const limit = Date.now() + startLimit
  while ((await mountedType(drive)) === undefined) {
    if (Date.now() > limit)
      throw new Stop(exitCodes.noFuse, 'the drive was not mounted; calcfs doctor says what is missing.')
    await new Promise(wake => setTimeout(wake, 100))
  }
}

/** The drive first, so that it ends properly while its service still answers. */
async function endDemo(drive: string, children: readonly ChildProcess[]): Promise<void> {
  for (const started of [...children].reverse()) {
    if (started.exitCode !== null || started.signalCode !== null) continue
    const gone = new Promise(done => started.once('exit', done))
    started.kill('SIGTERM')
    const late = setTimeout(() => started.kill('SIGKILL'), endLimit)
    await gone
    clearTimeout(late)
  }
  if (existsSync('/proc/self/mountinfo') && (await mountedType(drive)) !== undefined) await detach(drive)
}

function untilSignal(): Promise<void> {
  return new Promise(ended => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)
      process.on(signal, () => ended())
  })
}
