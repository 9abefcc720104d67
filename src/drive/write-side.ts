// Write side, composed: records, new records, creation, renaming, deletion, and the drafts of earlier mounts.
import { LRUCache } from 'lru-cache'
import type { RecordRef } from '../cache/identity.js'
import type { Ledger } from '../cache/ledger/ledger.js'
import type { Readable } from '../cache/metadata/catalog.js'
import type { Draft } from '../edit/journal/draft.js'
import { recordWords, setApart, withFailure } from '../edit/journal/draft-meta.js'
import { type RecordKey, savedKeyOf } from '../edit/journal/record-key.js'
import { type NewRecordPorts, newReport, newShare } from '../edit/kinds/new-records.js'
import { editableOrder } from '../edit/kinds/order-record.js'
import { editableReport } from '../edit/kinds/report.js'
import { editableWholeRecord } from '../edit/kinds/whole-record.js'
import type { EditableRecord, SaveRequest } from '../edit/save/editable.js'
import { type SaveResult, Saver } from '../edit/save/save.js'
import { Failure, isAbsent } from '../failure.js'
import { type Clock, dueIn } from '../remote/clock.js'
import {
  type CalculationId,
  type Instant,
  instant,
  type ProjectId,
  type Remote,
  type RequestContext,
  type Share,
} from '../remote/remote.js'
import { CreateRename } from './create-rename.js'
import type { FailureLog } from './failure-log.js'
import { draftsKey, reportNamesKey } from './interface/attributes.js'
import type { KernelNews } from './interface/kernel-news.js'
import { type NameAliases, openNameAliases } from './names/name-aliases.js'
import {
  type EditableNode,
  isDirectory,
  type NewNode,
  type Node,
  nodeKey,
  nodeOfKey,
  type OrderNode,
  pathOfNode,
  questionOf,
  type RecordNode,
  recordOfChild,
  savedNodeOf,
  thingOf,
} from './nodes/node.js'
import { type EditingParts, openRecordSources } from './records/editable-files.js'
import { NewFiles } from './records/new.js'
import { Records } from './records/records.js'
import type { RecordSource } from './records/source.js'
import { Burst, type Deletable, type RemovedThing } from './removal/burst.js'
import { DeleteSender, type DeleteTarget } from './removal/send.js'
import { type Access, type AccessRights, openAccessRights } from './tree/access.js'
import type { NewPlace } from './tree/directory-kind.js'

export interface WriteSideSources
  extends Omit<EditingParts, 'rights' | 'aliases' | 'now' | 'save' | 'editable' | 'changed' | 'lost'> {
  readonly access: Access
  readonly maxDeletes: number
  readonly news: Pick<KernelNews, 'tell'>
  /** Kept with the drafts: what this mount has made, and what it was about to delete. */
  readonly state: Ledger
  readonly mountPoint: string
  readonly resolveEntry: NewRecordPorts['resolveEntry']
  readonly failureLog: Pick<FailureLog, 'note' | 'gone'>
  readonly patience: number
  readonly clock: Clock
}

export class WriteSide {
  readonly rights: AccessRights
  readonly aliases: NameAliases
  readonly records: Records
  readonly burst: Burst
  readonly createRename: CreateRename
  readonly deleteSender: DeleteSender
  readonly ports: NewRecordPorts & { readonly remote: Remote }
  readonly newFiles: NewFiles
  readonly #saver: Saver
  readonly #recordSource: (node: RecordNode | OrderNode) => RecordSource
  readonly #changedAt = new LRUCache<string, Instant>({ max: rememberedChanges })

