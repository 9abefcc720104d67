// Builds the write side over this mount's own remote, and the reaction to an id that stands for another record.
import { withConfirmedDeletes } from '../cache/confirming.js'
import type { Config } from '../config/config.js'
import type { FailureLog } from '../drive/failure-log.js'
import type { KernelNews } from '../drive/interface/kernel-news.js'
import { pathOfNode } from '../drive/records/node-key.js'
import { openReusedIds, type ReusedIds } from '../drive/records/reused-ids.js'
import { openTextLeases, type TextLeases } from '../drive/records/text-lease.js'
import { calculationAt } from '../drive/tree/calculation-path.js'
import { draftsKey, reportNamesKey } from '../drive/tree/listed-by.js'
import type { Tree } from '../drive/tree/tree.js'
import { openWriteSide, type WriteSide } from '../drive/write-side.js'
import { Failure } from '../failure.js'
import type { Instant, RequestContext } from '../remote/remote.js'
import { type AssemblySettings, leaseMs, type Note } from './assembly-settings.js'
import type { Caches } from './build-caches.js'
import type { Journal } from './build-journal.js'

export interface EditingLayer {
  readonly leases: TextLeases
  readonly writeSide: WriteSide
  readonly reusedIds: ReusedIds
}

/** `tree` is built from what this function returns, and used once it exists. */
export function buildEditing(
  { config, connection, mountPoint, clock }: AssemblySettings,
  note: Note,
  { catalog, identities, queryCache, remote, times }: Caches,
  { drafts, history, known, reports, roots }: Journal,
  { failureLog, news, tree }: { failureLog: FailureLog; news: KernelNews; tree(): Tree },
): EditingLayer {
  const { now } = clock
  const { account, dialect } = connection
  const leases = openTextLeases(leaseMs, clock, key => tellOfText(news, key))
  const changing = withConfirmedDeletes(remote, { identities, dialect, now })
  const entries = { tree, remote, mountPoint }
  const writeSide = openWriteSide({
    access: config.access,
    maxDeletes: config.maxDeletes,
    catalog,
    dialect,
    remote: changing,
    identities,
    roots,
    times,
    leases,
    changed: () => news.tell('all'),
    reports,
    drafts,
    history,
    state: known,
    mountPoint,
    describe: description(config, account.user, now),
    resolveEntry: (path: string, context: RequestContext) => calculationAt(path, entries, context),
    expireAll: queryCache.expireAll,
    failed: failureLog.note,
    gone: failureLog.gone,
    lost: (node, sentence) => failureLog.note('save', pathOfNode(node), new Failure('broken', sentence)),
    log: note,
    patience: config.deadlineSave,
    clock,
  })
  const reusedIds = openReusedIds({
    identities,
    catalog,
    times,
    reports,
    drafts,
    records: writeSide.records,
    forgetNames: writeSide.forgetNames,
    aliases: writeSide.aliases,
    expireAll: queryCache.expireAll,
    lifetime: config.ttlListing,
    log: note,
    now,
  })
  return { leases, writeSide, reusedIds }
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

/** A new file becomes the name of a record, which is listed from then on; where a text is not saved, `drafts/` has it, too. */
function tellOfText(news: KernelNews, key: string): void {
  if (key.startsWith('new ')) news.tell('all')
  else for (const shown of [key, draftsKey, reportNamesKey]) news.tell({ key: shown })
}
