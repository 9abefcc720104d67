// The whole line from the kernel to the network, put together in one place.
import { join } from 'node:path'
import { withConfirmedDeletes } from '../cache/confirming.js'
import { openContentCache } from '../cache/content/content.js'
import { withHealth } from '../cache/health.js'
import { openIdentities } from '../cache/identity.js'
import { type Ledger, openLedger } from '../cache/ledger/ledger.js'
import { openCatalog } from '../cache/metadata/catalog.js'
import { openQueryCache } from '../cache/metadata/query-cache.js'
import { openTimes } from '../cache/metadata/times.js'
import { withOwnMount } from '../cache/own-mount.js'
import type { Config } from '../config/config.js'
import { openControl } from '../drive/control/open-control.js'
import { openDrive } from '../drive/drive.js'
import { type FailureLog, openFailureLog } from '../drive/failure-log.js'
import { withFailuresOver } from '../drive/failure-recovery.js'
import { generateText } from '../drive/generated-texts.js'
import type { Control } from '../drive/interface/control.js'
import type { Drive } from '../drive/interface/verbs.js'
import { openFreedNames } from '../drive/names/freed-names.js'
import { openKnownReports } from '../drive/names/known-reports.js'
import { openRoots } from '../drive/names/roots.js'
import { openShownThings } from '../drive/names/shown-things.js'
import { nodeKey } from '../drive/nodes/node.js'
import { openPrefetcher } from '../drive/prefetch/prefetcher.js'
import { type DraftFiles, openDraftFiles } from '../drive/records/draft-files.js'
import { pathOfNode } from '../drive/records/node-key.js'
import { identityReader, openReusedIds } from '../drive/records/reused-ids.js'
import { openScratchFiles } from '../drive/records/scratch-files.js'
import { openTextLeases } from '../drive/records/text-lease.js'
import { spaceOf } from '../drive/space.js'
import { calculationAt } from '../drive/tree/calculation-path.js'
import { openTree, type Tree } from '../drive/tree/tree.js'
import { openWriteSide } from '../drive/write-side.js'
import { openXattrs } from '../drive/xattrs.js'
import { openDrafts } from '../edit/journal/drafts.js'
import { openRecordLocks } from '../edit/journal/record-lock.js'
import { type Latest, openTextHistory, textHash } from '../edit/journal/text-history.js'
import { asFailure, Failure } from '../failure.js'
import { type Instant, instant, type RequestContext } from '../remote/remote.js'
import type { Capabilities } from '../remote/rest/capabilities.js'
import type { Log } from '../terminal/log.js'
import type { Connection } from './connect.js'
import { clearHistory, clearOwnDirectories } from './own-places.js'
import { watchDirectories } from './place-troubles.js'
import { claimPlaces } from './places-owner.js'
import { type StatusSources, statusText } from './status-text.js'

export interface AssembledDrive {
  /** Whether anything of this account is remembered from earlier. */
  readonly knowsService: boolean
  /** Asks who the user is; answers why that failed, if it did. */
  introduce(): Promise<Failure | undefined>
  readonly drive: Drive
  /** What the command line may ask of it. */
  readonly control: Control
  readonly failureLog: FailureLog
  readonly drafts: DraftFiles
  /** Tells other daemons that this one has mounted the directory now. */
  claimMountPoint(): void
  /** What may be done once the mount is up: old drafts are settled, old texts forgotten. */
  tidy(): Promise<void>
  /** Checks every kept content against its proof; readers have the disk at least half of the time. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface AssemblySettings {
  readonly config: Config
  readonly connection: Connection
  readonly capabilities: Capabilities
  readonly mountPoint: string
  /** Whether the drive is still mounted there, once it is. */
  readonly isMounted?: (() => Promise<boolean>) | undefined
  /** The socket on which the control is served, for `status.json`. */
  readonly controlSocket?: string | undefined
  readonly log: Log
  readonly version: string
  readonly now: () => Instant
}

/** Seconds for which the kernel keeps names and attributes: more would show changes late, for nobody can tell it. */
export const kernelCacheSeconds = 1
/** The text lease outlives what the kernel was told by a second. */
const leaseMs = (kernelCacheSeconds + 1) * 1000

/** Milliseconds for which a question goes on after those who asked it have stopped waiting. */
const behindMs = 60_000
/** Milliseconds a status waits for the service. */
const statusPatience = 1000
/** The same where it is wanted to know whether the service answers: with the start of the command less than three seconds. A slow service is not away. */
const checkPatience = 2400

