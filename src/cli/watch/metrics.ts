// `calcfs metrics [DRIVE]`: the metrics of a drive as Prometheus reads them, or its health in one line.
import { Command } from 'commander'
import { withExamples } from '../../terminal/examples.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { driveAt } from '../control/find-daemon.js'
import { chosenMount } from '../control/select-mount.js'

/** Where several drives are mounted. */
const nameOne = 'name one: calcfs metrics DRIVE'

export function metricsCommand(): Command {
  const command = new Command('metrics')
    .description(
      'print the metrics of a drive as Prometheus reads them; mount with --metrics 127.0.0.1:9464 to have them scraped',
    )
    .argument('[drive]', 'the drive that is meant; default: the one you stand in, or the only one')
    .option('--health', 'print one line on whether all is well; ends with 4 where it is not')
    .action((drive: string | undefined, flags: { health?: true }) => metrics(drive, flags))
  return withExamples(
    command,
    ['calcfs metrics ~/lab', 'counters, histograms and gauges of the drive'],
    ['calcfs metrics ~/lab --health', 'is all well?'],
  )
}

async function metrics(drive: string | undefined, flags: { health?: true }): Promise<void> {
  const mountPoint = await chosenMount(drive, nameOne)
  if (mountPoint === undefined)
    throw new Stop(exitCodes.mountPoint, 'no drive is mounted; calcfs mount brings one up.')
  const control = await driveAt(mountPoint)
  if (flags.health !== true) {
    process.stdout.write((await control.metrics({})).text)
    return
  }
  const { isHealthy, why } = await control.health({})
  console.log(why)
  if (!isHealthy) process.exitCode = exitCodes.unreachable
}
