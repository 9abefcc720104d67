// `calcfs resolve PATH`: the id behind a path of the platform's web pages or of the drive.
import type { Command } from 'commander'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { type JsonFlag, jsonFlag, printFound } from '../../terminal/print.js'
import { driveCommand, withPath } from '../control/with-drive.js'

export const resolveCommand = (): Command =>
  driveCommand('resolve')
    .description('print the id behind a path: /db/<user>/…, or projects/… as on the drive')
    .argument('<path>', 'a path of the web pages or of the drive')
    .addOption(jsonFlag('an array of {"kind", "id"}'))
    .action((path: string, flags: JsonFlag, command: Command) => resolve(path, flags, command))
    .examples(
      ['calcfs resolve /db/anna/Dyes/TS1', 'a path of the web pages'],
      ["calcfs resolve 'projects/Water splitting' --json", 'a path of the drive, for a script'],
    )

async function resolve(given: string, flags: JsonFlag, command: Command): Promise<void> {
  await withPath(command, given, async (control, path) => {
    if (!/^\/(projects(\/|$)|db\/.)/.test(path))
      throw new Stop(
        exitCodes.usage,
        `${given} is no path of the service; it starts with /db/<user>/ or projects/. calcfs info says what any path of the drive stands for.`,
      )
    const found = await control.resolve({ path })
    if (found.length === 0)
      throw new Stop(
        exitCodes.failed,
        `there is no project and no calculation at ${given}; calcfs ls projects lists what there is.`,
      )
    printFound(flags, found, found.map(({ kind, id }) => `${kind} ${id}`).join('\n'))
  })
}
