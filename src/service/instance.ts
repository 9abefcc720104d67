// What the routes of one running service share: its database, its contents, its clock, and what it lacks.
import type { Contents } from './contents.js'
import type { Shortcomings } from './options.js'
import type { Rights } from './rights.js'
import type { Store } from './store.js'
import type { Tokens } from './token.js'

export interface Instance {
  readonly store: Store
  readonly contents: Contents
  readonly tokens: Tokens
  readonly rights: Rights
  readonly lacks: Shortcomings
  /** Milliseconds since 1970. */
  readonly now: () => number
}
