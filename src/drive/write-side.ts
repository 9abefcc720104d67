// Write side, composed: records, new records, creation, renaming, deletion, and the drafts of earlier mounts.

import { LRUCache } from 'lru-cache'
import type { Identities } from '../cache/identity.js'
import type { Ledger } from '../cache/ledger/ledger.js'
import type { Draft } from '../edit/journal/draft.js'
import { type RecordKey, savedKeyOf } from '../edit/journal/record-key.js'
import { type NewRecordPorts, newReport, newShare } from '../edit/kinds/new-records.js'
import { editableOrder } from '../edit/kinds/order-record.js'
import { editableReport } from '../edit/kinds/report.js'
import { editableCalculation, editableProject, editableShare } from '../edit/kinds/whole-record.js'
import { openCreator } from '../edit/save/create.js'
import type { EditableRecord } from '../edit/save/editable.js'
import { createSaver, type Saver } from '../edit/save/save.js'
import { Failure } from '../failure.js'
import { type Clock, dueIn } from '../remote/clock.js'
import { type Instant, instant, type Remote, type RequestContext } from '../remote/remote.js'
import { type CreateRename, openCreateRename } from './create-rename.js'
import { type NameAliases, openNameAliases } from './names/name-aliases.js'
import type { Roots } from './names/roots.js'
import {
  type EditableNode,
  type NewNode,
  type Node,
  nodeKey,
  type OrderNode,
  type RecordNode,
} from './nodes/node.js'
import {
  type EditingParts,
  expireRecord as forgetRecord,
  openRecordSources,
  readableOf,
} from './records/editable-files.js'
import { NewFiles } from './records/new.js'
import { nodeOfRecordKey } from './records/node-key.js'
import { openOrderFiles } from './records/order-file.js'
import { openRecords, type Records } from './records/records.js'
import type { RecordSource } from './records/source.js'
import { Burst } from './removal/burst.js'
import { Removals } from './removal/removals.js'
import type { RemovalReportSources } from './removal/report.js'
import { DeleteSender } from './removal/send.js'
import { type Access, type AccessRights, openAccessRights } from './tree/access.js'
import type { LocalFiles, NewPlace } from './tree/reports.js'
import type { Tree } from './tree/tree.js'

export interface WriteSideSources
  extends Omit<EditingParts, 'rights' | 'saver' | 'editable' | 'lost' | 'renamed' | 'changed'> {
  readonly access: Access
  /** How many things one burst of removals may delete. */
  readonly maxDeletes: number
  readonly remote: Remote
  readonly identities: Identities
  readonly roots: Roots
  /** Told the key of what is another text now, or none, at every name of it. */
  readonly tell: (key: string) => void
  /** Kept with the drafts: what this mount has made, and what it was about to delete. */
  readonly state: Ledger
  readonly mountPoint: string
  /** The description of a project that is made by its name alone. */
  readonly describe: (title: string) => string
  readonly resolveEntry: NewRecordPorts['resolveEntry']
  /** All that is kept of the service's answers is old. */
  readonly expireAll: () => void
  /** Takes a failure that no call returned, by the path at which `calcfs why` will be asked. */
  readonly failed: (verb: 'removing' | 'deleting', path: string, failure: Failure) => void
  /** It is gone, with all that is below it: what failed there is told no more. */
  readonly gone: (path: string) => void
  /** Told what the service dropped beside a stored edit. */
  readonly lost: EditingParts['lost']
  /** What is shown at several paths is another thing now, or hidden. */
  readonly changed: () => void
  /** Milliseconds that a save may take. */
  readonly patience: number
  readonly clock: Clock
}

export interface WriteSide {
  readonly rights: AccessRights
  readonly aliases: NameAliases
  readonly records: Records
  readonly burst: Burst
  readonly createRename: CreateRename
  readonly local: Pick<LocalFiles, 'unsentNew' | 'isNew' | 'hasDraft'>
  source(node: EditableNode): RecordSource
  removals(tree: Tree): Removals
  readonly removalReport: RemovalReportSources
  readonly deleteSender: DeleteSender
  /** The mount ends: no new name stands for what it made. */
  endMount(): void
  /** Of the name under which a record was made that record; any other node is itself. */
  meant(node: EditableNode): EditableNode
  isHidden(node: Node): boolean
  /** A file that may have been taken away a moment ago is created again: nothing of it is deleted. */
  recreated(node: EditableNode): Promise<void>
  /** Ends an unsaved text: its file shows what the service has. */
  end(draft: Draft): Promise<void>
  /** The same for one that is given up: it is kept as history. Answers the file in which it lies then. */
  discardDraft(draft: Draft): Promise<string>
  /** No `new*.json` stands for this record any more. */
  forgetNames(node: RecordNode): void
  /** The next question about the record goes to the service. */
  forget(node: EditableNode): void
  readonly ports: NewRecordPorts
  /** Shows the drafts of earlier mounts in the place of what they are drafts of. */
  adopt(): void
  /** Looks what became of a draft that was on its way when a daemon ended; sends nothing. */
  settle(draft: Draft, context: RequestContext): Promise<void>
}

