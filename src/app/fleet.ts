// Fleet of a mount: built from the settings, where it shares one, and what the command line hears of it.
import { readFileSync } from 'node:fs'
import { refuseShared } from '../config/secret.js'
import { BadSetting } from '../config/settings.js'
import type { FleetControl } from '../drive/control/context.js'
import { Failure } from '../failure.js'
import { type FleetAddress, fleetAddress } from '../fleet/address.js'
import { notYet } from '../fleet/breaker.js'
import type { ServerFacts } from '../fleet/connection.js'
import type { Fleet } from '../fleet/fleet.js'
import { readFleetKey } from '../fleet/key.js'
import type { ChangeElsewhere } from '../fleet/news.js'
import type { Clock } from '../remote/clock.js'
import type { AssemblySettings, Note } from './assembly-settings.js'

/** @throws BadSetting for an address or a key that is none */
export async function buildFleet(
  { config, connection, clock }: AssemblySettings,
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
  const { Fleet } = await import('../fleet/fleet.js')
  const { account } = connection
  return new Fleet({
    address: configuredFleet(fleet, fleetPasswordFile),
    key: readFleetKey(fleetKeyFile),
    caFile: fleetCaFile,
    scope: [account.base.href, account.user],
    clock,
    log: note,
    outdated,
  })
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

/** Milliseconds for which a command without a daemon waits for its first connection. */
const connectMs = 1_500

export function fleetControl(fleet: Fleet, clock: Clock): FleetControl {
  return {
    async report() {
      await soonReady(fleet, clock)
      const { address, away } = fleet.status()
      if (away !== undefined) return { address, away, nodes: [] }
      try {
        return { address, nodes: await fleet.nodes(), server: await serverOf(fleet) }
      } catch (thrown) {
        return { address, away: thrown instanceof Error ? thrown.message : String(thrown), nodes: [] }
      }
    },
    async clear() {
      await soonReady(fleet, clock)
      try {
        return await fleet.clear()
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause)
        throw new Failure('unreachable', `nothing was cleared for sure, the fleet is passed by: ${why}`, {
          cause,
        })
      }
    },
  }
}

/** Undefined where its user may not ask: nothing else needs it. */
async function serverOf(fleet: Fleet): Promise<ServerFacts | undefined> {
  try {
    return await fleet.server()
  } catch (thrown) {
    if (thrown instanceof Error && thrown.message.startsWith('NOPERM')) return undefined
    throw thrown
  }
}

async function soonReady(fleet: Fleet, clock: Clock): Promise<void> {
  if (fleet.status().away !== notYet) return
  await new Promise<void>(resolve => {
    const callOff = clock.after(connectMs, resolve)
    void fleet.ready().then(() => {
      callOff()
      resolve()
    })
  })
}
