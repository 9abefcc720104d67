// Builds the drive: the write side, the tree, the verbs over them, and the operations of the command line.
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { signInEnded } from '../cache/health.js'
import type { DriveParts } from '../drive/context.js'
import { openControl } from '../drive/control/open-control.js'
import { openDrive } from '../drive/drive.js'
import type { FailureLog } from '../drive/failure-log.js'
import { GeneratedTexts } from '../drive/generated-texts.js'
import type { KernelNews } from '../drive/interface/verbs.js'
import { type Node, nodeKey } from '../drive/nodes/node.js'
import { Pins } from '../drive/pins/pins.js'
import { openPrefetcher } from '../drive/prefetch/prefetcher.js'
import { openDriveReader } from '../drive/reader/open-reader.js'
import { type DraftFiles, draftFacts } from '../drive/records/draft-files.js'
import { openTree, type Tree } from '../drive/tree/tree.js'
import { WriteSide } from '../drive/write-side.js'
import { openXattrs } from '../drive/xattrs.js'
import { takeLock } from '../edit/journal/lock.js'
import type { MetricSources } from '../metrics/figures.js'
import { openWatch } from '../metrics/watch.js'
import type { RequestContext } from '../remote/remote.js'
import { version } from '../terminal/package-root.js'
import { type AssemblySettings, type Note, namesAtMost, readDeadline } from './assembly-settings.js'
import type { Caches, Journal } from './build-stores.js'
import type { DirectoryTroubles } from './own-places.js'
import { openStatus } from './status-text.js'

interface Told {
  readonly failureLog: FailureLog
  readonly news: KernelNews
  readonly places: DirectoryTroubles
}

/** Requests of all pins side by side; the rest is for users, and for what is foreseen. */
const pinRequestsAtMost = 16
/** Milliseconds after which the listings of pinned projects are asked for again. */
const pinInterval = 600_000

export function buildDrive(
  settings: AssemblySettings,
  note: Note,
  caches: Caches,
  journal: Journal,
  { failureLog, news, places }: Told,
) {
  const { config, connection, mountPoint, clock } = settings
  const { now } = clock
  const { account, dialect } = connection
  const { drafts, roots, scratch } = journal
  const writeSide = new WriteSide({
    ...caches,
    ...journal,
    access: config.access,
    maxDeletes: config.maxDeletes,
    dialect,
    failureLog,
    news,
    mountPoint,
    resolveEntry: (path: string, context: RequestContext) => tree.calculationAt(path, context),
    log: note,
    patience: config.deadlineSave,
    clock,
  })
  const tree: Tree = openTree({
    ...caches,
    ...journal,
    dialect,
    rights: writeSide.rights,
    aliases: writeSide.aliases,
    mountPoint,
    local: {
      scratch: directory => scratch.entries(directory),
      drafts: drafts.names,
      unsentNew: place => writeSide.newFiles.unsent(place),
      isNew: node => writeSide.newFiles.has(node),
      hides: (node, name) => writeSide.hides(node, name),
      hasDraft: node => writeSide.records.draftOf(nodeKey(node)) !== undefined,
    },
  })
  const pins = new Pins({
    ...caches,
    tree,
    dialect,
    interval: pinInterval,
    limit: pLimit(pinRequestsAtMost),
    patience: config.deadlineMetadata,
    takeTurn: () => takeLock(account.places.state, 'pins'),
    clock,
    log: (sentence, about = {}) => settings.log.warn(about, sentence),
  })
  const status = openStatus({ settings, caches, journal, writeSide, failureLog, places, pins })
  const deadlines = {
    metadata: config.deadlineMetadata,
    read: readDeadline(config),
    save: config.deadlineSave,
  }
  const generation = {
    ...caches,
    ...journal,
    dialect,
    tree,
    status: async () => `${JSON.stringify(await status(), null, 2)}\n`,
    isHidden: (node: Node) => writeSide.isHidden(node),
  }
  const parts = {
    ...caches,
    ...journal,
    tree,
    generated: new GeneratedTexts(generation, caches.times, now),
    writeSide,
    failureLog,
    statfs: () => statfs(account.places.state),
    xattrs: openXattrs({
      ...caches,
      records: writeSide.records,
      failureLog,
      roots,
      service: account.base.href,
    }),
    news,
    foresight: openPrefetcher({
      ...caches,
      tree,
      room: () => connection.client.guesses,
      missed: () => settings.activity.cache.missed,
      cacheBytes: config.cacheSize,
      names: namesAtMost,
      clock,
    }),
    deadlines,
    requests: () => settings.activity.calls.current,
    clock,
  } satisfies DriveParts
  // A command says what it wants of a whole tree, so that there is nothing to guess.
  const unwatched = openDrive({ ...parts, foresight: undefined })
  const control = openControl({
    ...parts,
    placeTroubles: places,
    cacheDirectory: join(account.places.cache, 'content'),
    status,
    pins,
    watch: openWatch(metricSources(settings, caches, drafts)),
  })
  return {
    writeSide,
    tree,
    drive: openDrive(parts),
    reader: openDriveReader(unwatched, clock, failureLog.note),
    control,
    pins,
  }
}

function metricSources(
  { activity, connection, mountPoint, clock }: AssemblySettings,
  { content, fleet, health }: Caches,
  drafts: DraftFiles,
): MetricSources {
  const { base, user } = connection.account
  return {
    activity,
    version: version(),
    since: clock.now(),
    now: clock.now,
    drive: { mountPoint, service: base.href, user },
    cache: () => content.stats(),
    downloads: () =>
      content.progress().map(({ content: { title, calculation }, arrived, length }) => ({
        name: `${title} of calculation ${calculation}`,
        arrived,
        length,
      })),
    drafts: () =>
      drafts.list().map(one => {
        const { name, record, state, since, why } = draftFacts(one)
        return { record: `${name}: ${record}`, state, since, why }
      }),
    awayBecause: () => health.outage?.failure.message,
    signedOutBecause: () => health.signedOut && signInEnded(health.signedOut.failure),
    fleet: () => fleet?.status(),
  }
}
