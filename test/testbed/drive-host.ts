// A process that serves drives on mount points for one test file after another of its promises: a daemon that is not started each time.
import { prepareDrive, type ServedDrive } from '../../src/cli/mount/serve-drive.js'
import { readConfig } from '../../src/config/config.js'
import { openLog } from '../../src/terminal/log.js'
import { type HastyClock, hastyClock } from './clocks.js'
import type { HostAnswer, HostCall } from './host-protocol.js'

interface Served {
  readonly drive: ServedDrive
  readonly clock: HastyClock
}

const served = new Map<string, Served>()

async function carryOut({ work }: HostCall): Promise<void> {
  switch (work.verb) {
    case 'mount': {
      const sources = { flags: work.flags, environment: work.environment, files: [] }
      const config = readConfig(sources)
      const clock = hastyClock()
      const surroundings = { log: await openLog(config), clock, longAnswer: () => {} }
      const prepared = await prepareDrive({ config, sources }, work.directory, surroundings)
      served.set(work.directory, { drive: await prepared.mount(), clock })
      return
    }
    case 'end': {
      const known = served.get(work.directory)
      served.delete(work.directory)
      return known?.drive.end()
    }
    case 'pass':
      served.get(work.directory)?.clock.pass(work.milliseconds)
  }
}

const answer = (said: HostAnswer): void => void process.send?.(said)

process.on('message', (call: HostCall) => {
  carryOut(call).then(
    () => answer({ number: call.number }),
    (thrown: unknown) => answer({ number: call.number, failed: String(thrown) }),
  )
})

/** The tests have ended, however they did: no mount may be left behind. */
function endAll(): void {
  void Promise.allSettled([...served.values()].map(({ drive }) => drive.end())).finally(() => process.exit())
}
process.on('disconnect', endAll)
// Ctrl-C at a run of the tests comes to this process, too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, endAll)
