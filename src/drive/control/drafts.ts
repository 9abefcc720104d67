// Control of drafts: listed, compared, sent again by an explicit wish, given up with a copy kept.

import type { Draft } from '../../edit/journal/draft.js'
import type { DraftState } from '../../edit/journal/draft-meta.js'
import { damagedEnding } from '../../edit/journal/draft-name.js'
import { recordWords } from '../../edit/journal/explain.js'
import { orderText } from '../../edit/kinds/order-text.js'
import { editsBetween, withEdits } from '../../edit/save/diff.js'
import { asFailure, Failure } from '../../failure.js'
import { lastNameOf } from '../../layout.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyPrint } from '../../record/json/print.js'
import { dueIn } from '../../remote/clock.js'
import type { RequestContext } from '../../remote/remote.js'
import type { CallResult, Comparison, Control } from '../interface/control.js'
import { type EditableNode, nodeKey } from '../nodes/node.js'
import { nodeOfRecordKey } from '../records/node-key.js'
import type { RecordSource } from '../records/source.js'
import type { ControlParts } from './context.js'

export function openDraftControl(
  parts: ControlParts,
): Pick<Control, 'drafts' | 'show' | 'diff' | 'send' | 'drop'> {
  const { drafts, writeSide } = parts
  const until = (milliseconds: number): RequestContext => dueIn(milliseconds, parts)

  /** Each draft under the name of its text; the files about it come after that one. */
  function named(): Map<string, Draft> {
    const first = new Map<string, { name: string; draft: Draft }>()
    for (const name of drafts.names()) {
      const draft = drafts.named(name)
      if (!first.has(draft.id)) first.set(draft.id, { name, draft })
    }
    return new Map([...first.values()].map(({ name, draft }) => [name, draft]))
  }

  /** A draft by its name, with or without the ending, or by a path of `.calcfs/drafts/`. */
  function find(given: string): { name: string; draft: Draft } {
    const bare = lastNameOf(given)
    const all = named()
    const plain = [bare, `${bare}.json`, `${bare}.txt`]
    const name = [...plain, ...plain.map(one => one + damagedEnding)].find(one => all.has(one))
    const draft = name === undefined ? undefined : all.get(name)
    if (name !== undefined && draft !== undefined) return { name, draft }
    const known = all.size === 0 ? 'everything is saved' : `there are ${[...all.keys()].join(', ')}`
    throw new Failure('absent', `there is no draft ${bare}; ${known}`)
  }

  function nodeOf({ key }: Draft, name: string): EditableNode {
    const node = key === undefined ? undefined : nodeOfRecordKey(key)
    if (node !== undefined) return node
    throw new Failure(
      'refused',
      `it is not known which record ${name} belongs to, because its note was damaged; print it with \`calcfs drafts show ${name}\` and save it by hand`,
    )
  }

  async function compare({ name }: { name: string }): Promise<Comparison> {
    const found = find(name)
    if (found.draft.damage !== undefined) throw new Failure('broken', found.draft.damage)
    const mine = await draftText(found.draft)
    if (found.draft.meta.why?.kind === 'conflict') {
      const theirs = `${found.name.replace(/\.json$/, '')}.theirs.json`
      const { bytes } = await drafts.read(theirs)
      await drafts.opened(theirs, bytes)
      const text = Buffer.from(bytes).toString()
      const other = found.draft.key?.as === 'order' ? orderIn(text) : text
      return { name: found.name, against: 'theirs', other, mine }
    }
    const node = nodeOf(found.draft, found.name)
    if (node.kind === 'new') return { name: found.name, against: 'nothing', other: '', mine }
    // What the service has now is asked for, not remembered.
    writeSide.forget(node)
    const { bytes } = await writeSide.source(node).produce(until(parts.deadlines.metadata))
    const other = Buffer.from(bytes).toString()
    return {
      name: found.name,
      against: 'service',
      other,
      mine: await merged(found.draft, node, { other, mine }),
    }
  }

  /** What a send would make of it: fields that only others have changed stay as they are. Else the text itself. */
  async function merged(
    draft: Draft,
    node: EditableNode,
    { other, mine }: { other: string; mine: string },
  ): Promise<string> {
    const { key, meta } = draft
    const base =
      key === undefined || meta.base === undefined ? undefined : await parts.history.recall(key, meta.base)
    if (node.kind !== 'record' || base === undefined) return mine
    try {
      const { plain } = writeSide.ports.dialect
      return prettyPrint(
        withEdits(parseObject(other), editsBetween(plain(parseObject(base)), plain(parseObject(mine)))),
      )
    } catch (thrown) {
      if (asFailure(thrown).kind !== 'not-json') throw thrown
      return mine
    }
  }

  /** The other text of an order is a report; only its list is held against the lines. */
  const orderIn = (report: string): string =>
    orderText(writeSide.ports.dialect.rows(parseObject(report)) ?? [])

  async function send(asked: { name: string; again: boolean }): Promise<CallResult<'send'>> {
    const { name, draft } = find(asked.name)
    const node = nodeOf(draft, name)
    const isDoubtful = draft.meta.state === 'outcome-unknown'
    if (isDoubtful && !asked.again) {
      throw new Failure(
        'outcome-unknown',
        `${name} was sent, and whether it was made is not known: look on the platform; \`calcfs drafts send --again ${name}\` sends it once more, and there may be two of it then`,
      )
    }
    if (asked.again && !isDoubtful)
      throw new Failure('refused', `--again is for a text whose outcome is unknown; send ${name} without it`)
    if (isDoubtful) await draft.change({ state: 'refused', why: undefined })
    const context = until(parts.deadlines.save)
    const source = writeSide.source(node)
    try {
      await sendFrom(source, draft, context)
    } catch (thrown) {
      throw notSaved(name, asFailure(thrown))
    }
    parts.failureLog.settled(nodeKey(node))
    return { name, record: recordLabel(draft) }
  }

  async function sendFrom(source: RecordSource, draft: Draft, context: RequestContext): Promise<void> {
    if (writeSide.records.draftOf(source.key)?.id === draft.id)
      await writeSide.records.resend(source, context)
    else await sendBeside(source, draft, context)
  }

  /** Of two texts of one record only one is shown in its place; the other goes out all the same. */
  async function sendBeside(source: RecordSource, draft: Draft, context: RequestContext): Promise<void> {
    if (source.editing instanceof Failure) throw source.editing
    const handedOver = await source.editing.save(draft, undefined, context)
    await writeSide.end(draft)
    if (handedOver !== undefined) throw handedOver
  }

  return {
    async drafts() {
      return [...named()].map(([name, draft]) => ({
        name,
        record: recordLabel(draft),
        state: draft.meta.state,
        since: draft.meta.changed,
        size: draft.size,
        why: draft.meta.why?.sentence,
      }))
    },
    async show({ name }) {
      const bare = lastNameOf(name)
      const file = drafts.names().includes(bare) ? bare : find(bare).name
      const { bytes } = await drafts.read(file)
      await drafts.opened(file, bytes)
      return { base64: Buffer.from(bytes).toString('base64') }
    },
    diff: compare,
    send,
    async drop({ name }) {
      const found = find(name)
      const record = recordLabel(found.draft)
      const mayBeStored = underWay.has(found.draft.meta.state)
      const node = found.draft.key === undefined ? undefined : nodeOfRecordKey(found.draft.key)
      const kept = await writeSide.discardDraft(found.draft)
      if (node !== undefined) parts.failureLog.settled(nodeKey(node))
      return { name: found.name, record, mayBeStored, kept }
    },
  }
}

/** What was sent, and whose end was not seen. */
const underWay: ReadonlySet<DraftState> = new Set(['sending', 'in-flight', 'outcome-unknown'])

/** For people: what is no UTF-8 shows as such. */
const draftText = async (draft: Draft): Promise<string> => Buffer.from(await draft.remains()).toString()

/** As the start of a line: `report 42`. */
const recordLabel = ({ key }: Draft): string => recordWords(key).replace(/^(the|a) /, '')

function notSaved(name: string, { kind, message, said, place, cause }: Failure): Failure {
  const sentence = `${name} is not saved: ${message}; calcfs drafts show ${name}.why says more`
  return new Failure(kind, sentence, { cause, said, place })
}
