// What the command line's questions are answered from: the drive's own parts.
import type { Catalog } from '../cache/catalog.js'
import type { ContentCache } from '../cache/content.js'
import type { Health } from '../cache/health.js'
import type { Identities } from '../cache/identity.js'
import type { Texts } from '../edit/texts.js'
import type { Instant } from '../remote/remote.js'
import type { DraftTexts } from './draft-texts.js'
import type { Failures } from './failures.js'
import type { KnownReports } from './known-reports.js'
import type { Deadlines } from './parts.js'
import type { Tree } from './tree.js'
import type { Writing } from './writing.js'
import type { Xattrs } from './xattrs.js'

export interface ControlParts {
  readonly tree: Tree
  readonly catalog: Catalog
  readonly content: ContentCache
  /** Where the contents lie. */
  readonly cacheDirectory: string
  readonly identities: Identities
  readonly drafts: DraftTexts
  readonly texts: Texts
  readonly failures: Failures
  readonly reports: KnownReports
  readonly xattrs: Xattrs
  readonly writing: Writing
  readonly deadlines: Deadlines
  /** The text of `.calcfs/status.json`; `check` has the service asked before. */
  readonly status: (check?: boolean) => Promise<string>
  readonly health: Health
  /** What is wrong with the mount's own directories, in sentences. */
  readonly placeTroubles: () => Promise<readonly string[]>
  readonly now: () => Instant
}
