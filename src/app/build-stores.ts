// Builds what is kept: the caches, from which is answered before a request is sent, and the journal, which no request could restore.
import { join } from 'node:path'
import * as z from 'zod'
import { ContentCache } from '../cache/content/content.js'
import { Health } from '../cache/health.js'
import { Identities } from '../cache/identity.js'
import { Ledger, valueIn } from '../cache/ledger/ledger.js'
import { withUnmadeNoted } from '../cache/metadata/calculation-files.js'
import { openCatalog, shownByQuery } from '../cache/metadata/catalog.js'
import { QueryCache } from '../cache/metadata/query-cache.js'
import { Times } from '../cache/metadata/times.js'
import { BadSetting } from '../config/settings.js'
import { draftsKey } from '../drive/interface/attributes.js'
import type { KernelNews } from '../drive/interface/verbs.js'
import { KnownReports } from '../drive/names/known-reports.js'
import { Roots } from '../drive/names/roots.js'
import { PinStore } from '../drive/pins/pin-store.js'
import type { Pins } from '../drive/pins/pins.js'
import { openDraftFiles, refill } from '../drive/records/draft-files.js'
import { ScratchFiles } from '../drive/records/scratch-files.js'
import type { WriteSide } from '../drive/write-side.js'
import { openDrafts } from '../edit/journal/drafts.js'
import { mountMark, TextHistory, textHash } from '../edit/journal/text-history.js'
import { fleetAddress } from '../fleet/address.js'
import type { Fleet } from '../fleet/fleet.js'
import { readFleetKey } from '../fleet/seal.js'
import type { ChangeElsewhere } from '../fleet/shared-value.js'
import { behindMs } from '../remote/shared-answer.js'
import { type AssemblySettings, type Note, namesAtMost } from './assembly-settings.js'
import { authorityIn } from './connect.js'

/** @param built the drive that stands on these caches, once there is one */
export function buildCaches(
  { config, connection, clock, activity }: AssemblySettings,
  note: Note,
  built: () => { readonly writeSide: WriteSide; readonly pins: Pins } | undefined,
  news: KernelNews,
  fleet: Fleet | undefined,
) {
  const { now } = clock
  const { account, capabilities } = connection
  const { cache } = account.places
  const ledger = new Ledger(join(cache, 'index'), { clock, log: note })
  Object.assign(capabilities, valueIn(z.looseObject({}), ledger.get('service', 'capabilities')))
  const knowsService = ledger.get('user', 'self') !== undefined
  // Missing capabilities of the service are discovered by each mount.
  delete capabilities.untold
  const health = new Health(connection.remote, clock, connection.client)
  const { remote } = health
  const queryCache = new QueryCache(
    {
      names: namesAtMost,
      absence: config.ttlListing / 6,
      staleness: config.staleLimit,
      patience: config.deadlineMetadata,
      behind: behindMs,
    },
    {
      ledger,
      clock,
      service: health,
      activity,
      source: fleet?.answers,
      isKept: (query, answer) => pinStore.keepsAnswer(query, answer),
      changed(namespace, key) {
        built()?.pins.changed(namespace, key)
        if (namespace === undefined || key === undefined) return news.tell('all')
        const shown = shownByQuery(namespace, key)
        if (shown !== undefined) news.tell([shown])
      },
    },
  )
  const identities = new Identities(ledger, now, note)
  const catalog = openCatalog(remote, queryCache, {
    lifetimes: { listing: config.ttlListing, record: config.ttlListing / 3 },
    dialect: connection.dialect,
    identities,
    lacks: connection.lacks,
    doubts: connection.doubts,
    otherShare: (project, share) => built()?.writeSide.otherShare(project, share),
  })
  const content = new ContentCache({
    directory: join(cache, 'content'),
    limitBytes: config.cacheSize,
    activity,
    ledger,
    remote: withUnmadeNoted(fleet?.contents.around(remote) ?? remote, (of, name) => {
      catalog.derived.cannotMake(of, name)
      news.tell([`calculation ${of}`])
    }),
    clock,
    log: note,
    replaced: name => fleet?.contents.replaced(name),
    dropped: name => built()?.pins.dropped(name),
    // Eviction begins before the drive is built.
    pinned: () => pinStore.names(),
    // Another version of a content is rare: all is told.
    changed: () => news.tell('all'),
  })
  const pinStore: PinStore = new PinStore(ledger, content, config.cacheSize)
  const times = new Times(ledger, now)
  function outdate(change: ChangeElsewhere): void {
    if (change.is === 'content')
      content.outdate(change.name).catch(error => note('an old version was not dropped', { error }))
    else queryCache.outdate(change.is === 'all' ? undefined : change)
  }
  return {
    ledger,
    /** The platform, watched: its answers show whether the service is up. */
    remote,
    health,
    queryCache,
    identities,
    catalog,
    content,
    pinStore,
    times,
    fleet,
    outdate,
    knowsService,
  }
}

export type Caches = ReturnType<typeof buildCaches>

export async function buildJournal(
  { config, connection, mountPoint, isMount, clock }: AssemblySettings,
  note: Note,
  { catalog, identities, ledger }: Caches,
  news: Pick<KernelNews, 'tell'>,
) {
  const { now } = clock
  const { dialect } = connection
  const { state: directory } = connection.account.places
  const scratch = new ScratchFiles(join(directory, 'scratch', textHash(mountPoint).slice(0, 12)))
  const state = new Ledger(join(directory, 'known'), { clock, log: note })
  const history = new TextHistory({ stateDirectory: directory, mount: mountPoint, now, notes: state })
  if (isMount === true) state.set(mountNames, mountMark(mountPoint), mountPoint)
  const draftStore = await openDrafts(directory, now)
  for (const draft of draftStore.found)
    await refill(draft, history).catch(error => note('an emptied draft was not filled', { error }))
  const drafts = openDraftFiles(draftStore, history, identities, () => news.tell([draftsKey]))
  const reports = new KnownReports(state, dialect)
  const roots = new Roots({ catalog, ledger, state, dialect, given: config.root })
  return {
    scratch,
    /** Names and numbers that were shown, made or given: kept next to the drafts. */
    state,
    history,
    /** The mount point behind a mark of the history, as far as it was noted. */
    mountNamed: (mark: string) => state.get(mountNames, mark),
    draftStore,
    drafts,
    reports,
    roots,
  }
}

export type Journal = Awaited<ReturnType<typeof buildJournal>>

const mountNames = 'mount-names'

/** @throws BadSetting for an address or a key that is none */
export async function buildFleet(
  { config, connection, clock }: AssemblySettings,
  note: Note,
  outdated: (change: ChangeElsewhere) => void,
): Promise<Fleet | undefined> {
  const { fleet, fleetKeyFile, caFile } = config
  if (fleet === undefined) return undefined
  if (fleetKeyFile === undefined)
    throw new BadSetting(
      '--fleet needs --fleet-key-file: make one with `calcfs fleet key FILE`, and copy it to every node.',
    )
  // Most mounts have none: the client is loaded for those that do.
  const { Fleet } = await import('../fleet/fleet.js')
  const { account } = connection
  return new Fleet({
    address: fleetAddress(fleet),
    key: readFleetKey(fleetKeyFile),
    authority: authorityIn(caFile),
    scope: [account.base.href, account.user],
    clock,
    log: note,
    outdated,
  })
}
