// Editable files: where the text of a record, or of a report's order, comes from, and what follows a save of it.
import { LRUCache } from 'lru-cache'
import type { Identities } from '../../cache/identity.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import type { Times } from '../../cache/metadata/times.js'
import type { Draft } from '../../edit/journal/draft.js'
import type { RecordKey } from '../../edit/journal/record-key.js'
import type { TextHistory } from '../../edit/journal/text-history.js'
import { orderText } from '../../edit/kinds/order-record.js'
import type { EditableRecord, SaveRequest } from '../../edit/save/editable.js'
import type { SaveResult, Saver } from '../../edit/save/save.js'
import { asFailure, Failure, isA } from '../../failure.js'
import { attempt, chain, type MaybePromise } from '../../maybe-promise.js'
import { foundOnce, RecentMap } from '../../recent-map.js'
import { equalJson } from '../../record/json/equal.js'
import type { JsonObject } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyBytes, prettyPrint } from '../../record/json/print.js'
import type { Instant, ProjectId, Remote, RequestContext } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import type { ProcessId } from '../../system/process.js'
import type { KnownReports } from '../names/known-reports.js'
import type { NameAliases } from '../names/name-aliases.js'
import {
  type EditableNode,
  nodeKey,
  type OrderNode,
  questionOf,
  type RecordNode,
  readableOf,
  savedNodeOf,
} from '../nodes/node.js'
import type { AccessRights } from '../tree/access.js'
import type { DraftFiles } from './draft-files.js'
import type { RecordSource, TextSnapshot, Writing } from './source.js'

export interface EditingParts {
  readonly rights: AccessRights
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly times: Times
  readonly identities: Identities
  readonly aliases: NameAliases
  readonly remote: Remote
  readonly now: () => Instant
  readonly reports: KnownReports
  readonly drafts: DraftFiles
  readonly history: TextHistory
  readonly save: Saver['save']
  readonly editable: (node: RecordNode | OrderNode) => EditableRecord
  readonly log: (sentence: string, about: Record<string, unknown>) => void
  /** Told when this mount has changed the record, or may have: no file shows its text of before. */
  readonly changed: (node: RecordNode) => void
  /** Told what the service dropped beside a stored edit. */
  readonly lost: (node: EditableNode, sentence: string) => void
}

/** Lists of reports are remembered with the records they were made from, in so many characters. */
const originCharacters = 4 << 20
const metAtMost = 65_536

/** The texts of records, and of the orders of reports, as they are shown. */
class ShownTexts {
  /** By record the time of the text that was remembered last, so that a stat costs no disk. */
  readonly #met = new RecentMap<string, Instant>(metAtMost)
  /** By the text of an order, the record's text that it was made of. */
  readonly #origins = new LRUCache<string, string>({
    maxSize: originCharacters,
    sizeCalculation: (origin, known) => origin.length + known.length,
  })
  /** The memory of a record is one object until another is learned; its text goes with it. */
  readonly #printed = foundOnce(prettyBytes)

  constructor(private readonly parts: EditingParts) {}

  ofRecord(node: RecordNode, record: JsonObject): TextSnapshot {
    const { dialect, reports, rights, times } = this.parts
    const bytes = this.#printed(record)
    if (node.of === 'report') reports.refresh(node.id, record)
    const key = nodeKey(node)
    const mtime = times.ofText(key, bytes, dialect.facts(record).modified)
    // A text that may not be edited is no base of a save.
    if (this.#met.get(key) !== mtime && rights.refusal(node) === undefined) {
      this.#met.set(key, mtime)
      rememberText(this.parts, node, bytes, 'shown')
    }
    return { bytes, mtime }
  }

  async ofOrder(node: OrderNode, context: RequestContext): Promise<TextSnapshot> {
    const { catalog, dialect, times } = this.parts
    const record = await catalog.record(readableOf(node)).ask(context)
    const rows = dialect.lists.rows(record)
    if (rows === undefined) {
      const sentence = `report ${node.id}: the service does not show the list of its calculations`
      throw new Failure('unsupported', sentence)
    }
    const text = orderText(rows)
    const known = `${node.id} ${text}`
    const origin = prettyPrint(record)
    if (this.#origins.get(known) !== origin) {
      this.#origins.set(known, origin)
      rememberText(this.parts, savedNodeOf(node), origin, 'shown')
    }
    const bytes = Buffer.from(text)
    return { bytes, mtime: times.ofText(nodeKey(node), bytes, dialect.facts(record).modified) }
  }

  /** The record's text that a text of the file was made of. */
  originOf(node: RecordNode | OrderNode, text: Uint8Array | undefined): string | undefined {
    const shown = text && Buffer.from(text).toString()
    return shown === undefined || node.kind === 'record' ? shown : this.#origins.get(`${node.id} ${shown}`)
  }
}

