// Control of drafts: found by name or path, listed, compared, sent again by an explicit wish, given up with a copy kept.
import { join } from 'node:path'
import { adviceForText, waitsElsewhere } from '../../advice.js'
import { Draft } from '../../edit/journal/draft.js'
import { mayBeStored, recordWords } from '../../edit/journal/draft-meta.js'
import type { LeftDraft } from '../../edit/journal/drafts.js'
import { isOwnerAlive } from '../../edit/journal/lock.js'
import { damagedEnding, keyName, type RecordKey } from '../../edit/journal/record-key.js'
import { orderText } from '../../edit/kinds/order-record.js'
import { editsBetween } from '../../edit/save/diff.js'
import { asFailure, Failure, isAbsent } from '../../failure.js'
import { fixedNames, lastNameOf, parentOf } from '../../layout.js'
import { withEdits } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyPrint } from '../../record/json/print.js'
import type { RequestContext } from '../../remote/remote.js'
import type { ControlParts } from '../context.js'
import type { CallArgument, CallResult, Comparison, DraftLine, NamedDraft } from '../interface/control.js'
import { askAgain, type EditableNode, nodeKey, nodeOfKey, pathOfNode } from '../nodes/node.js'
import { draftFacts, factsElsewhere } from '../records/draft-files.js'
import { type RecordSource, refuseReadOnly } from '../records/source.js'
import { recordNodeAt } from './path-node.js'

export function openDraftControl(parts: ControlParts) {
  const { drafts, until, writeSide } = parts

  const ofRecord = (key: RecordKey): FoundDraft | undefined =>
    drafts.list().find(({ draft }) => draft.key !== undefined && keyName(draft.key) === keyName(key))

  const byName = (given: string): FoundDraft | undefined => named(given, drafts.list())

  async function atPath(path: string): Promise<FoundDraft | undefined> {
    const node = await nodeAt(path)
    if (node === undefined) return undefined
    const shown = writeSide.records.draftOf(nodeKey(node))
    return drafts.list().find(({ draft }) => draft.id === shown?.id) ?? ofRecord(node)
  }

  /** Also of a record that the service does not show now. */
  async function nodeAt(path: string): Promise<EditableNode | undefined> {
    const known = drafts.list().find(({ draft }) => pathOf(draft) === path)?.draft
    if (known !== undefined) return nodeOfKey(known.key)
    try {
      const found = await recordNodeAt(parts.tree, path, until.metadata())
      return found && writeSide.meant(found)
    } catch (thrown) {
      if (isAbsent(thrown)) return undefined
      throw thrown
    }
  }

  /** @throws Failure 'absent' where there is none, 'refused' where name and path are of two, 'busy' for another mount's */
  async function find({ name: given, path }: NamedDraft): Promise<FoundDraft> {
    const meant = path ?? (given.includes('/') ? join('/', given) : undefined)
    const called = byName(given)
    const placed = meant === undefined ? undefined : await atPath(meant)
    if (called !== undefined && placed !== undefined && called.draft.id !== placed.draft.id)
      throw new Failure(
        'refused',
        `${given} is the name of one draft (${recordLabel(called.draft)}) and the path of another, ${placed.name}: write ${placed.name}, or .calcfs/drafts/${called.name}`,
      )
    const found = called ?? placed
    if (found !== undefined) return found
    // A list has those of the account's other mounts, too.
    const listed = drafts.all()
    const other =
      named(given, listed) ?? listed.find(({ draft }) => meant !== undefined && pathOf(draft) === meant)
    if (other !== undefined)
      throw new Failure('busy', `${other.name} ${waitsElsewhere(await processOf(other.draft))}`)
    const all = drafts.list().map(({ name }) => name)
    const known = all.length === 0 ? 'everything is saved' : `there are ${all.join(', ')}`
    throw new Failure('absent', `there is no draft ${given}; ${known}`)
  }

  function nodeOf({ key }: Draft, name: string): EditableNode {
    const node = nodeOfKey(key)
    if (node !== undefined) return node
    throw new Failure(
      'refused',
      `it is not known which record ${name} belongs to, because its note was damaged. ${adviceForText('another-thing', name)}`,
    )
  }

  async function compare(asked: NamedDraft): Promise<Comparison> {
    const { name, draft } = await find(asked)
    if (draft.damage !== undefined) throw new Failure('broken', draft.damage)
    // For people: what is no UTF-8 shows as such.
    const mine = Buffer.from(await draft.remains()).toString()
    const { key, meta } = draft
    if (meta.why?.kind === 'conflict') {
      const theirs = `${name.replace(/\.json$/, '')}.theirs.json`
      const text = Buffer.from((await drafts.open(theirs)).bytes).toString()
      return key?.kind === 'order'
        ? { name, against: 'theirs', other: orderIn(text), mine }
        : { name, against: 'theirs', other: text, mine: onlyEdits(text, mine) }
    }
    const node = nodeOf(draft, name)
    if (node.kind === 'new') return { name, against: 'nothing', other: '', mine }
    // The service's present text is asked for, not remembered.
    askAgain(parts.catalog, node)
    const { bytes } = await writeSide.source(node).produce(until.metadata())
    const other = Buffer.from(bytes).toString()
    if (node.kind === 'order') return { name, against: 'service', other, mine }
    const base = key && meta.base !== undefined ? parts.history.recall(key, meta.base) : undefined
    return { name, against: 'service', other, mine: onlyEdits(other, mine, base) }
  }

  /**
   * Their text with what was edited in it: fields that only others have changed, or that the service sets by itself, stay as
   * they have them.
   */
  function onlyEdits(theirs: string, mine: string, base: string = theirs): string {
    const { plain } = writeSide.ports.dialect
    try {
      const edits = editsBetween(plain(parseObject(base)), plain(parseObject(mine)))
      return prettyPrint(withEdits(parseObject(theirs), edits))
    } catch (thrown) {
      if (asFailure(thrown).kind !== 'not-json') throw thrown
      return mine
    }
  }

  /** The other text of an order is a report; only its list is held against the lines. */
  const orderIn = (report: string): string =>
    orderText(writeSide.ports.dialect.lists.rows(parseObject(report)) ?? [])

  async function send(asked: CallArgument<'send'>): Promise<CallResult<'send'>> {
    const { name, draft } = await find(asked)
    if (draft.emptied !== undefined)
      throw new Failure(
        'busy',
        `a program has emptied ${name} and may write another text; its text is back soon after that program closes it`,
      )
    const node = nodeOf(draft, name)
    const isDoubtful = draft.meta.state === 'outcome-unknown'
    if (isDoubtful && !asked.again)
      throw new Failure(
        'outcome-unknown',
        `${name} was sent, and whether it was made is not known. ${adviceForText('outcome-unknown', name)}`,
      )
    if (asked.again && !isDoubtful)
      throw new Failure('refused', `--again is for a text whose outcome is unknown; send ${name} without it`)
    if (isDoubtful) await draft.change({ state: 'refused', why: undefined })
    const context = until.save()
    try {
      await sendFrom(writeSide.source(node), draft, context)
    } catch (thrown) {
      throw notSaved(name, asFailure(thrown))
    }
    parts.failureLog.settled(nodeKey(node))
    return { name, record: recordLabel(draft) }
  }

  /** Of two texts of one record only one is shown in its place; the other goes out all the same. */
  async function sendFrom(source: RecordSource, draft: Draft, context: RequestContext): Promise<void> {
    const { records } = writeSide
    if (records.draftOf(source.key)?.id === draft.id)
      return records.record(source.key).save(source, {}, context)
    refuseReadOnly(source)
    const handedOver = await source.save(draft, {}, context)
    await writeSide.keptDrafts.end(draft)
    if (handedOver !== undefined) throw handedOver
  }

  return {
    async drafts() {
      return await Promise.all(drafts.all().map(lineOf))
    },
    async show(asked: NamedDraft) {
      const bare = lastNameOf(asked.name)
      const isPart =
        isDraftName(asked.name) && drafts.names().includes(bare) && byName(asked.name) === undefined
      const file = isPart ? bare : (await find(asked)).name
      const { bytes } = await drafts.open(file)
      return { base64: Buffer.from(bytes).toString('base64') }
    },
    diff: compare,
    send,
    async drop(asked: NamedDraft) {
      const found = await find(asked)
      const record = recordLabel(found.draft)
      const isDoubtful = mayBeStored(found.draft.meta)
      const node = nodeOfKey(found.draft.key)
      const kept = await writeSide.keptDrafts.giveUp(found.draft)
      if (node !== undefined) parts.failureLog.settled(nodeKey(node))
      const next = found.draft.key && ofRecord(found.draft.key)?.name
      return { name: found.name, record, mayBeStored: isDoubtful, kept, next }
    },
  }
}

