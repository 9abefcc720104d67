// Builds the fleet from the settings, where the mount shares one.
import { readFileSync } from 'node:fs'
import { refuseShared } from '../config/secret.js'
import { BadSetting } from '../config/settings.js'
import { type FleetAddress, fleetAddress } from '../fleet/engine/fleet-address.js'
import { readFleetKey } from '../fleet/engine/fleet-key.js'
import type { Fleet } from '../fleet/fleet.js'
import type { ChangeElsewhere } from '../fleet/shared/fleet-news.js'
import type { ServiceFacts } from '../fleet/shared/shared-capabilities.js'
import type { Capabilities } from '../remote/rest/capabilities.js'
import type { AssemblySettings, Note } from './assembly-settings.js'

/** @throws BadSetting for an address or a key that is none */
export async function buildFleet(
  { config, connection, capabilities, clock }: AssemblySettings,
  note: Note,
  outdated: (change: ChangeElsewhere) => void,
): Promise<Fleet | undefined> {
  const { fleet, fleetKeyFile, fleetCaFile, fleetPasswordFile } = config
  if (fleet === undefined) return undefined
  if (fleetKeyFile === undefined)
    throw new BadSetting(
      '--fleet needs --fleet-key-file: make one with `calcfs fleet key FILE`, and copy it to every node.',
    )
  // Most mounts have none: the client is loaded for those that do.
  const { openFleet } = await import('../fleet/fleet.js')
  const { account } = connection
  return openFleet({
    facts: factsOf(capabilities),
    address: configuredFleet(fleet, fleetPasswordFile),
    key: readFleetKey(fleetKeyFile),
    caFile: fleetCaFile,
    scope: [account.base.href, account.user],
    clock,
    log: note,
    outdated,
  })
}

/** Counts of one mount's requests are no facts for others. */
function factsOf(capabilities: Capabilities): ServiceFacts {
  return {
    told() {
      const { untold: _, unranged: __, answered: ___, ...found } = capabilities
      return Object.keys(found).length === 1 && Object.keys(found.sizes).length === 0
        ? undefined
        : JSON.stringify(found)
    },
    learn(told) {
      const { sizes, ...found } = JSON.parse(told) as Capabilities
      Object.assign(capabilities, found, { sizes: { ...sizes, ...capabilities.sizes } })
    },
  }
}

/** @throws BadSetting for an address that is none, and a file that cannot be read, or that others can read */
export function configuredFleet(fleet: string, passwordFile: string | undefined): FleetAddress {
  const address = fleetAddress(fleet)
  return passwordFile === undefined ? address : { ...address, password: passwordIn(passwordFile) }
}

function passwordIn(file: string): string {
  refuseShared(file)
  try {
    return readFileSync(file, 'utf8').split('\n')[0] ?? ''
  } catch (cause) {
    throw new BadSetting(`--fleet-password-file ${file}: cannot be read; check its owner and mode.`, {
      cause,
    })
  }
}
