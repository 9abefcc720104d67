// Who waits for an answer that several may wait for: a request without askers yields its slot, a new asker looks after it.

export interface Askers {
  readonly waiting: boolean
  /** Tells of every asker who comes or goes, until it is called off. */
  watch(changed: (what: 'came' | 'left') => void): () => void
}

/** The same for the owner of a shared answer. */
export interface CountedAskers extends Askers {
  /** One more waits; the answer ends that, once. */
  join(): () => void
}

/** Without anybody who waits. */
export function openAskers(): CountedAskers {
  const watchers = new Set<(what: 'came' | 'left') => void>()
  let count = 0

  function change(by: 1 | -1): void {
    count += by
    for (const watcher of [...watchers]) watcher(by > 0 ? 'came' : 'left')
  }

  return {
    get waiting() {
      return count > 0
    },
    watch(changed) {
      watchers.add(changed)
      return () => watchers.delete(changed)
    },
    join() {
      let joined = true
      change(1)
      return () => {
        if (joined) change(-1)
        joined = false
      }
    },
  }
}