/** Builds the drive of one mount. Asks the service nothing: a mount comes up whatever the service does. */
export async function assemble(settings: AssemblySettings): Promise<AssembledDrive> {
  const { config, connection, capabilities, log, now } = settings
  const { account, dialect } = connection
  const note = (sentence: string, about: Record<string, unknown> = {}): void => log.warn(about, sentence)

  await clearOwnDirectories(account.places, note)
  clearHistory(account.places, note).catch(error => note('the history was not looked through', { error }))
  const ledger = openLedger(join(account.places.cache, 'index'), { now, log: note })
  Object.assign(capabilities, JSON.parse(ledger.get('service', 'capabilities') ?? '{}'))
  const knowsService = ledger.get('user', 'self') !== undefined
  capabilities.tellsUser = knowsService
  // What the service was not seen to do is found out by each mount.
  delete capabilities.untold
  const { remote, health } = withHealth(connection.remote, now)
  const queryCache = openQueryCache(
    ledger,
    {
      names: config.maxEntries,
      absence: config.ttlAbsent,
      staleness: config.staleLimit,
      patience: config.deadlineMetadata,
      behind: behindMs,
    },
    { now, service: health },
  )
  const identities = openIdentities(ledger, { now, log: note })
  const catalog = openCatalog(remote, queryCache, {
    listing: config.ttlListing,
    record: config.ttlRecord,
    dialect,
    identities,
    now,
    otherShare: (project, share) => reusedIds.otherShare(project, share),
    sharesTold: (project, shares) => reusedIds.sharesTold(project, shares),
  })
  const content = openContentCache({
    directory: join(account.places.cache, 'content'),
    limitBytes: config.cacheSize,
    ledger,
    remote,
    now,
    log: note,
  })
  const times = openTimes(ledger, now)
  const failureLog = openFailureLog(now)
  const leases = openTextLeases(leaseMs, now)
  const scratch = await openScratchFiles(
    join(account.places.state, 'scratch', textHash(settings.mountPoint).slice(0, 12)),
  )
  // Beside the drafts, not in the cache: no operation of the service would bring this list back.
  const known = openLedger(join(account.places.state, 'known'), { now, log: note })
  const history = openTextHistory({
    stateDirectory: account.places.state,
    mount: settings.mountPoint,
    now,
    latest: latestIn(known),
  })
  const draftStore = await openDrafts(account.places.state, now)
  const drafts = openDraftFiles(draftStore, history, identityReader(identities))
  const shown = openShownThings(known)
  const reports = openKnownReports(known, { dialect, shown })
  const roots = openRoots({ catalog, ledger, state: known, dialect, identities, given: config.root })
  const ownMount = withOwnMount(withConfirmedDeletes(remote, { identities, dialect, now }), {
    state: known,
    mountPoint: settings.mountPoint,
    isMounted: settings.isMounted ?? (async () => true),
  })
  const entries = { tree: (): Tree => tree, remote, mountPoint: settings.mountPoint }
  const writeSide = openWriteSide({
    access: config.access,
    maxDeletes: config.maxDeletes,
    catalog,
    dialect,
    remote: ownMount.remote,
    identities,
    times,
    leases,
    reports,
    shown,
    drafts,
    history,
    state: known,
    mountPoint: settings.mountPoint,
    describe: description(config, account.user, now),
    resolveEntry: (path: string, context: RequestContext) => calculationAt(path, entries, context),
    failed: (path, failure) => failureLog.note('deleting', path, failure),
    succeeded: failureLog.forget,
    lost: (node, sentence) => failureLog.note('save', pathOfNode(node), new Failure('broken', sentence)),
    log: note,
    patience: config.deadlineSave,
    hold: openRecordLocks(account.places.state, now),
    now,
  })
  const { records, rights, aliases } = writeSide
  const reusedIds = openReusedIds({
    identities,
    catalog,
    times,
    reports,
    shown,
    drafts,
    records,
    forgetNames: writeSide.forgetNames,
    aliases: writeSide.aliases,
    expireAll: queryCache.expireAll,
    lifetime: config.ttlListing,
    log: note,
    now,
  })
  const local = { scratch: scratch.entries, drafts: drafts.names, ...writeSide.local }
  const freed = openFreedNames(now)
  const tree = openTree({ catalog, identities, dialect, roots, reports, rights, aliases, local, freed, now })
  const deleteRules = writeSide.deleteRules(tree)
  const statusSources: StatusSources = {
    account,
    config,
    mountPoint: settings.mountPoint,
    control: settings.controlSocket,
    since: now(),
    version: settings.version,
    health,
    content,
    drafts,
    failures: failureLog,
    identities,
    removals: writeSide.removals,
    now,
  }

  const places = await watchDirectories(account.places, { note, now })

  async function status(check = false): Promise<string> {
    // Status is asked for when things go wrong: it does not wait for a service that is away.
    const within = (patience: number): RequestContext => ({
      deadline: instant(now() + patience),
      priority: 'user',
    })
    const checked = check ? health.check(within(checkPatience)) : undefined
    const top = await roots
      .top(within(statusPatience))
      .then(roots.explain, (thrown: unknown) => asFailure(thrown).message)
    await checked
    return statusText(statusSources, top, await places.look())
  }

  const xattrs = openXattrs({ catalog, content, records, failureLog, roots, service: account.base.href })
  const deadlines = {
    metadata: config.deadlineMetadata,
    read: config.deadlineRead,
    save: config.deadlineSave,
  }
  const generation = { catalog, dialect, tree, reports, status, isHidden: writeSide.isHidden }
  const drive = withFailuresOver(
    openDrive({
      tree,
      catalog,
      content,
      times,
      leases,
      generated: openTextLeases(leaseMs, now),
      health,
      records,
      scratch,
      drafts,
      produce: async (node, context) => {
        const bytes = await generateText(node, generation, context)
        return { bytes, mtime: times.ofText(nodeKey(node), bytes, undefined) }
      },
      source: writeSide.source,
      discardDraft: async name => {
        await writeSide.discardDraft(drafts.named(name))
      },
      succeeded: failureLog.forget,
      failed: (path, failure) => failureLog.note('removing', path, failure),
      rights,
      createRename: writeSide.createRename,
      deleteRules,
      pending: writeSide.pending,
      isHidden: writeSide.isHidden,
      async recreated(node) {
        deleteRules.createdAgain(node)
        await writeSide.recreated(node)
      },
      takenBackAt: deleteRules.takeBackAt,
      statfs: () => spaceOf(account.places.state),
      xattrs,
      foresight: openPrefetcher({
        catalog,
        content,
        tree,
        room: connection.guesses,
        cacheBytes: config.cacheSize,
        now,
      }),
      deadlines,
      now,
    }),
    failureLog,
  )

  const control = openControl({
    placeTroubles: places.look,
    tree,
    catalog,
    content,
    cacheDirectory: join(account.places.cache, 'content'),
    identities,
    drafts,
    history,
    failureLog,
    reports,
    xattrs,
    writeSide,
    deadlines,
    status,
    health,
    now,
  })

  writeSide.adopt()
  for (const { id, damage } of draftStore.found) if (damage !== undefined) log.warn({ draft: id }, damage)
  for (const { directory, cause } of draftStore.damaged)
    log.warn({ directory, cause }, 'a draft cannot be read')

  return {
    knowsService,
    async introduce() {
      try {
        const user = await remote.user({
          deadline: instant(now() + config.deadlineMetadata),
          priority: 'user',
        })
        claimPlaces(account, { known, before: catalog.knownUser() }, user)
        catalog.greet(user)
        return undefined
      } catch (thrown) {
        return asFailure(thrown)
      }
    },
    drive,
    control,
    failureLog,
    drafts,
    claimMountPoint: ownMount.claim,
    async tidy() {
      for (const draft of drafts.unsent()) {
        const context: RequestContext = { deadline: instant(now() + config.deadlineSave), priority: 'guess' }
        await writeSide
          .settle(draft, context)
          .catch(cause => log.warn({ cause, draft: draft.id }, 'a draft could not be compared'))
      }
      await history.purge()
    },
    async check() {
      await content.scrub()
    },
    async close() {
      for (const { path } of await writeSide.pending.end())
        log.warn({ path }, 'this calculation was not deleted: the drive ended in the pause before')
      writeSide.endMount()
      await records.settled()
      await drafts.leave()
      await history.settled()
      ledger.set('service', 'capabilities', JSON.stringify(capabilities))
      await content.close()
      ledger.close()
      known.close()
      await connection.close()
    },
  }
}

/** The template of the configuration with a new project's own name in it. */
function description(config: Config, user: string, now: () => Instant): (title: string) => string {
  return title => {
    const own: Record<string, string> = {
      name: title,
      user,
      date: new Date(now()).toISOString().slice(0, 10),
    }
    return config.projectDescription.replace(/\{(name|user|date)\}/g, (_, word: string) => own[word] ?? '')
  }
}

/** A damaged time is none. */
function latestIn(state: Ledger): Latest {
  const [room, key] = ['texts', 'met last']
  return {
    get() {
      const kept = Number(state.get(room, key))
      return Number.isSafeInteger(kept) ? instant(kept) : undefined
    },
    set: at => state.set(room, key, String(at)),
  }
}
