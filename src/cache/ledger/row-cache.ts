// What the ledger read or wrote a moment ago: values by room and key, believed until another process has written.
import { LRUCache } from 'lru-cache'
import type { Instant } from '../../remote/remote.js'

export interface Recent<Value> {
  get(room: string, key: string): Value | undefined
  keep(room: string, key: string, value: Value): void
  drop(room: string, key: string): void
  clear(): void
}

const atMost = 32_768
/** Milliseconds for which another process's write may go unseen: looking for one costs as much as reading the value. */
const unseenMs = 50

/** `version` is a number that moves when another process has written. */
export function openRecent<Value extends object>(version: () => number, now: () => Instant): Recent<Value> {
  const values = new LRUCache<string, Value>({ max: atMost })
  const nameOf = (room: string, key: string): string => `${room}\0${key}`
  let seen: number | undefined
  let lookedAt = Number.NEGATIVE_INFINITY

  /** A clock that was set back makes it look at once. */
  function look(): void {
    const time = now()
    if (time >= lookedAt && time < lookedAt + unseenMs) return
    lookedAt = time
    const present = version()
    if (present !== seen) values.clear()
    seen = present
  }

  return {
    get(room, key) {
      look()
      return values.get(nameOf(room, key))
    },
    keep: (room, key, value) => values.set(nameOf(room, key), value),
    drop: (room, key) => values.delete(nameOf(room, key)),
    clear: () => values.clear(),
  }
}
