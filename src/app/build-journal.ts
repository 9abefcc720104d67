// Builds what no request could restore: the user's texts, and the names this mount remembers.
import { join } from 'node:path'
import { type Ledger, openLedger } from '../cache/ledger/ledger.js'
import type { KernelNews } from '../drive/interface/kernel-news.js'
import { type KnownReports, openKnownReports } from '../drive/names/known-reports.js'
import { Roots } from '../drive/names/roots.js'
import { type DraftFiles, openDraftFiles } from '../drive/records/draft-files.js'
import { identityReader } from '../drive/records/reused-ids.js'
import { openScratchFiles, type ScratchFiles } from '../drive/records/scratch-files.js'
import { draftsKey } from '../drive/tree/listed-by.js'
import { type Drafts, openDrafts } from '../edit/journal/drafts.js'
import {
  type Latest,
  mountMark,
  openTextHistory,
  type TextHistory,
  textHash,
} from '../edit/journal/text-history.js'
import { instant } from '../remote/remote.js'
import type { AssemblySettings, Note } from './assembly-settings.js'
import type { Caches } from './build-caches.js'

export interface Journal {
  readonly scratch: ScratchFiles
  /** Names and numbers that were shown, made or given: kept next to the drafts. */
  readonly known: Ledger
  readonly history: TextHistory
  /** The mount point behind a mark of the history, as far as it was noted. */
  readonly mountNamed: (mark: string) => string | undefined
  readonly draftStore: Drafts
  readonly drafts: DraftFiles
  readonly reports: KnownReports
  readonly roots: Roots
}

export async function buildJournal(
  { config, connection, mountPoint, isMount, clock }: AssemblySettings,
  note: Note,
  { catalog, identities, ledger }: Caches,
  news: Pick<KernelNews, 'tell'>,
): Promise<Journal> {
  const { now } = clock
  const { dialect } = connection
  const { state } = connection.account.places
  const scratch = await openScratchFiles(join(state, 'scratch', textHash(mountPoint).slice(0, 12)))
  const known = openLedger(join(state, 'known'), { clock, log: note })
  const history = openTextHistory({
    stateDirectory: state,
    mount: mountPoint,
    now,
    latest: latestIn(known),
  })
  if (isMount === true) known.set(mountNames, mountMark(mountPoint), mountPoint)
  const draftStore = await openDrafts(state, now)
  const drafts = openDraftFiles(draftStore, history, identityReader(identities), () =>
    news.tell({ key: draftsKey }),
  )
  const reports = openKnownReports(known, dialect)
  const roots = new Roots({ catalog, ledger, state: known, dialect, given: config.root })
  const mountNamed = (mark: string) => known.get(mountNames, mark)
  return { scratch, known, history, mountNamed, draftStore, drafts, reports, roots }
}

const mountNames = 'mount-names'

/** A damaged time counts as none. */
function latestIn(state: Ledger): Latest {
  const [namespace, key] = ['texts', 'met last']
  return {
    get() {
      const kept = Number(state.get(namespace, key))
      return Number.isSafeInteger(kept) ? instant(kept) : undefined
    },
    set: at => state.set(namespace, key, String(at)),
  }
}
