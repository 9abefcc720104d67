// Row cache of the ledger: values read or written a moment ago, valid until another process has written.
import { openRecentMap } from '../../recent-map.js'
import type { Instant } from '../../remote/remote.js'

export interface RowCache<Value> {
  get(namespace: string, key: string): Value | undefined
  keep(namespace: string, key: string, value: Value): void
  drop(namespace: string, key: string): void
  clear(): void
}

const atMost = 32_768
/** Milliseconds for which another process's write may go unseen: looking for one costs as much as reading the value. */
const unseenMs = 50

/** `version` is a number that moves when another process has written. */
export function openRowCache<Value extends object>(
  version: () => number,
  now: () => Instant,
): RowCache<Value> {
  const values = openRecentMap<Value>(atMost)
  const nameOf = (namespace: string, key: string): string => `${namespace}\0${key}`
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
    get(namespace, key) {
      look()
      return values.get(nameOf(namespace, key))
    },
    keep: (namespace, key, value) => values.set(nameOf(namespace, key), value),
    drop: (namespace, key) => values.delete(nameOf(namespace, key)),
    clear: () => values.clear(),
  }
}
