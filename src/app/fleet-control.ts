// What the command line hears of a fleet, from the parts that know it.
import type { FleetControl } from '../drive/control/context.js'
import { Failure } from '../failure.js'
import { notYet } from '../fleet/breaker.js'
import type { ServerFacts } from '../fleet/connection.js'
import type { Fleet } from '../fleet/fleet.js'
import type { Clock } from '../remote/clock.js'

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