export function openWriteSide(sources: WriteSideSources): WriteSide {
  const { catalog, clock, dialect, drafts, remote, history } = sources
  const { now } = clock
  const rights = openAccessRights(sources.access, { catalog, dialect })
  const aliases = openNameAliases(sources.state, sources.mountPoint)
  const records = openRecords(sources.tell, clock, sources.times)
  const burst = new Burst({
    ...sources,
    back(node) {
      const record: RecordNode =
        node.kind === 'record' ? node : { kind: 'record', of: 'calculation', id: node.id }
      for (const key of [nodeKey(record), ...newFiles.keysOf(record)]) records.bringBack(key)
    },
    gone: ({ path }) => sources.gone(path),
    async send(thing) {
      if (thing.isUnsaved !== true) return deleteSender.thing(thing, dueIn(sources.patience, clock))
      const draft = records.draftOf(nodeKey(thing.node))
      if (draft !== undefined) await discardDraft(draft)
      throw new Failure('not-permitted', textGivenUp)
    },
  })
  const sender = createSaver(history, now)
  const saver: Saver = {
    ...sender,
    async save(request, context) {
      // By whatever name a program saves it, an unchanged text too, it wants it to be there.
      const saved = nodeOfRecordKey(savedKeyOf(request.record.key))
      if (saved?.kind === 'record') await burst.release(saved)
      return sender.save(request, context)
    },
  }
  const ports = {
    remote,
    dialect,
    resolveEntry: sources.resolveEntry,
  }

  function editable(node: RecordNode | OrderNode): EditableRecord {
    if (node.kind === 'order') return editableOrder(ports, node.id)
    switch (node.of) {
      case 'project':
        return editableProject(ports, node.id)
      case 'calculation':
        return editableCalculation(ports, node.id)
      case 'report':
        return editableReport(ports, node.id)
      case 'share':
        return editableShare(ports, node)
    }
  }

  const changedAt = new LRUCache<string, Instant>({ max: rememberedChanges })
  const parts: EditingParts = {
    ...sources,
    rights,
    saver,
    editable,
    changed(node) {
      changedAt.set(nodeKey(node), now())
      const order = node.of === 'report' ? [nodeKey({ kind: 'order', id: node.id })] : []
      for (const key of [nodeKey(node), ...order, ...newFiles.keysOf(node)]) sources.tell(key)
    },
  }
  const recordSource = openRecordSources(parts)
  const orderSource = openOrderFiles(parts)
  const newFiles: NewFiles = new NewFiles({
    ...parts,
    state: sources.state,
    mountPoint: sources.mountPoint,
    create: openCreator(history, now),
    records,
    source: recordSource,
    creatable: node => (node.of === 'share' ? newShare(ports, node) : newReport(ports, node.name)),
    read: (node, context) => editable(node).read(context),
  })

  const deleteSender = new DeleteSender({
    ...sources,
    aliases,
    forgetNames: node => newFiles.forget(node),
    now,
  })

  function unsentNew(of: NewPlace): readonly NewNode[] {
    return drafts.unsent().flatMap(({ key, id }) => {
      const node = key === undefined ? undefined : nodeOfRecordKey(key)
      if (node?.kind !== 'new' || records.draftOf(nodeKey(node))?.id !== id) return []
      const isHere =
        node.of === 'share' ? of.kind === 'shares' && of.project === node.project : of.kind === 'reports'
      return isHere ? [node] : []
    })
  }

  /** A name under which a record was made stands for that. */
  const meant = <One extends Node>(node: One): One | RecordNode =>
    node.kind === 'new' ? (newFiles.target(node) ?? node) : node

  /** Of two drafts of one record only one is shown in its place: the other is no part of this. */
  async function end(draft: Draft): Promise<void> {
    const node = draft.key === undefined ? undefined : nodeOfRecordKey(draft.key)
    if (node === undefined) return draft.discard()
    if (records.draftOf(nodeKey(node))?.id === draft.id) return records.drop(nodeKey(node))
    return records.endAside(nodeKey(node), draft)
  }

  async function discardDraft(draft: Draft): Promise<string> {
    const kept = await history.archive(draft.key ?? unknownKey(draft), await draft.remains(), 'discarded')
    await end(draft)
    return kept
  }

  async function settle(draft: Draft, context: RequestContext): Promise<void> {
    const node = draft.key === undefined ? undefined : nodeOfRecordKey(draft.key)
    if (node === undefined || draft.meta.apart === true) return
    const revision = records.revisionOf(nodeKey(node))
    await confirm(node, context)
    if (draft.meta.apart) return
    if (node.kind === 'new') return newFiles.settle(node, draft)
    if ((await saver.settle({ record: editable(node), draft }, context)) !== 'stored') return
    // The record that is remembered from before the save would show the text of yesterday in the place of this one.
    forget(node)
    parts.changed(node.kind === 'order' ? { kind: 'record', of: 'report', id: node.id } : node)
    await endStored(node, draft, revision)
  }

  /** A program that has opened the record meanwhile goes on with the draft. */
  async function endStored(node: EditableNode, draft: Draft, revision: number): Promise<void> {
    if (records.draftOf(nodeKey(node))?.id === draft.id) await records.endStored(nodeKey(node), revision)
    else await draft.discard()
  }

  /** Reads whose the id is by now: where it is another thing's, the draft is set apart before it is looked at. */
  async function confirm(node: EditableNode, context: RequestContext): Promise<void> {
    if (node.kind === 'order') await catalog.record({ kind: 'report', id: node.id }).ask(context)
    else if (node.of === 'share') await catalog.record({ kind: 'project', id: node.project }).ask(context)
    else if (node.kind === 'record') await catalog.record(readableOf(node)).ask(context)
  }

  function forget(node: EditableNode): void {
    if (node.kind === 'order') catalog.record({ kind: 'report', id: node.id }).refresh()
    else if (node.kind === 'record') forgetRecord(catalog, node)
  }

  return {
    rights,
    aliases,
    records,
    burst,
    createRename: openCreateRename({
      ...parts,
      catalog,
      dialect,
      aliases,
      identities: sources.identities,
      remote,
      describe: sources.describe,
      now,
    }),
    local: {
      unsentNew,
      hasDraft: node => records.draftOf(nodeKey(node)) !== undefined,
      isNew: node => newFiles.target(node) !== undefined || records.draftOf(nodeKey(node)) !== undefined,
    },
    source(node) {
      switch (node.kind) {
        case 'record':
          return recordSource(node)
        case 'order':
          return orderSource(node)
        case 'new':
          return newFiles.source(node)
      }
    },
    removals: tree =>
      new Removals({
        burst,
        sender: deleteSender,
        catalog,
        tree,
        rights,
        aliases,
        writtenAt(node) {
          const key = nodeKey(node)
          const written = [key, ...newFiles.keysOf(node)].map(name => records.writtenAt(name) ?? 0)
          return instant(Math.max(changedAt.get(key) ?? 0, ...written))
        },
        hasText: node => records.draftOf(nodeKey(node)) !== undefined,
        projectGone({ id }, path) {
          records.bringBack(nodeKey({ kind: 'record', of: 'project', id }))
          sources.gone(path)
        },
        now,
      }),
    removalReport: { catalog, dialect, reports: sources.reports, burst, now },
    deleteSender,
    endMount: () => newFiles.end(),
    meant,
    isHidden: node => records.isAway(nodeKey(node)) || burst.has(nodeKey(meant(node))),
    async recreated(node) {
      const record = meant(node)
      if (record.kind === 'record') await burst.recreated(record)
    },
    end,
    discardDraft,
    forget,
    forgetNames: node => newFiles.forget(node),
    ports,
    adopt() {
      for (const draft of drafts.unsent()) {
        const isApart = draft.meta.apart === true || draft.damage !== undefined
        const node = draft.key === undefined || isApart ? undefined : nodeOfRecordKey(draft.key)
        if (node !== undefined) records.adopt(nodeKey(node), draft)
      }
      for (const draft of drafts.emptied()) {
        const node = draft.key === undefined ? undefined : nodeOfRecordKey(draft.key)
        if (node?.kind !== 'new' || records.draftOf(nodeKey(node)) !== undefined) continue
        records.adopt(nodeKey(node), draft)
        records.setAside(nodeKey(node))
      }
    },
    settle,
  }
}

const textGivenUp =
  'its unsaved text was given up (calcfs history has it); to delete the report, remove it once more'

/** Records whose last change by this mount is remembered. */
const rememberedChanges = 1_000

/** The record of a draft whose note is damaged is not known: no id holds a slash, so the text is no record's history. */
const unknownKey = ({ id }: Draft): RecordKey => ({ kind: 'report', id: `unknown/${id}` })