  constructor(private readonly sources: WriteSideSources) {
    const { catalog, clock, dialect, failureLog, history, news, remote } = sources
    const { now } = clock
    this.ports = { remote, dialect, resolveEntry: sources.resolveEntry }
    this.rights = openAccessRights(sources.access, { catalog, dialect })
    this.aliases = openNameAliases(sources.state, sources.mountPoint)
    this.records = new Records(key => this.#tell(key), clock, sources.times)
    this.burst = new Burst({
      ...sources,
      back: node => this.#isBack(node),
      gone: ({ path }) => failureLog.gone(path),
      failed: failureLog.note,
      changed: () => news.tell('all'),
      send: thing => this.#delete(thing),
    })
    this.#saver = new Saver(history, now)
    const parts: EditingParts = {
      ...sources,
      rights: this.rights,
      aliases: this.aliases,
      now,
      save: (request, context) => this.#save(request, context),
      editable: node => this.#editable(node),
      changed: node => this.#changed(node),
      lost: (node, sentence) => failureLog.note('save', pathOfNode(node), new Failure('broken', sentence)),
    }
    this.#recordSource = openRecordSources(parts)
    this.newFiles = new NewFiles({
      ...parts,
      state: sources.state,
      mountPoint: sources.mountPoint,
      create: (record, draft, context) => this.#saver.create(record, draft, context),
      records: this.records,
      source: this.#recordSource,
      creatable: node => (node.of === 'share' ? newShare(this.ports, node) : newReport(this.ports, node.id)),
    })
    const forgetNames = (node: RecordNode): void => this.newFiles.forget(node)
    this.deleteSender = new DeleteSender({ ...parts, forgetNames, deleted: node => this.#deleted(node) })
    this.createRename = new CreateRename(parts)
    sources.identities.listen(({ thing }) => this.#another(thing))
  }

  source(node: EditableNode): RecordSource {
    return node.kind === 'new' ? this.newFiles.source(node) : this.#recordSource(node)
  }

  /** Of the name under which a record was made that record; any other node is itself. */
  meant<One extends Node>(node: One): One | RecordNode {
    return node.kind === 'new' ? (this.newFiles.target(node) ?? node) : node
  }

  isHidden(node: Node): boolean {
    return this.records.known(nodeKey(node))?.isAway === true || this.burst.has(nodeKey(this.meant(node)))
  }

  /** The same of a name: what lies in a removed thing is removed. */
  hides(node: Node, name: string): boolean {
    return (!isDirectory(node) && this.isHidden(node)) || this.burst.hides(node, name)
  }

  /** A file that may have been taken away a moment ago is created again: nothing of it is deleted. */
  async recreated(node: EditableNode): Promise<void> {
    const record = this.meant(node)
    if (record.kind === 'record') await this.burst.recreated(record)
  }

  unsentNew(of: NewPlace): readonly NewNode[] {
    return this.sources.drafts.unsent().flatMap(draft => {
      const node = nodeOfKey(draft.key)
      if (node?.kind !== 'new' || !this.#isShown(node, draft)) return []
      const isHere =
        node.of === 'share' ? of.kind === 'shares' && of.project === node.project : of.kind === 'reports'
      return isHere ? [node] : []
    })
  }

  isNew(node: NewNode): boolean {
    return this.newFiles.target(node) !== undefined || this.records.draftOf(nodeKey(node)) !== undefined
  }

  async end(draft: Draft): Promise<void> {
    const node = nodeOfKey(draft.key)
    const record = node && this.records.known(nodeKey(node))
    if (record === undefined) return draft.discard()
    // Of two drafts of one record only one is shown in its place: the other is no part of this.
    return record.draft?.id === draft.id ? record.drop() : record.endAside(draft)
  }

  /** The same for one that is given up: it is kept as history. Answers the file in which it lies then. */
  async discardDraft(draft: Draft): Promise<string> {
    const { history } = this.sources
    const { key = unknownKey(draft), emptied } = draft
    const before = emptied === undefined ? undefined : history.recall(key, emptied)
    const text = before === undefined ? await draft.remains() : Buffer.from(before)
    await history.remember(key, text, 'discarded')
    // A part of it may have been stored since the record was read.
    const node = nodeOfKey(draft.key)
    if (node !== undefined) this.forget(node)
    await this.end(draft)
    return history.fileOf(key, text)
  }

  /** The next question about the record goes to the service. */
  forget(node: EditableNode): void {
    if (node.kind !== 'new') questionOf(this.sources.catalog, node).refresh()
  }

  /** Shows the drafts of earlier mounts in the place of what they are drafts of. */
  adopt(): void {
    const { drafts } = this.sources
    for (const draft of drafts.unsent()) {
      const isApart = draft.meta.apart === true || draft.damage !== undefined
      const node = isApart ? undefined : nodeOfKey(draft.key)
      if (node !== undefined) this.records.record(nodeKey(node)).adopt(draft)
    }
    for (const draft of drafts.emptied()) {
      const node = nodeOfKey(draft.key)
      if (node?.kind !== 'new' || this.records.draftOf(nodeKey(node)) !== undefined) continue
      this.records.record(nodeKey(node)).adopt(draft)
      this.records.record(nodeKey(node)).setAside()
    }
  }

  /** Looks what became of a draft that was on its way when a daemon ended; sends nothing. */
  async settle(draft: Draft, context: RequestContext): Promise<void> {
    const node = nodeOfKey(draft.key)
    if (node === undefined || draft.meta.apart === true) return
    const revision = this.records.record(nodeKey(node)).revision
    await this.#confirm(node, context).catch(async thrown => {
      if (isAbsent(thrown)) await noteGone(draft, thrown)
      throw thrown
    })
    if (draft.meta.apart) return
    if (node.kind === 'new') return this.newFiles.settle(node, draft)
    if (!(await this.#saver.settle({ record: this.#editable(node), draft }, context))) return
    // The record that is remembered from before the save would show the text of yesterday in the place of this one.
    this.forget(node)
    this.#changed(savedNodeOf(node))
    // A program that has opened the record meanwhile goes on with the draft.
    if (this.#isShown(node, draft)) await this.records.record(nodeKey(node)).endStored(revision)
    else await draft.discard()
  }

  otherShare(project: ProjectId, { id }: Share): void {
    this.sources.log('a share is given to another person than before', { project, share: id })
    this.records.detach(nodeKey({ kind: 'record', of: 'share', id, project }))
    this.#keepDraftsApart(key => key.of === 'share' && key.kind === 'record' && key.id === id)
  }

  /** An id stands for another thing now: what is kept under it is forgotten, or set apart. */
  #another(thing: RecordRef): void {
    const { catalog, reports, times } = this.sources
    catalog.forget(thing as Readable)
    times.forget(`${thing.kind} ${thing.id}`)
    if (thing.kind !== 'report') this.aliases.forget(thing.kind, thing.id as ProjectId | CalculationId)
    const record = { kind: 'record', of: thing.kind, id: thing.id } as RecordNode
    this.records.detach(nodeKey(record))
    this.newFiles.forget(record)
    if (record.of === 'report') {
      this.records.detach(nodeKey({ ...record, kind: 'order' }))
      reports.drop(record.id)
    }
    this.#keepDraftsApart(key => isOf(key, thing))
  }

  #keepDraftsApart(isTheirs: (key: RecordKey) => boolean): void {
    for (const draft of this.sources.drafts.unsent()) {
      const node = draft.key !== undefined && isTheirs(draft.key) ? nodeOfKey(draft.key) : undefined
      if (node === undefined || draft.meta.apart === true) continue
      if (this.#isShown(node, draft)) this.records.detach(nodeKey(node))
      const isUnderWay = /^(sending|in-flight|outcome-unknown)$/.test(draft.meta.state)
      setApart(draft)
        .then(failure => (isUnderWay ? undefined : withFailure(draft, failure, 'refused')))
        .catch(cause => this.sources.log('a draft could not be set apart', { cause, node: nodeKey(node) }))
    }
  }

  #isShown(node: EditableNode, draft: Draft): boolean {
    return this.records.draftOf(nodeKey(node))?.id === draft.id
  }

  /** By whatever name a program saves it, an unchanged text too, it wants it to be there. */
  async #save(request: SaveRequest, context: RequestContext): Promise<SaveResult> {
    const saved = nodeOfKey(savedKeyOf(request.record.key))
    if (saved?.kind === 'record') await this.burst.release(saved)
    return this.#saver.save(request, context)
  }

  #editable(node: RecordNode | OrderNode): EditableRecord {
    if (node.kind === 'order') return editableOrder(this.ports, node.id)
    return node.of === 'report' ? editableReport(this.ports, node.id) : editableWholeRecord(this.ports, node)
  }

  #changed(node: RecordNode): void {
    this.#changedAt.set(nodeKey(node), this.sources.clock.now())
    const order = node.of === 'report' ? [nodeKey({ ...node, kind: 'order' })] : []
    for (const key of [nodeKey(node), ...order, ...this.newFiles.keysOf(node)]) this.#tell(key)
  }

  /** At every name of it is another text, or none. A new file becomes the name of a record, which is listed from then on. */
  #tell(key: string): void {
    const { news } = this.sources
    if (key.startsWith('new ')) news.tell('all')
    // A text that is not saved is in `drafts/`, too.
    else for (const shown of [key, draftsKey, reportNamesKey]) news.tell({ key: shown })
  }

