// `calcfs doctor`: checks everything a mount needs, and says for each problem how to fix it.
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { ownDirectories } from '../../config/places.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes } from '../../terminal/exit.js'
import { type JsonFlag, jsonFlag, printFound } from '../../terminal/print.js'
import { type Configured, configured, withSettings } from '../../terminal/settings.js'
import type { Finding } from '../doctor/finding.js'
import { allowOther, directory, onLinux } from '../doctor/machine.js'

export const doctorCommand = (): Command =>
  withSettings(new CliCommand('doctor'), 'service', 'drive')
    .description('check this machine and the connection to the service; say how to fix what is wrong')
    .argument('[url]', 'address of the service; without one only the machine is checked')
    .addOption(jsonFlag('an array of {"check", "state", "found", "mend"}'))
    .action((url: string | undefined, options: JsonFlag, command: Command) =>
      doctor(configured(command, url), options),
    )
    .examples(
      ['calcfs doctor', 'this machine alone'],
      ['calcfs doctor https://lab.example.org --user anna', 'the way to the service and the sign-in, too'],
    )

async function doctor(given: Configured, options: JsonFlag): Promise<void> {
  const findings = [
    ...(await onThisMachine(given)),
    ...(await atTheService(given)),
    ...(await atTheFleet(given)),
  ]
  printFound(options, findings, findings.map(lineOf).join('\n'))
  if (findings.some(({ state }) => state === 'bad')) process.exitCode = exitCodes.failed
}

async function onThisMachine({ config, sources }: Configured): Promise<readonly Finding[]> {
  // Any account's directories show where all of them are.
  const places = ownDirectories({ url: 'https://localhost', user: '' }, config, sources.environment)
  return [
    ...(process.platform === 'linux' ? await onLinux(config.kernel) : []),
    allowOther(config.allowOther),
    directory('cache', dirname(places.cache), '--cache-dir'),
    directory('drafts', dirname(places.state), '--state-dir'),
  ]
}

async function atTheService(given: Configured): Promise<readonly Finding[]> {
  if (given.config.url === undefined) return []
  const { reached, signedIn } = await import('../doctor/service.js')
  const way = await reached(given)
  return way.some(({ state, check }) => state === 'bad' && check === 'service')
    ? way
    : [...way, ...(await signedIn(given))]
}

async function atTheFleet({ config }: Configured): Promise<readonly Finding[]> {
  if (config.fleet === undefined) return []
  const { fleetFindings } = await import('../doctor/fleet.js')
  return fleetFindings({ ...config, fleet: config.fleet })
}

const marks = { good: 'ok  ', poor: 'note', bad: 'BAD ' } as const

function lineOf({ check, state, found, mend }: Finding): string {
  const line = `${marks[state]}  ${check.padEnd(12)}  ${found}`
  return mend === undefined ? line : `${line}\n      ${' '.repeat(12)}  → ${mend}`
}
