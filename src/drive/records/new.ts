// New files (`new*.json`): the first save makes a record, and the name is a second name of it until the unmount.
import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { type Ledger, valueIn } from '../../cache/ledger/ledger.js'
import type { Draft } from '../../edit/journal/draft.js'
import { withFailure } from '../../edit/journal/draft-meta.js'
import { textHash } from '../../edit/journal/text-history.js'
import { carriesId, isAbout, mayBeMade, type NewRecord, notShownYet } from '../../edit/save/create.js'
import { editsBetween, unstoredChange } from '../../edit/save/diff.js'
import type { Saver } from '../../edit/save/save.js'
import { asFailure, Failure } from '../../failure.js'
import { RecentMap } from '../../recent-map.js'
import { emptyObject, type JsonObject, removed, withEdits, without } from '../../record/json/json.js'
import { clearly } from '../../record/json/kept-digits.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyPrint } from '../../record/json/print.js'
import type { ReportId, RequestContext, ShareId } from '../../remote/remote.js'
import type { ProcessId } from '../../system/process.js'
import { type NewNode, nodeKey, nodeOfKey, type RecordNode } from '../nodes/node.js'
import type { NewPlace } from '../tree/directory-kind.js'
import { type EditingParts, learnRecord } from './editable-files.js'
import type { Records } from './records.js'
import type { RecordSource, TextSnapshot, Writing } from './source.js'

export interface NewFileParts extends EditingParts {
  readonly state: Ledger
  readonly mountPoint: string
  readonly create: Saver['create']
  readonly records: Pick<Records, 'draftOf' | 'known' | 'record' | 'shows'>
  readonly source: (node: RecordNode) => RecordSource
  readonly creatable: (node: NewNode) => NewRecord
}

interface Made {
  readonly target: RecordNode
  /** The process that made the record, by its group; undefined where that is not known, as after a kill: then any counts for it. */
  readonly maker: number | undefined
  readonly said: JsonObject
  /** The record's text as it was stored last through the name. */
  readonly form: JsonObject
  /** The next text means all that it says: not all of the last one is known to be stored, or it was the whole record. */
  readonly meansAll: boolean
  readonly isGone?: boolean
}

const namesForm = z.array(z.string())

/** The record as a text means it, and the text that it is an edit of; undefined where the texts that were met tell. */
interface Meaning {
  readonly form: JsonObject
  readonly base: JsonObject | undefined
}

const heldAtMost = 64

type WrittenDraft = Pick<Writing, 'process'> & { readonly draft: Draft }

/** The names are on disk until the mount ends in order: after a kill, its writer's second try makes no second record. */
export class NewFiles {
  /** By name the record that it stands for and what was saved under it last; by record its names. */
  readonly #room: string
  /** Tells makers that this daemon has met from processes of before, which may have had their numbers. */
  readonly #life = randomUUID()
  /** Those that were saved last; the room tells of the others. */
  readonly #made = new RecentMap<string, Made>(heldAtMost)

  constructor(private readonly parts: NewFileParts) {
    this.#room = `made names ${parts.mountPoint}`
  }

  target(node: NewNode): RecordNode | undefined {
    const [id] = this.#noted(nodeKey(node))
    return id === undefined ? undefined : targetOf(node, id)
  }

  /** The keys of its names. One that has passed to another record is noted with this one all the same. */
  keysOf(record: RecordNode): readonly string[] {
    return this.#namesOf(record).filter(key => this.#noted(key)[0] === record.id)
  }

  /** Those of this directory that are not sent yet. */
  unsent(of: NewPlace): readonly NewNode[] {
    return this.parts.drafts.unsent().flatMap(draft => {
      const node = nodeOfKey(draft.key)
      if (node?.kind !== 'new' || !this.parts.records.shows(node, draft)) return []
      const isHere =
        node.of === 'share' ? of.kind === 'shares' && of.project === node.project : of.kind === 'reports'
      return isHere ? [node] : []
    })
  }

  /** True if it is there: not sent yet, or another name of what it has made. */
  has(node: NewNode): boolean {
    return this.target(node) !== undefined || this.parts.records.draftOf(nodeKey(node)) !== undefined
  }

