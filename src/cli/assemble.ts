// The whole line from the kernel to the network, put together in one place.
import { join } from 'node:path'
import { openCatalog } from '../cache/catalog.js'
import { openContentCache } from '../cache/content.js'
import { watched } from '../cache/health.js'
import { openLedger } from '../cache/ledger.js'
import { openMemory } from '../cache/memory.js'
import { openTimes } from '../cache/times.js'
import type { Config } from '../config.js'
import { type DraftTexts, openDraftTexts } from '../drive/draft-texts.js'
import { openDrive } from '../drive/drive.js'
import { openRecordSources } from '../drive/editing.js'
import { calculationAt } from '../drive/entry.js'
import { type Failures, openFailures } from '../drive/failures.js'
import { openForesight } from '../drive/foresight.js'
import { generate } from '../drive/generated.js'
import { openKnownReports } from '../drive/known-reports.js'
import { keyOf, type RecordNode } from '../drive/node.js'
import { openRecords } from '../drive/records.js'
import { openRoots } from '../drive/roots.js'
import { openScratch } from '../drive/scratch.js'
import { openShownTexts } from '../drive/shown.js'
import { spaceOf } from '../drive/space.js'
import { openTree } from '../drive/tree.js'
import type { Drive } from '../drive/verbs.js'
import { openXattrs } from '../drive/xattrs.js'
import type { Draft } from '../edit/draft.js'
import { openDrafts } from '../edit/drafts.js'
import type { EditableRecord } from '../edit/editable.js'
import type { RecordKey } from '../edit/key.js'
import { editableReport } from '../edit/report.js'
import { createSaver } from '../edit/save.js'
import { openTexts } from '../edit/texts.js'
import { asFailure, Failure } from '../failure.js'
import type { Learned } from '../remote/learned.js'
import { type Ask, type Instant, instant, type ReportId } from '../remote/remote.js'
import type { Connection } from './connect.js'
import type { Log } from './log.js'
import { type StatusSources, statusText } from './status-text.js'

export interface Line {
  /** Whether anything of this account is remembered from earlier. */
  readonly knowsService: boolean
  /** Asks who the user is; answers why that failed, if it did. */
  introduce(): Promise<Failure | undefined>
  readonly drive: Drive
  readonly failures: Failures
  readonly drafts: DraftTexts
  /** What may be done once the mount is up: old drafts are settled, caches checked, old texts forgotten. */
  tidy(): Promise<void>
  close(): Promise<void>
}

export interface LineSettings {
  readonly config: Config
  readonly connection: Connection
  readonly learned: Learned
  readonly mountPoint: string
  readonly log: Log
  readonly version: string
  readonly now: () => Instant
}

/** Seconds for which the kernel keeps names and attributes: more would show changes late, for nobody can tell it. */
export const kernelCacheSeconds = 1
/** The text lease outlives what the kernel was told by a second. */
const leaseMs = (kernelCacheSeconds + 1) * 1000

/** Milliseconds a status waits for the service. */
const statusPatience = 1000

