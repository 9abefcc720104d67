// Fleet of a mount: built from the settings, where it shares one.
import { BadSetting } from '../config/settings.js'
import { fleetAddress } from '../fleet/address.js'
import type { Fleet } from '../fleet/fleet.js'
import type { ChangeElsewhere } from '../fleet/news.js'
import { readFleetKey } from '../fleet/seal.js'
import type { AssemblySettings, Note } from './assembly-settings.js'

/** @throws BadSetting for an address or a key that is none */
export async function buildFleet(
  { config, connection, clock }: AssemblySettings,
  note: Note,
  outdated: (change: ChangeElsewhere) => void,
): Promise<Fleet | undefined> {
  const { fleet, fleetKeyFile, caFile } = config
  if (fleet === undefined) return undefined
  if (fleetKeyFile === undefined)
    throw new BadSetting(
      '--fleet needs --fleet-key-file: make one with `calcfs fleet key FILE`, and copy it to every node.',
    )
  // Most mounts have none: the client is loaded for those that do.
  const { Fleet } = await import('../fleet/fleet.js')
  const { account } = connection
  return new Fleet({
    address: fleetAddress(fleet),
    key: readFleetKey(fleetKeyFile),
    caFile,
    scope: [account.base.href, account.user],
    clock,
    log: note,
    outdated,
  })
}