  /** The record is gone, or another one: no name stands for it any more. */
  forget(target: RecordNode): void {
    for (const key of this.keysOf(target)) {
      this.parts.state.delete(this.#room, key)
      this.#made.delete(key)
    }
    this.parts.state.delete(this.#room, nodeKey(target))
  }

  /** The mount ends in order: all names are free. */
  end(): void {
    for (const key of this.parts.state.entries(this.#room).keys()) this.parts.state.delete(this.#room, key)
  }

  source(node: NewNode): RecordSource {
    const { drafts, history, rights, source } = this.parts
    return {
      key: nodeKey(node),
      outlivesText: true,
      produce: context => this.#produce(node, context),
      opened: () => {},
      refusal: () => rights.refusal(node),
      begin: (_base, text) => drafts.begin(node, { text }),
      noteRead: (text, by) => {
        const target = this.target(node)
        const own = target && source(target)
        if (own?.refusal() === undefined) own?.noteRead(text, by)
      },
      keep: text => history.remember(node, text, 'dropped'),
      save: (draft, { process }, context) => this.#save(node, { draft, process }, context),
    }
  }

  /** A daemon ended after the record was made: the same text, saved once more, makes no second one. */
  async settle(node: NewNode, draft: Draft): Promise<void> {
    const { made } = draft.meta
    if (made === undefined) return
    const ended = new Failure('internal', 'the daemon ended before it was answered')
    await withFailure(draft, madeInPart(targetOf(node, made), ended))
  }

  async #produce(node: NewNode, context: RequestContext): Promise<TextSnapshot> {
    const { records, source, times } = this.parts
    const target = this.target(node)
    if (target === undefined) throw new Failure('absent', `${node.id}: there is no such file`)
    const draft = records.draftOf(nodeKey(target))
    const shown = draft === undefined ? await source(target).produce(context) : undefined
    const bytes = shown?.bytes ?? (await draft?.whole()) ?? Buffer.alloc(0)
    const mtime = times.ofText(nodeKey(node), bytes, shown?.mtime)
    return { bytes, mtime, isUnsent: draft !== undefined && draft.meta.unread !== true }
  }

  async #save(node: NewNode, written: WrittenDraft, context: RequestContext): Promise<Failure | undefined> {
    try {
      const failure = await this.#edit(node, written, context)
      return failure === 'makes another' ? await this.#make(node, written, context) : failure
    } catch (thrown) {
      const { draft } = written
      // Nothing saves it once more when its file is closed: its writer hears of this failure, and of nothing after it.
      throw draft.meta.state === 'editing' ? await withFailure(draft, asFailure(thrown)) : thrown
    }
  }

  // The text is an edit of the record that the name stands for.

  async #edit(
    node: NewNode,
    written: WrittenDraft,
    context: RequestContext,
  ): Promise<Failure | undefined | 'makes another'> {
    const { draft } = written
    // A record of which it is not known whether it was made is not forgotten for a text about an older one.
    const made = mayBeMade(draft.meta) ? undefined : this.#madeBy(node)
    if (made === undefined) return 'makes another'
    const { target } = made
    const record = this.parts.creatable(node)
    const text = parseObject(draft.text())
    if (!isEdit(record, made, text, written.process)) return 'makes another'
    const said = clearly(this.parts.dialect.withDigitsOf(made.form, text))
    const isWhole = carriesId(record, said, target.id)
    const meaning = isWhole
      ? { form: said, base: undefined }
      : await this.#meaning(record, made, said, context)
    const failure = await this.#handOver(target, meaning, written, context)
    // The record's own form says nothing about what the other form leaves out.
    if (failure === undefined)
      await this.#note(node, { ...made, said, form: meaning.form, meansAll: isWhole, isGone: false })
    else if (failure.kind === 'another-thing') this.forget(target)
    else if (failure.kind === 'absent') {
      await this.parts.records.known(nodeKey(target))?.drop()
      // One refusal may be a passing one: only the second makes another record.
      if (made.isGone) return 'makes another'
      this.#made.set(nodeKey(node), { ...made, isGone: true })
      throw await withFailure(draft, failure)
    } else this.#made.set(nodeKey(node), { ...made, said, meansAll: true })
    return failure
  }

  /** The edit is the difference to the last text under the name; without one, the texts that were met tell. */
  async #meaning(record: NewRecord, made: Made, said: JsonObject, context: RequestContext): Promise<Meaning> {
    if (made.meansAll) return { form: await record.like(said, made.form, context), base: undefined }
    const edits = editsBetween(made.said, said)
    const fields = said.fields.filter(({ name }) => edits.has(name))
    const changed =
      fields.length === 0 ? made.form : await record.like({ type: 'object', fields }, made.form, context)
    const gone = [...edits].flatMap(([name, edit]) => (edit === removed ? [name] : []))
    // Without a date of change: a text that carries none was made from no known text.
    const form = this.parts.dialect.plain(without(changed, gone))
    return { form, base: edits.size === 0 ? undefined : made.form }
  }

  // The text makes a record.

  async #make(node: NewNode, written: WrittenDraft, context: RequestContext): Promise<Failure | undefined> {
    const { draft } = written
    const record = this.parts.creatable(node)
    const { id, written: said } = await this.parts.create(record, draft, context)
    const target = targetOf(node, id)
    if (target.of === 'report') this.parts.identities.renew({ kind: 'report', id })
    const form = await this.#readMade(record, { ...written, target, said }, context)
    const { plain, isTitle } = this.parts.dialect
    const like = await record.like(said, form, context)
    const edits = editsBetween(plain(form), plain(like))
    // A name that came back in the service's own spelling is stored.
    const open = unstoredChange({ before: emptyObject, edits }, form, isTitle)
    const meant = withEdits(form, new Map([...edits].filter(([name]) => open.includes(name))))
    const made = { target, maker: written.process?.group, said, form, meansAll: open.length > 0 }
    if (!(await this.#note(node, made))) throw await withFailure(draft, numberUnnoted(target))
    if (open.length === 0) return undefined
    const failure = await this.#handOver(target, { form: meant, base: form }, written, context)
    if (failure === undefined) await this.#note(node, { ...made, form: meant, meansAll: false })
    return failure
  }

  /** Its outcome; the text may ask for more than the POST took. */
  async #readMade(
    record: NewRecord,
    { target, said, draft, process }: WrittenDraft & { target: RecordNode; said: JsonObject },
    context: RequestContext,
  ): Promise<JsonObject> {
    const { id } = target
    try {
      const first = { written: said, record: await this.parts.editable(target).read(context) }
      if (!record.isOf(said, first.record)) throw otherNumber(target)
      const stored = await record.complete(id, first, context)
      learnRecord(this.parts, target, stored)
      await this.parts.history.remember(target, prettyPrint(stored), 'saved', process)
      return stored
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (failure.kind === 'absent') throw await withFailure(draft, notShownYet(record.key, id, failure))
      if (failure.kind !== 'outcome-unknown') throw await withFailure(draft, madeInPart(target, failure))
      await draft.change({ made: undefined })
      throw await withFailure(draft, failure, 'outcome-unknown')
    }
  }

