// State that the routes of one running service share: its database, contents, clock, and missing features.
import type { Contents } from '../content/contents.js'
import type { Rights } from '../people/rights.js'
import type { Tokens } from '../people/token.js'
import type { Shortcomings } from '../store/options.js'
import type { Store } from '../store/store.js'

export interface Instance {
  readonly store: Store
  readonly contents: Contents
  readonly tokens: Tokens
  readonly rights: Rights
  readonly lacks: Shortcomings
  /** Milliseconds since 1970. */
  readonly now: () => number
}
