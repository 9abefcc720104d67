// Shared capabilities: what one mount has found out about the service (how sizes are asked), the next ones begin with.
import { noop } from '../../noop.js'
import type { Clock } from '../../remote/clock.js'
import type { FleetStore } from '../engine/fleet-store.js'
import type { Seal } from '../engine/seal.js'

export interface SharedCapabilities {
  /** Takes what the others found out, and tells them from now on what this mount finds out. */
  join(): Promise<void>
  end(): void
}

export interface SharedCapabilitiesPorts {
  readonly store: Pick<FleetStore, 'answers'>
  readonly seal: Seal
  readonly clock: Clock
  readonly facts: ServiceFacts
}

/** As text that only its owner reads. */
export interface ServiceFacts {
  /** What this mount knows; undefined where that is nothing yet. */
  told(): string | undefined
  /** What another one knew. */
  learn(told: string): void
}

/** Milliseconds between two looks whether anything was found out, and for which it is believed: a service may be renewed. */
const lookMs = 1_000
const livesMs = 600_000
/** Nothing is asked under this lease. */
const leaseMs = 100

export function openSharedCapabilities(ports: SharedCapabilitiesPorts): SharedCapabilities {
  const { store, seal, clock, facts } = ports
  const name = seal.nameOf('capabilities', '')
  let known = ''
  let stop = noop

  function tell(): void {
    const found = facts.told()
    if (found !== undefined && found !== known)
      store.answers.change(name, seal.close(name, Buffer.from(found)), livesMs).then(() => {
        known = found
      }, noop)
    stop = clock.after(lookMs, tell, 'in-background')
  }

  return {
    async join() {
      const found = await store.answers.take(name, name, leaseMs).catch(noop)
      if (found?.is === 'leased') store.answers.release(name, name).catch(noop)
      const value = found?.is === 'there' ? found.value : undefined
      const opened = value === undefined ? undefined : seal.open(name, value)
      if (opened !== undefined && opened.ageMs < livesMs) {
        known = opened.plain.toString('utf8')
        facts.learn(known)
      }
      tell()
    },
    end: () => stop(),
  }
}
