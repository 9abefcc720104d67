// Checks of the fleet from this machine: its key, its address, and whether it answers as a mount would ask it.
import { authorityIn } from '../../app/connect.js'
import type { Config } from '../../config/config.js'
import { BadSetting } from '../../config/settings.js'
import { fleetAddress } from '../../fleet/address.js'
import { Fleet } from '../../fleet/fleet.js'
import { readFleetKey } from '../../fleet/seal.js'
import { systemClock } from '../../remote/clock.js'
import { bad, type Finding, good, poor } from './finding.js'

type FleetSettings = Pick<Config, 'fleetKeyFile' | 'caFile'> & { readonly fleet: string }

export async function fleetFindings(settings: FleetSettings): Promise<readonly Finding[]> {
  const { fleetKeyFile } = settings
  if (fleetKeyFile === undefined)
    return [
      bad('fleet key', 'there is none', 'calcfs fleet key FILE, and --fleet-key-file FILE on every node'),
    ]
  try {
    return [await lookAtFleet(settings, fleetKeyFile)]
  } catch (thrown) {
    if (!(thrown instanceof BadSetting)) throw thrown
    // No mount comes up with it; the sentence says what to do.
    return [bad('fleet', thrown.message)]
  }
}

async function lookAtFleet({ fleet, caFile }: FleetSettings, keyFile: string): Promise<Finding> {
  const address = fleetAddress(fleet)
  const looking = new Fleet({
    address,
    key: readFleetKey(keyFile),
    authority: authorityIn(caFile),
    scope: ['calcfs doctor', ''],
    clock: systemClock,
    log: () => {},
    outdated: () => {},
  })
  try {
    await looking.begun('a command')
    const { passedByBecause: away } = looking.status()
    return away === undefined
      ? good('fleet', `${address.shown} answers`)
      : poor('fleet', `${address.shown} is passed by: ${away}`, mendOf(away))
  } finally {
    await looking.close()
  }
}

const mendOf = (why: string): string =>
  /NOAUTH|WRONGPASS/.test(why)
    ? 'valkey://USER:PASSWORD@host, percent-encoded, in a configuration file of mode 0600'
    : 'see to it that it runs, and that this machine may connect (docs/operations.md); the drive works without it'
