// Reused ids: what is kept under an id that stands for another thing now is forgotten, or set apart.
import type { Identities, RecordRef, ReusedId } from '../cache/identity.js'
import type { Catalog, Readable } from '../cache/metadata/catalog.js'
import type { Times } from '../cache/metadata/times.js'
import type { Draft } from '../edit/journal/draft.js'
import { type DraftMeta, withFailure } from '../edit/journal/draft-meta.js'
import type { RecordKey } from '../edit/journal/record-key.js'
import { identityNote, setApart } from '../edit/save/other-thing.js'
import type { CalculationId, ProjectId, Share } from '../remote/remote.js'
import type { KnownReports } from './names/known-reports.js'
import { type EditableNode, nodeKey, nodeOfKey, type RecordNode } from './nodes/node.js'
import type { DraftFiles } from './records/draft-files.js'
import type { WriteSide } from './write-side.js'

export interface ReusedIdsParts {
  readonly identities: Identities
  readonly catalog: Catalog
  readonly times: Times
  readonly reports: KnownReports
  readonly drafts: Pick<DraftFiles, 'unsent'>
  readonly writeSide: Pick<WriteSide, 'records' | 'aliases' | 'newFiles'>
  readonly log: (sentence: string, about: Record<string, unknown>) => void
}

/** Listens to what the service says; answers what to do where a share is given to another person than before. */
export function openReusedIds(parts: ReusedIdsParts) {
  const { catalog, identities, writeSide } = parts
  const { records } = writeSide

  function another({ thing }: ReusedId): void {
    catalog.forget(thing as Readable)
    parts.times.forget(`${thing.kind} ${thing.id}`)
    if (thing.kind !== 'report') writeSide.aliases.forget(thing.kind, thing.id as ProjectId | CalculationId)
    const record = { kind: 'record', of: thing.kind, id: thing.id } as RecordNode
    records.detach(nodeKey(record))
    writeSide.newFiles.forget(record)
    if (record.of === 'report') {
      records.detach(nodeKey({ ...record, kind: 'order' }))
      parts.reports.drop(record.id)
    }
    keepDraftsApart(key => isOf(key, thing))
  }

  function keepDraftsApart(isTheirs: (key: RecordKey) => boolean): void {
    for (const draft of parts.drafts.unsent()) {
      const node = draft.key !== undefined && isTheirs(draft.key) ? nodeOfKey(draft.key) : undefined
      if (node === undefined || draft.meta.apart === true) continue
      if (records.draftOf(nodeKey(node))?.id === draft.id) records.detach(nodeKey(node))
      keepApart(draft, node)
    }
  }

  function keepApart(draft: Draft, node: EditableNode): void {
    const { state } = draft.meta
    const isUnderWay = state === 'sending' || state === 'in-flight' || state === 'outcome-unknown'
    setApart(draft)
      .then(failure => (isUnderWay ? undefined : withFailure(draft, failure, 'refused')))
      .catch(cause => parts.log('a draft could not be set apart', { cause, node: nodeKey(node) }))
  }

  identities.listen(another)
  return {
    otherShare(project: ProjectId, { id }: Share): void {
      parts.log('a share is given to another person than before', { project, share: id })
      records.detach(nodeKey({ kind: 'record', of: 'share', id, project }))
      keepDraftsApart(key => key.of === 'share' && key.kind === 'record' && key.id === id)
    },
  }
}

export type ReusedIds = ReturnType<typeof openReusedIds>

/** The note beside a new text: its record at that time, and of a share its project. */
export function identityReader(identities: Identities): (key: RecordKey) => DraftMeta['thing'] {
  return ({ kind, of, id, project }) => {
    const thing = of === 'share' ? { kind: 'project' as const, id: project ?? '' } : { kind: of, id }
    const known = of !== 'share' && kind === 'new' ? undefined : identities.known(thing)
    return known && identityNote(known)
  }
}

const isOf = (key: RecordKey, { kind, id }: RecordRef): boolean =>
  key.of === 'share'
    ? kind === 'project' && key.project === id
    : key.of === kind && key.id === id && key.kind !== 'new'
