// `calcfs fleet`: the key that the mounts of a fleet have in common, what they share, clearing.

import { hostname } from 'node:os'
import type { Command } from 'commander'
import type { FleetReport } from '../../drive/interface/control.js'
import { makeFleetKey } from '../../fleet/seal.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes } from '../../terminal/exit.js'
import { type JsonFlag, jsonFlag, printFound } from '../../terminal/print.js'
import { driveCommand, withDrive } from '../control/with-drive.js'

export const fleetCommand = (): Command =>
  new CliCommand('fleet')
    .description('many mounts of one user that ask the service once, through a Valkey or Redis (--fleet)')
    .addCommand(keyCommand())
    .addCommand(statusCommand())
    .addCommand(clearCommand())

const keyCommand = (): Command =>
  new CliCommand('key')
    .description(
      'make the key that every node of a fleet needs a copy of; nothing in the fleet can be read without it',
    )
    .argument('<file>', 'where; there must be none yet')
    .addOption(jsonFlag('{"file"}'))
    .action((file: string, flags: JsonFlag) => {
      makeFleetKey(file)
      printFound(
        flags,
        { file },
        `${file} is made; copy it to every node, readable by you alone, and mount with --fleet-key-file.`,
      )
    })
    .examples(
      ['calcfs fleet key ~/.config/calcfs/fleet.key', 'make it once'],
      ['calcfs fleet key /mnt/home/anna/fleet.key', 'where a home directory is shared by all nodes'],
    )

const statusCommand = (): Command =>
  driveCommand('status')
    .description(
      'show which mounts share the fleet, and how many requests that saved; exit code 4 while it is passed by',
    )
    .addOption(jsonFlag('an object, null where nothing is shared'))
    .action((flags: JsonFlag, command: Command) =>
      withDrive(command, [], async ({ control }) => show(await control.fleet({}), flags)),
    )
    .examples(
      ['calcfs fleet status', 'of the one drive that is mounted'],
      ['calcfs fleet status --mount ~/lab --json', 'for a script; exit code 4 while the fleet is passed by'],
    )

const clearCommand = (): Command =>
  driveCommand('clear')
    .description('drop all that lies in the fleet, of every user; it is asked of the service again')
    .addOption(jsonFlag('an object'))
    .action((flags: JsonFlag, command: Command) =>
      withDrive(command, [], async ({ control }) => {
        const gone = await control.fleetClear({})
        printFound(flags, gone, `${gone.values} ${gone.values === 1 ? 'value' : 'values'} dropped.`)
      }),
    )
    .examples(
      ['calcfs fleet clear', 'of the one drive that is mounted'],
      ['calcfs fleet clear --mount ~/lab', 'of one of several drives'],
    )

function show({ fleet: found }: { readonly fleet?: FleetReport | undefined }, flags: JsonFlag): void {
  // Where no drive is mounted, this process is one of the nodes, and mounts nothing.
  const fleet = found && { ...found, nodes: found.nodes.filter(isMount) }
  printFound(
    flags,
    fleet ?? null,
    fleet === undefined ? 'Nothing is shared: mount with --fleet, or set CALCFS_FLEET.' : textOf(fleet),
  )
  if (fleet?.away !== undefined) process.exitCode = exitCodes.unreachable
}

const isMount = ({ host, pid }: FleetReport['nodes'][number]): boolean =>
  host !== hostname() || pid !== process.pid

/** Of a long list, so many nodes are shown: those that asked most. */
const shownAtMost = 20

function textOf({ address, away, nodes, server }: FleetReport): string {
  if (away !== undefined) return `${address} is passed by: ${away}. The service is asked as without a fleet.`
  const sum = (of: 'hits' | 'asked' | 'received' | 'sent' | 'wrong'): number =>
    nodes.reduce((total, node) => total + node[of], 0)
  const [hits, asked, wrong] = [sum('hits'), sum('asked'), sum('wrong')]
  const rate = hits + asked === 0 ? '' : `, ${Math.round((100 * hits) / (hits + asked))} % of all questions`
  return [
    `${address}: ${counted(nodes.length, 'mount')}, ${counted(hits, 'request')} saved${rate}`,
    `  ${megabytes(sum('received'))} read from it, ${megabytes(sum('sent'))} put there`,
    ...(server === undefined ? [] : [`  ${heldBy(server)}`]),
    ...(wrong === 0 ? [] : [`  ${counted(wrong, 'value')} damaged, forged or of another key, and not used`]),
    ...linesOf(nodes),
  ].join('\n')
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

function heldBy({
  usedBytes,
  limitBytes,
  policy,
  version,
  isCluster,
}: NonNullable<FleetReport['server']>): string {
  const limit = limitBytes === 0 ? 'without a limit' : `of ${megabytes(limitBytes)}`
  return `${isCluster ? 'a server of the cluster' : 'the server'} uses ${megabytes(usedBytes)} ${limit} (${policy}), version ${version}`
}

function linesOf(nodes: FleetReport['nodes']): readonly string[] {
  const rows = [...nodes].sort((one, other) => other.hits + other.asked - one.hits - one.asked)
  const left = rows.length - shownAtMost
  return [
    ...rows
      .slice(0, shownAtMost)
      .map(
        ({ host, pid, hits, asked }) => `  ${host}, process ${pid}: ${hits} saved, ${asked} asked for all`,
      ),
    ...(left > 0 ? [`  and ${counted(left, 'mount')} more`] : []),
  ]
}
