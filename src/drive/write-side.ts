// Write side: its parts put together, what is hidden by a removal, and what follows where an id stands for another thing.
import type { RecordRef } from '../cache/identity.js'
import type { Ledger } from '../cache/ledger/ledger.js'
import type { Readable } from '../cache/metadata/catalog.js'
import { type RecordKey, savedKeyOf } from '../edit/journal/record-key.js'
import { type NewRecordPorts, newReport, newShare } from '../edit/kinds/new-records.js'
import { editableOrder } from '../edit/kinds/order-record.js'
import { editableReport } from '../edit/kinds/report.js'
import { editableWholeRecord } from '../edit/kinds/whole-record.js'
import type { EditableRecord, SaveRequest } from '../edit/save/editable.js'
import { type SaveResult, Saver } from '../edit/save/save.js'
import { Failure } from '../failure.js'
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
import type { KernelNews } from './interface/verbs.js'
import { type NameAliases, openNameAliases } from './names/name-aliases.js'
import {
  type EditableNode,
  isDirectory,
  type Node,
  nodeKey,
  nodeOfKey,
  type OrderNode,
  pathOfNode,
  type RecordNode,
  recordOfChild,
} from './nodes/node.js'
import { type EditingParts, openRecordSources } from './records/editable-files.js'
import { KeptDrafts } from './records/kept-drafts.js'
import { NewFiles } from './records/new.js'
import { Records } from './records/records.js'
import type { RecordSource } from './records/source.js'
import { Burst, type Deletable, type RemovedThing } from './removal/burst.js'
import { DeleteSender } from './removal/send.js'
import { type Access, type AccessRights, openAccessRights } from './tree/access.js'

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
  readonly keptDrafts: KeptDrafts
  readonly #saver: Saver
  readonly #recordSource: (node: RecordNode | OrderNode) => RecordSource

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
    const { newFiles, records } = this
    const keptDrafts = new KeptDrafts({ ...parts, records, newFiles, saver: this.#saver })
    this.keptDrafts = keptDrafts
    this.deleteSender = new DeleteSender({ ...parts, newFiles, keptDrafts })
    this.createRename = new CreateRename(parts)
    sources.identities.another = ({ thing }) => this.#another(thing)
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

  otherShare(project: ProjectId, { id }: Share): void {
    this.sources.log('a share is given to another person than before', { project, share: id })
    this.records.detach(nodeKey({ kind: 'record', of: 'share', id, project }))
    this.keptDrafts.setApart(key => key.of === 'share' && key.kind === 'record' && key.id === id)
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
    this.keptDrafts.setApart(key => isOf(key, thing))
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
    this.records.record(nodeKey(node)).noteWriter()
    const order = node.of === 'report' ? [nodeKey({ ...node, kind: 'order' })] : []
    for (const key of [nodeKey(node), ...order, ...this.newFiles.keysOf(node)]) this.#tell(key)
  }

  /** At every name of it is another text, or none. A new file becomes the name of a record, which is listed from then on. */
  #tell(key: string): void {
    const { news } = this.sources
    if (key.startsWith('new ')) news.tell('all')
    // A text that is not saved is in `drafts/`, too.
    else news.tell([key, draftsKey, reportNamesKey])
  }

  /** When a program of this mount last wrote the record; long ago where none did. */
  writtenAt(node: RecordNode): Instant {
    const keys = [nodeKey(node), ...this.newFiles.keysOf(node)]
    return instant(Math.max(...keys.map(key => this.records.known(key)?.writtenAt ?? 0)))
  }

  #isBack(node: Deletable): void {
    const record = node.kind === 'record' ? node : recordOfChild(node)
    for (const key of [nodeKey(record), ...this.newFiles.keysOf(record)]) this.records.known(key)?.bringBack()
  }

  async #delete(thing: RemovedThing): Promise<void> {
    const { clock, patience } = this.sources
    if (thing.isUnsaved !== true) return this.deleteSender.thing(thing, dueIn(patience, clock))
    const draft = this.records.draftOf(nodeKey(thing.node))
    if (draft !== undefined) await this.keptDrafts.giveUp(draft)
    throw new Failure('not-permitted', textGivenUp)
  }
}

const isOf = (key: RecordKey, { kind, id }: RecordRef): boolean =>
  key.of === 'share'
    ? kind === 'project' && key.project === id
    : key.of === kind && key.id === id && key.kind !== 'new'

const textGivenUp =
  'its unsaved text was given up (calcfs history has it); to delete the report, remove it once more'
