// New files (`new*.json`): the first save makes a record; from then on the name is an alias of that record until the unmount.

import type { Draft, MetaChange } from '../../edit/journal/draft.js'
import { withFailure, withFailureAs } from '../../edit/journal/explain.js'
import { textHash } from '../../edit/journal/text-history.js'
import { type CreatedRecord, type Creator, type NewRecord, notShownYet } from '../../edit/save/create.js'
import { editsBetween } from '../../edit/save/diff.js'
import { identityNote } from '../../edit/save/other-thing.js'
import { asFailure, Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import { clearly } from '../../record/json/kept-digits.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyPrint } from '../../record/json/print.js'
import type { ReportId, RequestContext, ShareId } from '../../remote/remote.js'
import type { MadeNames } from '../names/made-names.js'
import { type NewNode, nodeKey, type RecordNode } from '../nodes/node.js'
import { type EditingParts, learnRecord } from './editable-files.js'
import { isLocal, listUnseen, madeAllTheSame, numberUnnoted } from './made-in-part.js'
import {
  aliasAfter,
  isSameRecordText,
  type MeantText,
  meaningOf,
  type NewFileAlias,
  noteStored,
  writtenUnder,
} from './new-file-text.js'
import { recordKeyOf } from './node-key.js'
import type { Records } from './records.js'
import type { Editing, RecordSource, TextSnapshot } from './source.js'

export interface NewFileParts extends EditingParts {
  readonly madeNames: MadeNames
  readonly creator: Creator
  readonly records: Pick<Records, 'adopt' | 'draftOf' | 'drop' | 'replace'>
  readonly source: (node: RecordNode) => RecordSource
  /** How such a record is made. */
  readonly creatable: (node: NewNode) => NewRecord
  /** The record as the service has it, never from a cache. */
  readonly read: (node: RecordNode, context: RequestContext) => Promise<JsonObject>
}

export interface NewFiles {
  source(node: NewNode): RecordSource
  /** The record is gone: no name stands for it any more. */
  forget(target: RecordNode): void
  /** The keys of the names that stand for this record. */
  keysOf(target: RecordNode): readonly string[]
  /** The record that was made under this name since the mount came up, or before the daemon was killed. */
  made(node: NewNode): RecordNode | undefined
  /**
   * What a daemon left behind that ended after the record was made: the text becomes that record's draft. True if it
   * was such a draft, and has done its work.
   */
  resume(node: NewNode, draft: Draft, context: RequestContext): Promise<boolean>
}

interface WrittenText {
  readonly alias: NewFileAlias
  readonly meant: MeantText
}

export function openNewFiles(parts: NewFileParts): NewFiles {
  const { dialect, times } = parts
  const { madeNames } = parts
  const aliases = new Map<string, NewFileAlias>()

  function madeBy(node: NewNode): RecordNode | undefined {
    const known = aliases.get(nodeKey(node))?.target
    if (known !== undefined) return known
    const kept = madeNames.of(node)
    return kept && targetOf(node, kept.id)
  }

  function targetOf(node: NewNode, id: string): RecordNode {
    return node.of === 'share'
      ? { kind: 'record', of: 'share', id: id as ShareId, project: node.project }
      : { kind: 'record', of: 'report', id: id as ReportId }
  }

  async function produce(node: NewNode, context: RequestContext): Promise<TextSnapshot> {
    const target = madeBy(node)
    if (target === undefined) throw new Failure('absent', `${node.name}: there is no such file`)
    const draft = parts.records.draftOf(nodeKey(target))
    const shown = draft === undefined ? await parts.source(target).produce(context) : undefined
    const bytes = shown?.bytes ?? (await draft?.read(0, draft.size)) ?? Buffer.alloc(0)
    const mtime = times.ofText(nodeKey(node), bytes, shown?.mtime)
    return { bytes, mtime, isUnsent: draft !== undefined && draft.meta.unread !== true }
  }

  /** Makes the record and reads what has become of it; the text may ask for more than the POST took. */
  async function make(node: NewNode, draft: Draft, context: RequestContext): Promise<WrittenText> {
    const record = parts.creatable(node)
    const made = await parts.creator.create(record, draft, context)
    try {
      return await read(node, record, made, context)
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (failure.kind === 'absent') throw await withFailure(draft, notShownYet(record.key, made.id, failure))
      if (failure.kind !== 'outcome-unknown')
        throw await withFailure(draft, madeAllTheSame(node, made.id, failure))
      // What has this number is another one.
      await draft.change({ made: undefined })
      throw await withFailureAs('outcome-unknown', draft, failure)
    }
  }

  async function read(
    node: NewNode,
    record: NewRecord,
    { written, id }: CreatedRecord,
    context: RequestContext,
  ): Promise<WrittenText> {
    const target = targetOf(node, id)
    const first = { written, record: await parts.read(target, context) }
    record.confirm?.(id, first)
    const stored = await record.complete(id, first, context)
    learnRecord(parts, target, stored)
    if (node.of === 'share') parts.catalog.shares(node.project).refresh()
    await parts.history.remember(recordKeyOf(target), prettyPrint(stored), 'saved')
    return {
      alias: { target, record: stored, written, stored: undefined, form: stored },
      meant: { form: await record.like(written, stored, context), base: stored },
    }
  }

  /** The text is the record's from here on: it is saved as that one's, and kept as its draft if that fails. */
  async function handOver(
    target: RecordNode,
    { form, base }: MeantText,
    isUnread: boolean | undefined,
    context: RequestContext,
  ): Promise<Failure | undefined> {
    try {
      const made = { text: Buffer.from(prettyPrint(form)), base: base && Buffer.from(prettyPrint(base)) }
      await parts.records.replace(parts.source(target), { ...made, isUnread }, context)
      return undefined
    } catch (thrown) {
      return asFailure(thrown)
    }
  }

  async function save(node: NewNode, draft: Draft, context: RequestContext): Promise<Failure | undefined> {
    try {
      const failure = await saveNow(node, draft, context)
      madeNames.answered(node, failure === undefined)
      return failure
    } catch (thrown) {
      madeNames.answered(node, false)
      // Nothing saves it once more when its file is closed: its writer hears of this failure, and of nothing after it.
      throw draft.meta.state === 'editing' ? await withFailure(draft, asFailure(thrown)) : thrown
    }
  }

  async function saveNow(node: NewNode, draft: Draft, context: RequestContext): Promise<Failure | undefined> {
    const known = await standsFor(node, draft, context)
    const { alias, meant } =
      known === undefined ? await make(node, draft, context) : await editedOrKept(node, known, draft, context)
    // What was only moved away and back is not what the next text is an edit of.
    const isUnread = draft.meta.unread && known !== undefined
    aliases.set(nodeKey(node), isUnread ? known : alias)
    if (known === undefined) noteMade(node, draft, alias)
    else await setUnseenList(node, { known, written: alias.written, form: meant.form }, draft, context)
    const isMade = known === undefined && isAsRead(alias, meant)
    const failure = isMade ? undefined : await handOver(alias.target, meant, isUnread, context)
    if (failure?.kind === 'absent') return endedWith(node, alias, draft, failure)
    if (!isUnread) aliases.set(nodeKey(node), aliasAfter(alias, meant, failure))
    if (!isUnread && known !== undefined && failure === undefined) await noteStored(parts, node, alias)
    await keptElsewhere(node, alias, draft, failure)
    return failure
  }

  /** @throws Failure with the draft kept: the disk has neither the record's number nor perhaps its text */
  async function keptElsewhere(
    node: NewNode,
    alias: NewFileAlias,
    draft: Draft,
    failure: Failure | undefined,
  ): Promise<void> {
    if (madeNames.isKept(node) && (failure === undefined || !isLocal(failure))) return
    const cause = failure ?? numberUnnoted(node, alias.target.id)
    await draft.change(madeNote(node, alias, draft)).catch(asFailure)
    throw await withFailure(draft, cause)
  }

  /** A new report that was read a moment ago and says all that its text does; a share is looked at once more. */
  function isAsRead({ target, record }: NewFileAlias, { form }: MeantText): boolean {
    if (target.of === 'share' || parts.records.draftOf(nodeKey(target)) !== undefined) return false
    return isSameRecordText(parts, record, form)
  }

  /** What the draft of a text that is not saved says of the record that its name stood for; a share is known by its person. */
  function madeNote(node: NewNode, { target, record }: NewFileAlias, { meta }: Draft): MetaChange {
    const note = { made: target.id, madeOf: madeNames.of(node)?.madeOf ?? meta.madeOf }
    return node.of === 'share' ? note : { ...note, thing: identityNote(dialect.facts(record)) }
  }

  function noteMade(node: NewNode, { meta }: Draft, { target, record }: NewFileAlias): void {
    if (meta.madeOf === undefined) return
    madeNames.note(node, { id: target.id, madeOf: meta.madeOf, base: textHash(prettyPrint(record)) })
  }

  /** What a name stands for since before a kill, as it was when its record was made. */
  async function recalled(node: NewNode, context: RequestContext): Promise<NewFileAlias | undefined> {
    const kept = madeNames.of(node)
    const text = kept && (await parts.history.recall(recordKeyOf(node), kept.madeOf))
    if (kept === undefined || text === undefined) return undefined
    const target = targetOf(node, kept.id)
    const written = parseObject(text)
    const stored = await parts.read(target, context)
    // What other clients have changed since is theirs: the text is compared with the record as it was when it was made.
    const before = await parts.history.recall(recordKeyOf(target), kept.base)
    const record = before === undefined ? stored : parseObject(before)
    const isLeft = parts.records.draftOf(nodeKey(target)) !== undefined
    const form = await parts.creatable(node).like(written, record, context)
    return { target, record, written, stored: isLeft ? undefined : written, form }
  }

  /** A list that the service never shows is no field of the record: another one is set by itself. */
  async function setUnseenList(
    node: NewNode,
    { known, written, form }: { known: NewFileAlias; written: JsonObject; form: JsonObject },
    draft: Draft,
    context: RequestContext,
  ): Promise<void> {
    const name = dialect.listField(written)
    if (name === undefined || !editsBetween(known.written, written).has(name)) return
    try {
      await parts.creatable(node).complete(known.target.id, { written, record: form }, context)
    } catch (thrown) {
      aliases.set(nodeKey(node), known)
      throw await withFailure(draft, asFailure(thrown))
    }
  }

  /** The record was deleted meanwhile: its text stays under the name, and the next save makes another record. */
  async function endedWith(
    node: NewNode,
    alias: NewFileAlias,
    draft: Draft,
    failure: Failure,
  ): Promise<never> {
    await draft.change({ ...madeNote(node, alias, draft), gone: true })
    forget(alias.target)
    await parts.records.drop(nodeKey(alias.target))
    throw await withFailure(draft, failure)
  }

  /**
   * What the name stands for, if the draft's text is about that; undefined where it is another new record: the name
   * stands for that one once it is made.
   */
  async function standsFor(
    node: NewNode,
    draft: Draft,
    context: RequestContext,
  ): Promise<NewFileAlias | undefined> {
    // A record of which it is not known whether it was made is not forgotten for a text about an older one.
    if (draft.meta.state === 'outcome-unknown') return undefined
    const alias = aliases.get(nodeKey(node)) ?? (await recalledFor(node, draft, context))
    if (alias === undefined) return undefined
    const { target, record, written } = alias
    try {
      const text = parseObject(await draft.text())
      const made = { id: target.id, record, before: written }
      return (await parts.creatable(node).continues(text, made, context)) ? alias : undefined
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (failure.kind === 'absent') return endedWith(node, alias, draft, failure)
      // The name ends with the drive, and the draft does not.
      await draft.change(madeNote(node, alias, draft))
      throw await withFailure(draft, failure)
    }
  }

  async function recalledFor(
    node: NewNode,
    draft: Draft,
    context: RequestContext,
  ): Promise<NewFileAlias | undefined> {
    // A draft that was being sent knows best what became of it.
    if (draft.meta.made !== undefined || /^(sending|in-flight)$/.test(draft.meta.state)) return undefined
    try {
      return await recalled(node, context)
    } catch (thrown) {
      const failure = asFailure(thrown)
      const kept = madeNames.of(node)
      if (failure.kind === 'absent' && kept !== undefined) madeNames.forget(node.of, kept.id)
      throw await withFailure(draft, failure)
    }
  }

  async function editedOrKept(
    node: NewNode,
    known: NewFileAlias,
    draft: Draft,
    context: RequestContext,
  ): Promise<WrittenText> {
    try {
      const written = writtenUnder(dialect, known, parseObject(await draft.text()))
      const { like } = parts.creatable(node)
      const meant = await meaningOf(parts, { alias: known, like }, written, context)
      return { alias: { ...known, written }, meant }
    } catch (thrown) {
      throw await withFailure(draft, asFailure(thrown))
    }
  }

  /** The daemon may have ended after the text had been handed over to the record: then it is that one's draft already. */
  async function isKept(target: RecordNode): Promise<boolean> {
    const draft = parts.records.draftOf(nodeKey(target))
    if (draft === undefined) return false
    try {
      // A text that was cut short in the handing over is none.
      parseObject(await draft.text())
      return true
    } catch (thrown) {
      if (asFailure(thrown).kind !== 'not-json') throw thrown
      return false
    }
  }

  function editing(node: NewNode): Editing | Failure {
    const target = madeBy(node)
    const known = target === undefined ? undefined : parts.source(target).editing
    return (
      parts.rights.refusal({ do: 'edit', node }) ?? {
        begin: () => parts.drafts.begin(recordKeyOf(node), undefined),
        noteRead(text) {
          if (known !== undefined && !(known instanceof Failure)) known.noteRead(text)
        },
        keep: async text => void (await parts.history.archive(recordKeyOf(node), text)),
        save: (draft, _base, context) => save(node, draft, context),
        saveOver: (draft, _now, context) => save(node, draft, context),
      }
    )
  }

  function forget(target: RecordNode): void {
    for (const [name, alias] of aliases) if (nodeKey(alias.target) === nodeKey(target)) aliases.delete(name)
    if (target.of === 'report' || target.of === 'share') madeNames.forget(target.of, target.id)
  }

  return {
    forget,
    keysOf(target) {
      const known = [...aliases].filter(([, alias]) => nodeKey(alias.target) === nodeKey(target))
      return [...known.map(([key]) => key), ...madeNames.keysOf(target.of, target.id)]
    },
    made: madeBy,
    source: node => ({
      key: nodeKey(node),
      produce: context => produce(node, context),
      get editing() {
        return editing(node)
      },
      outlivesText: true,
      written: at => times.written(nodeKey(node), at),
      opened: () => {},
    }),
    async resume(node, draft, context) {
      const { made } = draft.meta
      if (made === undefined) return false
      const record = parts.creatable(node)
      if (!(await parts.creator.isStillMade(record, draft, context))) return false
      const target = targetOf(node, made)
      const stored = await parts.read(target, context)
      const written = clearly(dialect.withDigitsOf(stored, parseObject(await draft.text())))
      if (dialect.rows(stored) === undefined && dialect.entries(written) !== undefined) {
        await withFailure(draft, listUnseen(node, made))
        return false
      }
      const form = await record.like(written, stored, context)
      learnRecord(parts, target, stored)
      await parts.history.remember(recordKeyOf(target), prettyPrint(stored), 'saved')
      const isAll = isSameRecordText(parts, stored, form)
      if (!isAll && !(await isKept(target))) {
        const left = await parts.drafts.begin(recordKeyOf(target), prettyPrint(stored))
        await left.write(Buffer.from(prettyPrint(form)), 0)
        await left.sync()
        const why = new Failure(
          'internal',
          `the daemon ended when ${node.name} had become ${target.of} ${made}, before all of it was stored`,
        )
        await withFailure(left, why)
        parts.records.adopt(nodeKey(target), left)
      }
      // Its writer was told of a failure, and saves the same text under the same name once more.
      const alias = isAll
        ? { target, record: stored, written, stored: written, form }
        : { target, record: stored, written, stored: undefined, form: stored }
      aliases.set(nodeKey(node), alias)
      noteMade(node, draft, alias)
      return true
    },
  }
}
