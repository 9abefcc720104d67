// Part lease: one daemon downloads a part for all; the lease is over where nothing comes any more.
import { noop } from '../../noop.js'
import type { Clock } from '../../remote/clock.js'
import type { FleetLane } from '../engine/fleet-lane.js'
import type { SealedName } from '../engine/seal.js'
import { type FleetCounts, leaseMs, release } from '../shared/shared-value.js'

export interface PartLease {
  /** Something came: the others go on waiting. */
  moved(): void
  /** @param value sealed */
  put(value: Buffer): void
  release(): void
}

export interface PartLeases {
  readonly lane: FleetLane
  readonly clock: Clock
  readonly counts: Pick<FleetCounts, 'sent'>
  /** Milliseconds for which a part lies there. */
  readonly livesMs: number
}

/** So many bytes may be on their way into the fleet; beyond, a part is each daemon's own. */
const puttingAtMost = 32 << 20

export function openPartLeases({
  lane,
  clock,
  counts,
  livesMs,
}: PartLeases): (name: SealedName, owner: string) => PartLease {
  let putting = 0

  return (name, owner) => {
    // The service may take its time to answer.
    let isMoving = true
    let isOver = false
    let stop = noop
    const renewLater = (): void => {
      stop = clock.after(
        leaseMs / 3,
        () => {
          if (isMoving) lane.renew(name, owner, leaseMs).catch(noop)
          if (hasMoved) isMoving = false
          renewLater()
        },
        'in-background',
      )
    }
    let hasMoved = false
    renewLater()

    function over(): boolean {
      if (isOver) return false
      isOver = true
      stop()
      return true
    }

    return {
      moved() {
        isMoving = true
        hasMoved = true
      },
      put(value) {
        if (putting + value.length > puttingAtMost) return this.release()
        if (!over()) return
        putting += value.length
        lane
          .put(name, owner, value, livesMs)
          .then(isThere => {
            if (isThere) counts.sent += value.length
          }, noop)
          .finally(() => {
            putting -= value.length
          })
      },
      release() {
        if (over()) release(lane, name, owner)
      },
    }
  }
}
