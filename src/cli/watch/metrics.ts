// `calcfs metrics [DRIVE]`: the metrics of a drive as Prometheus reads them, or its health in one line.
import { Command } from 'commander'
import type { HealthLine } from '../../drive/interface/control.js'
import { withExamples } from '../../terminal/examples.js'
import { type ExitCode, exitCodes, Stop } from '../../terminal/exit.js'
import { type JsonFlag, jsonFlag, printFound, printText } from '../../terminal/print.js'
import { drivePath, noneMounted } from '../control/choose.js'
import { driveAt } from '../control/daemon.js'

export function metricsCommand(): Command {
  const command = new Command('metrics')
    .description(
      'print the metrics of a drive as Prometheus reads them; mount with --metrics 127.0.0.1:9464 to have them scraped',
    )
    .argument('[drive]', 'the drive that is meant; default: the one you stand in, or the only one')
    .option(
      '--health',
      'print one line on whether all is well; ends as `calcfs status`: 7 for unsaved edits, 3, 4',
    )
    .addOption(jsonFlag('with --health: {"mountPoint", "isHealthy", "why", "trouble"}'))
    .action((drive: string | undefined, flags: Flags) => metrics(drive, flags))
  return withExamples(
    command,
    ['calcfs metrics ~/lab', 'counters, histograms and gauges of the drive'],
    ['calcfs metrics ~/lab --health', 'is all well?'],
  )
}

interface Flags extends JsonFlag {
  readonly health?: true
}

/** As `calcfs status` ends with them. */
const codes: Readonly<Record<NonNullable<HealthLine['trouble']>, ExitCode>> = {
  unsaved: exitCodes.unsent,
  'signed-out': exitCodes.signIn,
  away: exitCodes.unreachable,
}

async function metrics(drive: string | undefined, flags: Flags): Promise<void> {
  if (flags.json === true && flags.health !== true)
    throw new Stop(exitCodes.usage, '--json is for --health; metrics have the form that Prometheus reads.')
  const mountPoint = (await drivePath(drive)) ?? noneMounted()
  const control = await driveAt(mountPoint)
  if (flags.health !== true) {
    printText((await control.metrics({})).text)
    return
  }
  const health = await control.health({})
  printFound(flags, { mountPoint, ...health }, health.why)
  if (!health.isHealthy) process.exitCode = codes[health.trouble ?? 'away']
}
