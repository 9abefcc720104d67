// A process that serves drives on mount points for one test file after another of its promises: a daemon that is not started each time.
import { prepareDrive, type ServedDrive } from '../../src/cli/mount/serve-drive.js'
import { readConfig } from '../../src/config/config.js'
import { openLog } from '../../src/terminal/log.js'
import { type HastyClock, hastyClock } from './clocks.js'
import { serve } from './machine/host.js'
import type { HostAnswer, HostWork } from './warm-mount.js'

const served = new Map<string, { readonly drive: ServedDrive; readonly clock: HastyClock }>()
/** What is being done for a directory, for a test that finds it late. */
const stages = new Map<string, string>()

const stageOf = (directory: string): string =>
  `${stages.get(directory) ?? 'nothing begun'}; this process waits for ${process.getActiveResourcesInfo().join(' ')}`

async function carryOut(work: HostWork): Promise<string | undefined> {
  switch (work.verb) {
    case 'mount': {
      const sources = { flags: work.flags, environment: work.environment, files: [] }
      const config = readConfig(sources)
      const clock = hastyClock()
      stages.set(work.directory, 'the log is opened')
      const surroundings = { log: await openLog(config), clock, longAnswer: () => {} }
      stages.set(work.directory, 'the drive is put together, and signs in')
      const prepared = await prepareDrive({ config, sources }, work.directory, surroundings)
      stages.set(work.directory, 'it is mounted')
      served.set(work.directory, { drive: await prepared.mount(), clock })
      stages.set(work.directory, 'it is served')
      return
    }
    case 'end': {
      const known = served.get(work.directory)
      served.delete(work.directory)
      stages.set(work.directory, 'it is ended')
      await known?.drive.end()
      stages.delete(work.directory)
      return
    }
    case 'pass':
      served.get(work.directory)?.clock.pass(work.milliseconds)
      return
    case 'stage':
      return stageOf(work.directory)
  }
}

serve<HostWork, HostAnswer>(work =>
  carryOut(work).then(
    stage => (stage === undefined ? {} : { stage }),
    (thrown: unknown) => ({ failed: String(thrown) }),
  ),
)

/** The tests have ended, however they did: no mount may be left behind. */
function endAll(): void {
  void Promise.allSettled([...served.values()].map(({ drive }) => drive.end())).finally(() => process.exit())
}
process.on('disconnect', endAll)
// Ctrl-C at a run of the tests comes to this process, too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, endAll)