/** Of those that are listed, the one of this name, with or without its ending. */
function named<One extends { readonly name: string }>(given: string, all: readonly One[]): One | undefined {
  if (!isDraftName(given)) return undefined
  const bare = lastNameOf(given)
  const plain = [bare, `${bare}.json`, `${bare}.txt`]
  const names = [...plain, ...plain.map(one => one + damagedEnding)]
  return names.flatMap(name => all.find(one => one.name === name) ?? [])[0]
}

/** A bare name, or a path of `.calcfs/drafts/`. */
const isDraftName = (given: string): boolean =>
  !given.includes('/') || parentOf(given).endsWith(`${fixedNames.own}/${fixedNames.drafts}`)

interface FoundDraft {
  readonly name: string
  readonly draft: Draft
}

const pathOf = ({ key }: Pick<Draft, 'key'>): string | undefined => {
  const node = nodeOfKey(key)
  return node && pathOfNode(node)
}

const processOf = async ({ meta: { owner } }: LeftDraft): Promise<number | undefined> =>
  (await isOwnerAlive(owner)) ? owner.pid : undefined

async function lineOf(one: { readonly name: string; readonly draft: LeftDraft }): Promise<DraftLine> {
  if (one.draft instanceof Draft) return draftFacts(one)
  return factsElsewhere(one, await processOf(one.draft))
}

const recordLabel = ({ key }: Draft): string => recordWords(key).replace(/^(the|a) /, '')

function notSaved(name: string, { kind, message, said, cause }: Failure): Failure {
  const sentence = `${name} is not saved: ${message}; calcfs drafts show ${name}.why says more`
  return new Failure(kind, sentence, { cause, said })
}
