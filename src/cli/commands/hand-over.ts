// `calcfs hand-over DIR`: in a systemd unit, mounts the drive of the sandboxed daemon that was started with --hand-over.
import { Command } from 'commander'
import { withExamples } from '../../terminal/examples.js'
import { exitCodes, Stop } from '../../terminal/exit.js'

export function handOverCommand(): Command {
  const command = new Command('hand-over')
    .description('in a systemd unit: mount the drive of its sandboxed daemon (calcfs mount --hand-over)')
    .argument('<directory>', 'where the drive is to be mounted')
    .action(handOver)
  return withExamples(
    command,
    ['calcfs hand-over /srv/calcfs/group', 'as ExecStartPost=+ of the unit, outside of its sandbox'],
    ['calcfs hand-over /srv/calcfs/%i', 'in a template unit; its ExecStart= is calcfs mount --hand-over'],
  )
}

async function handOver(directory: string): Promise<void> {
  const { RUNTIME_DIRECTORY: runtime, MAINPID: daemon } = process.env
  if (!runtime || !daemon)
    throw new Stop(
      exitCodes.usage,
      'calcfs hand-over works in a systemd unit only; systemd/calcfs-system@.service is one.',
    )
  const { mountFor } = await import('../mount/hand-over.js')
  await mountFor(runtime, Number(daemon), directory)
}
