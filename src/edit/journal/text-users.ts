// Users of texts: which processes have read and stored each, since the daemon began.
import { LRUCache } from 'lru-cache'
import type { Instant } from '../../remote/remote.js'
import type { ProcessId } from '../../system/process.js'

/** When a process has read, stored or sent a text last. */
export interface TextUser {
  readonly process: ProcessId
  readonly read?: Instant | undefined
  readonly saved?: Instant | undefined
  readonly sent?: Instant | undefined
}

interface Use {
  readonly how: string
  readonly at: Instant
  readonly by: ProcessId | undefined
}

/** How many texts are remembered with their users, and of each how many. */
const textsAtMost = 4_000
const usersAtMost = 64

/** By the record's name and the text's hash. */
export class TextUsers {
  readonly #users = new LRUCache<string, Map<string, TextUser>>({ max: textsAtMost })

  of(text: string): readonly TextUser[] {
    return [...(this.#users.get(text)?.values() ?? [])]
  }

  note(text: string, { how, at, by }: Use): void {
    const known = this.#users.get(text) ?? new Map<string, TextUser>()
    if (by !== undefined) {
      const name = `${by.group} ${by.view}`
      const before = known.get(name)
      known.delete(name)
      known.set(name, { ...before, process: by, [how]: at })
      const [oldest] = known.keys()
      if (known.size > usersAtMost && oldest !== undefined) known.delete(oldest)
      this.#users.set(text, known)
    }
    // A text of which it was not known whether it is stored is its sender's once it turns out to be.
    if (how === 'saved' && by === undefined)
      for (const [name, user] of known) if (user.sent !== undefined) known.set(name, { ...user, saved: at })
  }
}