  /** When a program of this mount last wrote the record; long ago where none did. */
  writtenAt(node: RecordNode): Instant {
    const key = nodeKey(node)
    const written = [key, ...this.newFiles.keysOf(node)].map(name => this.records.known(name)?.writtenAt ?? 0)
    return instant(Math.max(this.#changedAt.get(key) ?? 0, ...written))
  }

  #isBack(node: Deletable): void {
    const record = node.kind === 'record' ? node : recordOfChild(node)
    for (const key of [nodeKey(record), ...this.newFiles.keysOf(record)]) this.records.known(key)?.bringBack()
  }

  async #delete(thing: RemovedThing): Promise<void> {
    const { clock, patience } = this.sources
    if (thing.isUnsaved !== true) return this.deleteSender.thing(thing, dueIn(patience, clock))
    const draft = this.records.draftOf(nodeKey(thing.node))
    if (draft !== undefined) await this.discardDraft(draft)
    throw new Failure('not-permitted', textGivenUp)
  }

  /** Its texts that wait stay, and say that no save can bring it back. */
  #deleted(node: DeleteTarget): void {
    const kind = node.kind === 'record' ? node.of : node.kind
    for (const draft of this.sources.drafts.unsent()) {
      const { key } = draft
      if (key?.of === kind && key.id === node.id && key.kind !== 'new')
        void noteGone(draft, new Failure('absent', `${recordWords(key)} was deleted here`))
    }
  }

  /** Reads whose the id is by now: where it is another thing's, the draft is set apart before it is looked at. */
  async #confirm(node: EditableNode, context: RequestContext): Promise<void> {
    const thing = 'project' in node ? ({ kind: 'project', id: node.project } as const) : thingOf(node)
    if (thing !== undefined) await this.sources.catalog.record(thing).ask(context)
  }
}

/** The reason of a text that waits is that no save can bring its record back; a conflict keeps its other text. */
async function noteGone(draft: Draft, failure: Failure): Promise<void> {
  const { state, why } = draft.meta
  if (state === 'refused' && why?.kind !== 'conflict') await withFailure(draft, failure)
}

const isOf = (key: RecordKey, { kind, id }: RecordRef): boolean =>
  key.of === 'share'
    ? kind === 'project' && key.project === id
    : key.of === kind && key.id === id && key.kind !== 'new'

const textGivenUp =
  'its unsaved text was given up (calcfs history has it); to delete the report, remove it once more'

const rememberedChanges = 1_000

/** The record of a draft whose note is damaged is not known: no id holds a slash, so the text is no record's history. */
const unknownKey = ({ id }: Draft): RecordKey => ({ kind: 'record', of: 'report', id: `unknown/${id}` })