  /** The text is the record's from here on, and its draft where it is not saved. @throws Failure where it is not even that */
  async #handOver(
    target: RecordNode,
    { form, base }: Meaning,
    { draft, process }: WrittenDraft,
    context: RequestContext,
  ): Promise<Failure | undefined> {
    const { records, source } = this.parts
    try {
      const text = Buffer.from(prettyPrint(form))
      const made = { base: base && Buffer.from(prettyPrint(base)), isUnread: draft.meta.unread, process }
      await records.record(nodeKey(target)).replace(source(target), { text, ...made }, context)
      return undefined
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (failure.kind === 'no-space' || failure.kind === 'disk-read-only')
        throw await withFailure(draft, failure)
      return failure
    }
  }

  // The things that the names stand for.

  /** False where the disk does not take it. */
  async #note(node: NewNode, made: Made): Promise<boolean> {
    const { history, log, state } = this.parts
    this.#made.set(nodeKey(node), made)
    const texts = [made.said, made.form].map(prettyPrint)
    try {
      for (const text of texts) await history.remember(node, text, 'sent')
    } catch (thrown) {
      log('what was saved under a new name could not be noted', { cause: asFailure(thrown) })
      return false
    }
    const maker = made.maker === undefined ? [] : [made.maker, this.#life]
    const words = [made.target.id, ...texts.map(textHash), made.meansAll ? 'all' : 'edits', ...maker]
    state.set(this.#room, nodeKey(node), words.join(' '))
    const names = this.#namesOf(made.target)
    if (!names.includes(nodeKey(node)))
      state.set(this.#room, nodeKey(made.target), JSON.stringify([...names, nodeKey(node)]))
    return state.flush()
  }

  #noted(key: string): readonly string[] {
    return this.parts.state.get(this.#room, key)?.split(' ') ?? []
  }

  #namesOf(record: RecordNode): readonly string[] {
    return valueIn(namesForm, this.parts.state.get(this.#room, nodeKey(record))) ?? []
  }

  #madeBy(node: NewNode): Made | undefined {
    const [id, ...words] = this.#noted(nodeKey(node))
    const known = this.#made.get(nodeKey(node))
    if (id === undefined || known !== undefined) return known
    const recall = (hash = '') => this.parts.history.recall(node, hash)
    const [said, form] = [recall(words[0]), recall(words[1])]
    if (said === undefined || form === undefined) return undefined
    const meansAll = words[2] !== 'edits'
    const maker = words[4] === this.#life ? Number(words[3]) : undefined
    const texts = { said: parseObject(said), form: parseObject(form) }
    return { target: targetOf(node, id), maker, ...texts, meansAll }
  }
}

/** Another program's text is one if it carries the id, or is the last one once more; its maker's, if it has much in common. */
function isEdit(record: NewRecord, made: Made, text: JsonObject, by: ProcessId | undefined): boolean {
  const { id } = made.target
  if (carriesId(record, text, id)) return true
  const isMaker = made.maker === undefined || by === undefined || made.maker === by.group
  if (!isMaker && editsBetween(made.said, text).size > 0) return false
  return isAbout(record, text, { id, known: [made.form, made.said] })
}

const targetOf = (node: NewNode, id: string): RecordNode =>
  node.of === 'share'
    ? { kind: 'record', of: 'share', id: id as ShareId, project: node.project }
    : { kind: 'record', of: 'report', id: id as ReportId }

function madeInPart({ of, id }: RecordNode, cause: Failure): Failure {
  const sentence = `it was made as ${of} ${id}, but not all of it is known to be stored: ${cause.message}; save it once more`
  return new Failure(cause.kind, sentence, { cause, said: cause.said })
}

const otherNumber = ({ of, id }: RecordNode): Failure =>
  new Failure(
    'outcome-unknown',
    `the service answered ${id}, and that is another ${of}: whether this one was made is not known`,
  )

const numberUnnoted = ({ of, id }: RecordNode): Failure =>
  new Failure(
    'no-space',
    `it was made as ${of} ${id}, and the local disk did not take that number: make room, and save it once more`,
  )
