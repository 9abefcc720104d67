// `calcfs demo`: the bundled service with real calculations, mounted in a scratch directory, and what to try there.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import type { Service } from '../../service/service.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop, untilSignal } from '../../terminal/exit.js'
import { packageRoot } from '../../terminal/package-root.js'
import { printLine } from '../../terminal/print.js'

const launcher = join(packageRoot(), 'bin/calcfs')

export const demoCommand = (): Command =>
  new CliCommand('demo')
    .description('try calcfs: a service with sample calculations, mounted, and what to look at')
    .action(demo)
    .examples(
      ['calcfs demo', 'look around in it, until Ctrl-C'],
      ['calcfs --debug demo', 'the same, and where in the program an error came from'],
    )

async function demo(): Promise<void> {
  const [{ startService }, { loadSample }] = await Promise.all([
    import('../../service/service.js'),
    import('../../service/sample.js'),
  ])
  const scratch = await mkdtemp(join(tmpdir(), 'calcfs-demo-'))
  const drive = join(scratch, 'drive')
  const interrupted = untilSignal('SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT')
  let [service, isMounted]: [Service | undefined, boolean] = [undefined, false]
  try {
    service = await startService({ data: join(scratch, 'service') })
    loadSample(service.seed)
    await mkdir(drive)
    isMounted = await calcfs(scratch, 'mount', service.url, drive, '--user=demo', '--daemon')
    if (!isMounted)
      throw new Stop(exitCodes.noFuse, 'the drive was not mounted; calcfs doctor says what is missing.')
    printLine(whatToTry(service.url, drive))
    await interrupted
  } finally {
    // The drive first, so that it ends properly while its service still answers. A program may still be in it.
    const isAllSaved = !isMounted || (await calcfs(scratch, 'unmount', '--force', drive))
    await service?.close()
    if (isAllSaved) await rm(scratch, { recursive: true, force: true })
    printLine(`The demo has ended: service stopped, ${scratch} ${isAllSaved ? 'removed' : 'kept'}.`)
  }
}

/** True if a calcfs command in a child process has ended well; only this process receives Ctrl-C. */
async function calcfs(scratch: string, ...args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, [launcher, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      CALCFS_PASSWORD: 'demo',
      XDG_CACHE_HOME: join(scratch, 'cache'),
      XDG_STATE_HOME: join(scratch, 'state'),
    },
    detached: true,
  })
  const [code] = await once(child, 'exit')
  return code === 0
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
sed -i 's/Supporting information:/SI:/' reports/2.json   # another title: one PUT; any editor will do
calcfs status; calcfs history reports/2.json        # is all saved, and what was there before?

Sign-in: demo / demo. Nothing here outlives this command. Ctrl-C ends it.`
