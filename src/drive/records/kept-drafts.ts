// Kept drafts: shown in the place of their records after a restart, given up, and set apart where an id stands for another thing.
import type { Draft } from '../../edit/journal/draft.js'
import { mayBeStored, recordWords, setApart, withFailure } from '../../edit/journal/draft-meta.js'
import type { RecordKey } from '../../edit/journal/record-key.js'
import type { Saver } from '../../edit/save/save.js'
import { Failure, isAbsent } from '../../failure.js'
import { recover } from '../../maybe-promise.js'
import type { RequestContext } from '../../remote/remote.js'
import {
  askAgain,
  type CalculationNode,
  nodeKey,
  nodeOfKey,
  type ProjectNode,
  type RecordNode,
  savedNodeOf,
  thingOf,
} from '../nodes/node.js'
import type { EditingParts } from './editable-files.js'
import type { NewFiles } from './new.js'
import { nothing } from './open-record.js'
import type { Records } from './records.js'

export interface KeptDraftsParts
  extends Pick<EditingParts, 'catalog' | 'drafts' | 'history' | 'editable' | 'changed' | 'log'> {
  readonly records: Records
  readonly newFiles: Pick<NewFiles, 'settle'>
  readonly saver: Pick<Saver, 'settle'>
}

export class KeptDrafts {
  constructor(private readonly parts: KeptDraftsParts) {}

  /** Shows the drafts of earlier mounts in the place of what they are drafts of. */
  adopt(): void {
    const { drafts, records } = this.parts
    for (const draft of drafts.unsent()) {
      const isApart = draft.meta.apart === true || draft.damage !== undefined
      const node = isApart ? undefined : nodeOfKey(draft.key)
      if (node !== undefined) records.record(nodeKey(node)).adopt(draft)
    }
    for (const draft of drafts.emptied()) {
      const node = nodeOfKey(draft.key)
      if (node?.kind !== 'new' || records.draftOf(nodeKey(node)) !== undefined) continue
      records.record(nodeKey(node)).adopt(draft)
      records.record(nodeKey(node)).setAside()
    }
  }

  /** Looks what became of a draft that was on its way when a daemon ended; sends nothing. */
  async settle(draft: Draft, context: RequestContext): Promise<void> {
    const { catalog, changed, editable, newFiles, records, saver } = this.parts
    const node = nodeOfKey(draft.key)
    if (node === undefined || draft.meta.apart === true) return
    const revision = records.record(nodeKey(node)).revision
    const thing = 'project' in node ? ({ kind: 'project', id: node.project } as const) : thingOf(node)
    // Where its id is another thing's by now, this sets the draft apart.
    const read = thing && catalog.record(thing).ask(context)
    await recover<unknown, never>(read, async thrown => {
      if (isAbsent(thrown)) await noteGone(draft, thrown)
      throw thrown
    })
    if (draft.meta.apart) return
    if (node.kind === 'new') return newFiles.settle(node, draft)
    if (!(await saver.settle({ record: editable(node), draft }, context))) return
    // The record that is remembered from before the save would show the text of yesterday in the place of this one.
    askAgain(catalog, node)
    changed(savedNodeOf(node))
    // A program that has opened the record meanwhile goes on with the draft.
    if (records.shows(node, draft)) await records.record(nodeKey(node)).endIfStored(revision)
    else await draft.discard()
  }

  /** `keep` has its text before it goes. */
  async end(draft: Draft, keep = async (): Promise<void> => {}): Promise<void> {
    const node = nodeOfKey(draft.key)
    const record = node && this.parts.records.known(nodeKey(node))
    if (record !== undefined) return record.drop(draft, keep)
    await keep()
    await draft.discard()
  }

  /** The same for one that is given up: it is kept as history. Answers the file in which it lies then. */
  async giveUp(draft: Draft): Promise<string> {
    const { catalog, history } = this.parts
    const { key = unknownKey(draft) } = draft
    const node = nodeOfKey(draft.key)
    let text: Uint8Array = nothing
    await this.end(draft, async () => {
      const before = draft.emptied === undefined ? undefined : history.recall(key, draft.emptied)
      text = before === undefined ? await draft.remains() : Buffer.from(before)
      await history.remember(key, text, 'discarded')
      // A part of it may have been stored since the record was read.
      if (node !== undefined) askAgain(catalog, node)
    })
    return history.fileOf(key, text)
  }

  setApart(isTheirs: (key: RecordKey) => boolean): void {
    const { drafts, log, records } = this.parts
    for (const draft of drafts.unsent()) {
      const node = draft.key !== undefined && isTheirs(draft.key) ? nodeOfKey(draft.key) : undefined
      if (node === undefined || draft.meta.apart === true) continue
      if (records.shows(node, draft)) records.detach(nodeKey(node))
      const isUnderWay = mayBeStored(draft.meta)
      setApart(draft)
        .then(failure => (isUnderWay ? undefined : withFailure(draft, failure, 'refused')))
        .catch(cause => log('a draft could not be set apart', { cause, node: nodeKey(node) }))
    }
  }

  /** The texts of a deleted thing stay, and say that no save can bring it back. */
  deleted(node: RecordNode | ProjectNode | CalculationNode): void {
    const kind = node.kind === 'record' ? node.of : node.kind
    for (const draft of this.parts.drafts.unsent()) {
      const { key } = draft
      if (key?.of === kind && key.id === node.id && key.kind !== 'new')
        void noteGone(draft, new Failure('absent', `${recordWords(key)} was deleted here`))
    }
  }
}

/** The reason of a text that waits is that no save can bring its record back; a conflict keeps its other text. */
async function noteGone(draft: Draft, failure: Failure): Promise<void> {
  const { state, why } = draft.meta
  if (state === 'refused' && why?.kind !== 'conflict') await withFailure(draft, failure)
}

/** The record of a draft whose note is damaged is not known: no id holds a slash, so the text is no record's history. */
const unknownKey = ({ id }: Draft): RecordKey => ({ kind: 'record', of: 'report', id: `unknown/${id}` })
