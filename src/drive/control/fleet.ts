// Control of the fleet: what it holds, who shares it, clearing.
import { Failure } from '../../failure.js'
import type { Control } from '../interface/control.js'
import type { ControlParts } from './context.js'

export function openFleetControl({ fleet }: ControlParts): Pick<Control, 'fleet' | 'fleetClear'> {
  return {
    fleet: async () => (fleet === undefined ? {} : { fleet: await fleet.report() }),
    async fleetClear() {
      if (fleet === undefined)
        throw new Failure('refused', 'this mount shares nothing: it was mounted without --fleet')
      return { values: await fleet.clear() }
    },
  }
}
