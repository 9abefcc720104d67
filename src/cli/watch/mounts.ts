// `calcfs mounts`: all drives of this user, and whether the daemon of each one lives.

import type { Command } from 'commander'
import { drivesOfUser, type Mount } from '../../mount/mount-point.js'
import { localText } from '../../system/time-text.js'
import { CliCommand } from '../../terminal/command.js'
import { sentenceOf } from '../../terminal/exit.js'
import { type JsonFlag, jsonFlag, printFound } from '../../terminal/print.js'
import { driveAt, NoAnswer } from '../control/daemon.js'

/** Of a daemon that answers all is known; of any other one what the kernel shows. */
interface MountFact {
  readonly mountPoint: string
  readonly state: 'alive' | 'silent' | 'dead'
  readonly service: string
  readonly user?: string
  readonly access?: string
  readonly pid?: number | undefined
  readonly since?: string
  /** Why it does not answer, and what to do. */
  readonly problem?: string | undefined
}

export const mountsCommand = (): Command =>
  new CliCommand('mounts')
    .description('list your drives: where, of which service and user, since when, and whether each one lives')
    .addOption(jsonFlag('an array of drives'))
    .action((flags: JsonFlag) => list(flags))
    .examples(
      ['calcfs mounts', 'all drives of yours, dead ones too'],
      ["calcfs mounts --json | jq -r '.[].mountPoint'", 'where they are, for a script'],
    )

async function list(flags: JsonFlag): Promise<void> {
  const facts = await Promise.all((await drivesOfUser()).map(factOf))
  printFound(flags, facts, facts.length === 0 ? 'no drive is mounted.' : facts.map(lineOf).join('\n'))
}

async function factOf(mount: Mount): Promise<MountFact> {
  const mountPoint = mount.path
  try {
    const { service, user, access, pid, since } = await (await driveAt(mountPoint)).status({})
    return { mountPoint, state: 'alive', service, user, access, pid, since }
  } catch (thrown) {
    const isKnown = thrown instanceof NoAnswer
    return {
      mountPoint,
      state: isKnown ? thrown.daemon : 'silent',
      service: mount.source,
      pid: isKnown ? thrown.pid : undefined,
      problem: sentenceOf(thrown),
    }
  }
}

function lineOf({ mountPoint, state, service, user, access, pid, since, problem }: MountFact): string {
  if (state !== 'alive' || since === undefined) return `${mountPoint}: ${service}, ${state}: ${problem}`
  return `${mountPoint}: ${service} as ${user}, access ${access}, process ${pid}, since ${localText(since)}, ${state}`
}
