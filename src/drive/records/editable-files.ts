// Editable files: where the text of a record comes from, and what follows a save of it.

import type { Catalog, Readable } from '../../cache/metadata/catalog.js'
import type { Times } from '../../cache/metadata/times.js'
import type { RecordKey } from '../../edit/journal/record-key.js'
import type { TextHistory } from '../../edit/journal/text-history.js'
import type { EditableRecord } from '../../edit/save/editable.js'
import type { SaveRequest, SaveResult, Saver } from '../../edit/save/save.js'
import { asFailure, Failure, isA } from '../../failure.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import { equalJson } from '../../record/json/equal.js'
import type { JsonObject } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyBytes } from '../../record/json/print.js'
import type { Dialect, ProjectId, RequestContext } from '../../remote/remote.js'
import type { ProcessId } from '../../system/process.js'
import type { KnownReports } from '../names/known-reports.js'
import { type EditableNode, nodeKey, type OrderNode, type RecordNode } from '../nodes/node.js'
import type { AccessRights } from '../tree/access.js'
import type { DraftFiles } from './draft-files.js'
import { recordKeyOf } from './node-key.js'
import type { Editing, RecordSource, TextSnapshot } from './source.js'

export interface EditingParts {
  readonly rights: AccessRights
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly times: Times
  readonly reports: KnownReports
  readonly drafts: DraftFiles
  readonly history: TextHistory
  readonly saver: Saver
  /** How a record is saved, or a report's order. */
  readonly editable: (node: RecordNode | OrderNode) => EditableRecord
  readonly log: (sentence: string, about: { cause: unknown }) => void
  /** Told when this mount has changed the record, or may have: no file shows its text of before. */
  readonly changed: (node: RecordNode) => void
  /** Told what the service dropped beside a stored edit. */
  readonly lost: (node: EditableNode, sentence: string) => void
}

export function openRecordSources(parts: EditingParts): (node: RecordNode) => RecordSource {
  const { catalog, dialect, times } = parts
  // What was remembered already in this life of the mount, so that a stat costs no disk.
  const met = new Set<string>()

  // What is remembered of a record is one object until another is learned; its text goes with it.
  const printed = new WeakMap<JsonObject, Uint8Array>()

  function printedOf(record: JsonObject): Uint8Array {
    const known = printed.get(record)
    if (known !== undefined) return known
    const bytes = prettyBytes(record)
    printed.set(record, bytes)
    return bytes
  }

  function shownOf(node: RecordNode, record: JsonObject): TextSnapshot {
    const bytes = printedOf(record)
    if (node.of === 'report') parts.reports.refresh(node.id, record)
    const mtime = times.ofText(nodeKey(node), bytes, dialect.facts(record).modified)
    const meeting = `${nodeKey(node)} ${mtime}`
    // A text that may not be edited is no base of a save.
    if (!met.has(meeting) && parts.rights.refusal({ do: 'edit', node }) === undefined) {
      met.add(meeting)
      rememberText(parts, recordKeyOf(node), bytes, 'shown')
    }
    return { bytes, mtime }
  }

  function editing(node: RecordNode): Editing | Failure {
    const key = recordKeyOf(node)
    async function save(request: Omit<SaveRequest, 'record'>, context: RequestContext): Promise<undefined> {
      const saved = await savedOrOld(parts, node, () =>
        parts.saver.save({ record: parts.editable(node), ...request }, context),
      )
      if (saved.outcome === 'unchanged') forgetOther(node, catalog, await request.draft.text())
      else {
        learnSaved(parts, node, saved)
        times.stored(nodeKey(node), Buffer.from(saved.text))
      }
      return undefined
    }
    return (
      parts.rights.refusal({ do: 'edit', node }) ?? {
        begin: base => parts.drafts.begin(key, base && Buffer.from(base).toString()),
        noteRead: (text, by) => rememberText(parts, key, text, 'read', by),
        keep: async text => void (await parts.history.archive(key, text)),
        save: (draft, { base, process }, context) =>
          save({ draft, own: base && Buffer.from(base).toString(), by: process }, context),
        saveOver: (draft, now, context) =>
          save({ draft, own: Buffer.from(now).toString(), isOver: true }, context),
      }
    )
  }

  return node => ({
    key: nodeKey(node),
    produce: context => chain(readRecord(node, catalog, context), record => shownOf(node, record)),
    get editing() {
      return editing(node)
    },
    outlivesText: false,
    written: at => times.written(nodeKey(node), at),
    opened() {
      const known = node.of === 'report' ? catalog.record(readableOf(node)).known() : undefined
      if (node.of === 'report' && known !== undefined) parts.reports.add(node.id, known)
    },
  })
}