/** The file of a record, or of the order of a report, which is another form of its list. */
class EditableFile implements RecordSource {
  readonly key: string
  readonly outlivesText = false

  constructor(
    private readonly node: RecordNode | OrderNode,
    private readonly parts: EditingParts,
    private readonly texts: ShownTexts,
  ) {
    this.key = nodeKey(node)
  }

  produce(context: RequestContext): MaybePromise<TextSnapshot> {
    const { node, parts, texts } = this
    if (node.kind === 'order') return texts.ofOrder(node, context)
    return chain(readRecord(node, parts.catalog, context), record => texts.ofRecord(node, record))
  }

  opened(): void {
    const { node, parts } = this
    if (node.kind !== 'record' || node.of !== 'report') return
    const known = parts.catalog.record(readableOf(node)).known()
    if (known !== undefined) parts.reports.add(node.id, known)
  }

  refusal(): Failure | undefined {
    return this.parts.rights.refusal(this.node)
  }

  begin(base: Uint8Array | undefined, text: Uint8Array): Promise<Draft> {
    return this.parts.drafts.begin(this.node, { base: this.texts.originOf(this.node, base), text })
  }

  noteRead(text: Uint8Array, process: ProcessId | undefined): void {
    const { node, parts, texts } = this
    const origin = node.kind === 'order' ? texts.originOf(node, text) : text
    if (origin !== undefined) rememberText(parts, savedNodeOf(node), origin, 'read', this.#by(process))
  }

  keep(text: Uint8Array): MaybePromise<void> {
    return this.parts.history.remember(this.node, text, 'dropped')
  }

  async save(draft: Draft, { base, process, isOver }: Writing, context: RequestContext): Promise<undefined> {
    const { node, parts, texts } = this
    const own = texts.originOf(node, base)
    const request = { record: parts.editable(node), draft, own, isOver, by: this.#by(process) }
    const saved = await saveRecord(parts, savedNodeOf(node), request, context)
    if (node.kind === 'record' && saved.outcome === 'unchanged')
      forgetOther(node, parts.catalog, draft.text())
    return undefined
  }

  /** A text read of the record itself is another text to an order. */
  #by(process: ProcessId | undefined): ProcessId | undefined {
    return this.node.kind === 'order' && process !== undefined ? { ...process, view: 'order' } : process
  }
}

export function openRecordSources(parts: EditingParts): (node: RecordNode | OrderNode) => RecordSource {
  const texts = new ShownTexts(parts)
  return node => new EditableFile(node, parts, texts)
}

/** Beside the way of the data: a text that could not be remembered is at worst no base of an edit. */
function rememberText(
  { history, log }: Pick<EditingParts, 'history' | 'log'>,
  key: RecordKey,
  text: Uint8Array | string,
  how: 'shown' | 'read',
  by?: ProcessId,
): void {
  void attempt(
    () => history.remember(key, text, how, by),
    cause => log('a text that was shown could not be remembered', { cause }),
  )
}

/**
 * Saves it. The known record becomes the one that the save has read, of the record as of its listing; a save that failed at the
 * service says that what is known here may be old.
 */
export async function saveRecord(
  parts: EditingParts,
  node: RecordNode,
  request: SaveRequest,
  context: RequestContext,
): Promise<SaveResult> {
  let saved: SaveResult
  try {
    saved = await parts.save(request, context)
  } catch (thrown) {
    if (!isA('unsent', asFailure(thrown))) {
      questionOf(parts.catalog, node).refresh()
      parts.changed(node)
    }
    throw thrown
  }
  if (saved.outcome === 'unchanged') return saved
  if (saved.lost !== undefined) parts.lost(node, saved.lost)
  learnRecord(parts, node, saved.record)
  // The text of the record as it is now is the next one a program may base an edit on.
  rememberText(parts, node, saved.text, 'shown')
  parts.changed(node)
  return saved
}

export function learnRecord(
  { catalog, dialect, reports }: EditingParts,
  node: RecordNode,
  record: JsonObject,
): void {
  if (node.of === 'share') {
    catalog.shares(node.project).refresh()
    return
  }
  const known = catalog.record(readableOf(node))
  const before = known.known()
  known.learn(record)
  if (node.of === 'report') {
    reports.add(node.id, record)
    return
  }
  const { title = '', parent: said } = dialect.facts(record)
  if (before === undefined || dialect.facts(before).title === title) return
  // A path by number and a kept draft name no parent.
  const parent = node.parent ?? (said as ProjectId | undefined)
  if (parent !== undefined) catalog.retitleIn(parent, readableOf(node), title)
}

/** Nothing new for the service; but where it is not what was known here, what was known is old. */
function forgetOther(node: RecordNode, catalog: Catalog, text: string): void {
  const known = node.of === 'share' ? undefined : catalog.record(readableOf(node)).known()
  if (known === undefined || !equalJson(known, parseObject(text))) questionOf(catalog, node).refresh()
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
