// Row cache of the ledger: values read or written a moment ago, and rooms that are known as a whole, valid until another process has written.
import { LRUCache } from 'lru-cache'
import { upTo } from '../../growing-lru.js'
import type { Instant } from '../../remote/remote.js'

export interface RowCache<Value> {
  get(namespace: string, key: string): Value | undefined
  keep(namespace: string, key: string, value: Value): void
  /** What is kept of it says nothing any more; what its room has on the disk may be anything. */
  drop(namespace: string, key: string): void
  /** Whether all rows of this room are here: what is not kept is not there. */
  isWhole(namespace: string): boolean
  /**
   * Whether a look-up in vain is one of so many that reading the whole room costs less. So it is told once in a while only:
   * where another process writes all the time, the room would be read all the time.
   */
  isToFill(namespace: string): boolean
  /** Takes the rows of a room; `isAll` where it has no others. */
  fill(namespace: string, rows: Iterable<readonly [key: string, value: Value]>, isAll: boolean): void
  clear(): void
}

const atMost = 32_768
/** Milliseconds for which another process's write may go unseen: looking for one costs as much as reading the value. */
const unseenMs = 50
/** So many rows are read one by one before their room is read at once, and so many milliseconds lie between two times. */
const singlyAtMost = 16
const fillEvery = 5_000

interface Room<Value extends object> {
  readonly values: LRUCache<string, Value>
  /** Look-ups in vain since it was cleared. */
  missed: number
  /** Rows that were kept since then: of more, some may have been pushed out. */
  kept: number
  isWhole: boolean
  filledAt: number
}

/** `version` is a number that moves when another process has written. */
export function openRowCache<Value extends object>(
  version: () => number,
  now: () => Instant,
): RowCache<Value> {
  const rooms = new Map<string, Room<Value>>()
  let seen: number | undefined
  let lookedAt = Number.NEGATIVE_INFINITY

  function roomOf(namespace: string): Room<Value> {
    const known = rooms.get(namespace)
    if (known !== undefined) return known
    const values = new LRUCache<string, Value>(upTo(atMost))
    const made = { values, missed: 0, kept: 0, isWhole: false, filledAt: Number.NEGATIVE_INFINITY }
    rooms.set(namespace, made)
    return made
  }

  /** A clock that was set back makes it look at once. */
  function look(): void {
    const time = now()
    if (time >= lookedAt && time < lookedAt + unseenMs) return
    lookedAt = time
    const present = version()
    if (present !== seen) clear()
    seen = present
  }

  function clear(): void {
    for (const room of rooms.values()) {
      room.values.clear()
      room.missed = 0
      room.kept = 0
      room.isWhole = false
    }
  }

  function keep(room: Room<Value>, key: string, value: Value): void {
    room.values.set(key, value)
    room.kept += 1
    if (room.kept > atMost / 2) room.isWhole = false
  }

  return {
    get(namespace, key) {
      look()
      return roomOf(namespace).values.get(key)
    },
    keep: (namespace, key, value) => keep(roomOf(namespace), key, value),
    drop(namespace, key) {
      const room = roomOf(namespace)
      room.values.delete(key)
      room.isWhole = false
    },
    isWhole: namespace => roomOf(namespace).isWhole,
    isToFill(namespace) {
      const room = roomOf(namespace)
      const time = now()
      room.missed += 1
      const isSoon = time >= room.filledAt && time < room.filledAt + fillEvery
      if (room.missed < singlyAtMost || isSoon) return false
      room.filledAt = time
      return true
    },
    fill(namespace, rows, isAll) {
      const room = roomOf(namespace)
      room.isWhole = isAll
      // A room with too many rows is not read again until it is cleared.
      room.missed = isAll ? 0 : Number.NEGATIVE_INFINITY
      for (const [key, value] of rows) keep(room, key, value)
    },
    clear,
  }
}