/** Beside the way of the data: a text that could not be remembered is at worst no base of an edit. */
export function rememberText(
  { history, log }: Pick<EditingParts, 'history' | 'log'>,
  key: RecordKey,
  text: Uint8Array | string,
  how: 'shown' | 'read',
  by?: ProcessId,
): void {
  history
    .remember(key, text, how, by)
    .catch(cause => log('a text that was shown could not be remembered', { cause }))
}

/** A save that failed at the service says that what is known here of the record may be old. */
export async function savedOrOld(
  { catalog, changed }: EditingParts,
  node: RecordNode,
  save: () => Promise<SaveResult>,
): Promise<SaveResult> {
  try {
    return await save()
  } catch (thrown) {
    if (!isA('unsent', asFailure(thrown))) {
      expireRecord(catalog, node)
      changed(node)
    }
    throw thrown
  }
}

/** The next question about the record goes to the service. */
export function expireRecord(catalog: Catalog, node: RecordNode): void {
  if (node.of === 'share') catalog.shares(node.project).refresh()
  else catalog.record(readableOf(node)).refresh()
}

/** What is known here becomes what the save has read; of the record as of its listing. */
export function learnSaved(
  parts: EditingParts,
  node: RecordNode,
  saved: Extract<SaveResult, { outcome: 'stored' }>,
): void {
  if (saved.lost !== undefined) parts.lost(node, saved.lost)
  learnRecord(parts, node, saved.record)
  // The text of the record as it is now is the next one a program may base an edit on.
  rememberText(parts, recordKeyOf(node), saved.text, 'shown')
  parts.changed(node)
}

/** Takes a record that was just read for what is known of it. */
export function learnRecord(
  { catalog, dialect, reports }: EditingParts,
  node: RecordNode,
  record: JsonObject,
): void {
  if (node.of === 'share') {
    catalog.shares(node.project).refresh()
    return
  }
  const before = catalog.record(readableOf(node)).known()
  const { title = '' } = dialect.facts(record)
  const isRenamed = before !== undefined && dialect.facts(before).title !== title
  catalog.record(readableOf(node)).learn(record)
  if (node.of === 'report') reports.add(node.id, record)
  else if (isRenamed) {
    // A path by number and a kept draft name no parent.
    const parent = node.parent ?? (dialect.facts(record).parent as ProjectId | undefined)
    if (parent !== undefined) catalog.retitleIn(parent, readableOf(node), title)
  }
}

/** Nothing new for the service; but where it is not what was known here, what was known is old. */
function forgetOther(node: RecordNode, catalog: Catalog, text: string): void {
  const known = node.of === 'share' ? undefined : catalog.record(readableOf(node)).known()
  if (known === undefined || !equalJson(known, parseObject(text))) expireRecord(catalog, node)
}

/** The record itself; a share is only ever listed with its project's others. */
function readRecord(node: RecordNode, catalog: Catalog, context: RequestContext): MaybePromise<JsonObject> {
  if (node.of !== 'share') return catalog.record(readableOf(node)).ask(context)
  return chain(catalog.shares(node.project).ask(context), shares => {
    const share = shares.find(({ id }) => id === node.id)
    if (share === undefined) throw new Failure('absent', `share ${node.id} is gone`)
    return share.record
  })
}

export function readableOf(node: Exclude<RecordNode, { of: 'share' }>): Readable {
  switch (node.of) {
    case 'project':
      return { kind: 'project', id: node.id }
    case 'calculation':
      return { kind: 'calculation', id: node.id }
    case 'report':
      return { kind: 'report', id: node.id }
  }
}
