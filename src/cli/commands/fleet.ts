// `calcfs fleet`: the key that the mounts of a fleet have in common, whether it is used.
import type { Command } from 'commander'
import { makeFleetKey } from '../../fleet/seal.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes } from '../../terminal/exit.js'
import { complain, type JsonFlag, jsonFlag, printFound } from '../../terminal/print.js'
import { wholeDriveCommand, withDrive } from '../control/with-drive.js'
import { fleetText } from './status.js'

export const fleetCommand = (): Command =>
  new CliCommand('fleet')
    .description('many mounts of one user that ask the service once, through a Valkey or Redis (--fleet)')
    .addCommand(keyCommand())
    .addCommand(statusCommand())

const keyCommand = (): Command =>
  new CliCommand('key')
    .description(
      'make the key that every node of a fleet needs a copy of; nothing in the fleet can be read without it',
    )
    .argument('<file>', 'where; there must be none yet')
    .addOption(jsonFlag('{"file"}'))
    .action((file: string, flags: JsonFlag) => {
      makeFleetKey(file)
      const told = `${file} is made; copy it to every node, readable by you alone, and mount with --fleet-key-file.`
      printFound(flags, { file }, told)
    })
    .examples(
      ['calcfs fleet key ~/.config/calcfs/fleet.key', 'make it once'],
      ['calcfs fleet key /mnt/home/anna/fleet.key', 'where a home directory is shared by all nodes'],
    )

const alone = 'Nothing is shared: mount with --fleet, or set CALCFS_FLEET.'

const statusCommand = (): Command =>
  wholeDriveCommand('status')
    .description(
      'show how many mounts share the fleet, and how many requests that saved; exit code 4 while it is passed by',
    )
    .addOption(jsonFlag('{"shared"}, and where it is true the facts of the fleet'))
    .action((_: string | undefined, flags: JsonFlag, command: Command) =>
      withDrive(command, [], async ({ control }) => {
        const { fleet } = await control.status({})
        const told = fleet === undefined ? alone : `${fleetText(fleet)}.`
        printFound(flags, { shared: fleet !== undefined, ...fleet }, told)
        if (fleet === undefined && flags.json === true) complain(alone)
        if (fleet?.passedByBecause !== undefined) process.exitCode = exitCodes.unreachable
      }),
    )
    .examples(
      ['calcfs fleet status', 'of the one drive that is mounted'],
      ['calcfs fleet status ~/lab --json', 'for a script; exit code 4 while the fleet is passed by'],
    )
