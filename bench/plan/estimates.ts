// About how long one run of a cell takes (mounting, cold, warm, remount, comparing), for the plan's time alone.
import type { Contender } from '../run/contenders.js'
import type { Item } from './plan.js'

export function secondsOnce(_contender: Contender, _item: Item): number {
  return 5
}
