// Keyed queue: work on one record is serial, on different records concurrent.
import pLimit, { type LimitFunction } from 'p-limit'
import { keyName, type RecordKey } from './record-key.js'

export type KeyedQueue = <Result>(key: RecordKey, work: () => Promise<Result>) => Promise<Result>

export function openKeyedQueue(): KeyedQueue {
  const queues = new Map<string, LimitFunction>()
  return async (key, work) => {
    const name = keyName(key)
    const queue = queues.get(name) ?? pLimit(1)
    queues.set(name, queue)
    try {
      return await queue(work)
    } finally {
      if (queue.activeCount + queue.pendingCount === 0) queues.delete(name)
    }
  }
}