/** Builds the drive of one mount. Asks the service nothing: a mount comes up whatever the service does. */
export async function assemble(settings: LineSettings): Promise<Line> {
  const { config, connection, learned, log, now } = settings
  const { account, dialect } = connection
  const note = (sentence: string, about: Record<string, unknown> = {}): void => log.warn(about, sentence)

  const ledger = openLedger(join(account.places.cache, 'index'), { now, log: note })
  Object.assign(learned, JSON.parse(ledger.get('service', 'learned') ?? '{}'))
  const { remote, health } = watched(connection.remote, now)
  const memory = openMemory(
    ledger,
    {
      entries: config.maxEntries,
      absence: config.ttlAbsent,
      staleness: config.staleLimit,
      patience: config.deadlineMetadata,
    },
    now,
  )
  const catalog = openCatalog(remote, memory, { listing: config.ttlListing, record: config.ttlRecord })
  const content = openContentCache({
    directory: join(account.places.cache, 'content'),
    limitBytes: config.cacheSize,
    ledger,
    remote,
    now,
    log: note,
  })
  const times = openTimes(ledger, now)
  const failures = openFailures(now)
  const shown = openShownTexts(leaseMs, now)
  const records = openRecords(shown, now)
  const scratch = await openScratch(join(account.places.state, 'scratch'))
  const texts = openTexts({ stateDirectory: account.places.state, mount: settings.mountPoint, now })
  const draftStore = await openDrafts(account.places.state, now)
  const drafts = openDraftTexts(draftStore, texts)
  // Beside the drafts, not in the cache: no operation of the service would bring this list back.
  const known = openLedger(join(account.places.state, 'known'), { now, log: note })
  const reports = openKnownReports(known, dialect)
  const roots = openRoots(catalog, ledger, dialect, config.root)
  const local = { scratch: scratch.names, drafts: drafts.names }
  const tree = openTree({ catalog, dialect, roots, reports, local })
  const saver = createSaver(texts, now)
  const entries = { tree, remote, mountPoint: settings.mountPoint }
  const ports = {
    remote,
    dialect,
    resolveEntry: (path: string, ask: Ask) => calculationAt(path, entries, ask),
  }
  const editable = (key: RecordKey): EditableRecord | undefined =>
    key.kind === 'report' ? editableReport(ports, key.id as ReportId) : undefined
  const source = openRecordSources({
    access: config.access,
    catalog,
    dialect,
    times,
    reports,
    drafts,
    texts,
    saver,
    editable,
    log: note,
    lost: (node, sentence) => failures.note('save', recordPath(node), new Failure('broken', sentence)),
  })
  const statusSources: StatusSources = {
    account,
    config,
    mountPoint: settings.mountPoint,
    since: now(),
    version: settings.version,
    health,
    content,
    drafts,
    failures,
    now,
  }

  async function status(): Promise<string> {
    // Status is asked for when things go wrong: it does not wait for a service that is away.
    const soon: Ask = { deadline: instant(now() + statusPatience), lane: 'user' }
    const top = await roots.top(soon).then(roots.explain, (thrown: unknown) => asFailure(thrown).message)
    return statusText(statusSources, top)
  }

  const generation = { catalog, dialect, tree, reports, status }
  const drive = openDrive({
    tree,
    catalog,
    content,
    times,
    shown,
    records,
    scratch,
    drafts,
    produce: async (node, ask) => {
      const bytes = Buffer.from(await generate(node, generation, ask))
      return { bytes, mtime: times.ofText(keyOf(node), bytes, undefined) }
    },
    source,
    giveUp,
    readOnly: config.access === 'read',
    statfs: () => spaceOf(account.places.state),
    xattrs: openXattrs({ catalog, content, records, failures, roots, service: account.base.href }),
    foresight: openForesight(catalog, content, now),
    deadlines: { metadata: config.deadlineMetadata, read: config.deadlineRead, save: config.deadlineSave },
    now,
  })

  /** The record shows what the service has; a draft that is no record's any more just goes. */
  async function giveUp(name: string): Promise<void> {
    await end(drafts.named(name))
  }

  /** Of two drafts of one record only one is shown in its place: the other is no part of this. */
  async function end(draft: Draft): Promise<void> {
    const shownIn = draft.key === undefined ? undefined : recordKeyOf(draft)
    if (shownIn !== undefined && records.draftOf(shownIn)?.id === draft.id) return records.drop(shownIn)
    return draft.discard()
  }

  /** A draft that was on its way when the last daemon ended is compared, never sent. */
  async function settle(draft: Draft): Promise<void> {
    const record = draft.key === undefined ? undefined : editable(draft.key)
    if (record === undefined) return
    const ask: Ask = { deadline: instant(now() + config.deadlineSave), lane: 'guess' }
    if ((await saver.settle({ record, draft }, ask)) !== 'stored') return
    // The record that is remembered from before the save would show the text of yesterday in the place of this one.
    catalog.refreshRecord({ kind: 'report', id: record.key.id as ReportId })
    await end(draft)
  }

  for (const draft of drafts.unsent()) if (draft.key !== undefined) records.adopt(recordKeyOf(draft), draft)
  for (const { directory, cause } of draftStore.damaged)
    log.warn({ directory, cause }, 'a draft cannot be read')

  return {
    knowsService: ledger.get('user', 'self') !== undefined,
    async introduce() {
      try {
        await catalog.greet({ deadline: instant(now() + config.deadlineMetadata), lane: 'user' })
        return undefined
      } catch (thrown) {
        return asFailure(thrown)
      }
    },
    drive,
    failures,
    drafts,
    async tidy() {
      for (const draft of drafts.unsent()) {
        await settle(draft).catch(cause =>
          log.warn({ cause, draft: draft.id }, 'a draft could not be compared'),
        )
      }
      await texts.purge()
      await content.scrub()
    },
    async close() {
      await records.settled()
      ledger.set('service', 'learned', JSON.stringify(learned))
      await content.close()
      ledger.close()
      known.close()
      await connection.close()
    },
  }
}

/** Where a saved record stands; only those of reports are saved. */
const recordPath = (node: RecordNode): string => `/reports/${node.id}.json`

const recordKeyOf = ({ key }: Draft): string =>
  key === undefined ? '' : keyOf({ kind: 'record', of: key.kind, id: key.id } as RecordNode)
