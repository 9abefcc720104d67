// Records as files, by node key: stat, open, create and truncate; and a handle, through which a program reads, writes and saves.
import type { Times } from '../../cache/metadata/times.js'
import type { Draft } from '../../edit/journal/draft.js'
import { asFailure, Failure, isAbsent } from '../../failure.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import { RecentMap } from '../../recent-map.js'
import type { Clock } from '../../remote/clock.js'
import type { ByteOffset, Instant, RequestContext } from '../../remote/remote.js'
import type { Call, OpenAccess } from '../interface/verbs.js'
import { type EditableNode, nodeKey } from '../nodes/node.js'
import type { Place } from '../nodes/place.js'
import { nothing, OpenRecord } from './open-record.js'
import {
  freshView,
  type HandleView,
  noteRead,
  type RecordSource,
  refuseReadOnly,
  type TextSnapshot,
} from './source.js'

/** A file that is opened: by which node of the kernel, and what for. */
export interface Opening extends Partial<Call> {
  readonly place: Place
  readonly access: OpenAccess
}

const rememberedRecords = 512
const shownAtMost = 4096

export class Records {
  readonly #opened = new Map<string, OpenRecord>()
  /** With so many, those that are as if they had never been open are forgotten. */
  #room = rememberedRecords
  readonly #shownLast = new RecentMap<string, Instant>(shownAtMost)

  /** @param tell is told the key of a record at whose names another text is shown now, or none */
  constructor(
    private readonly tell: (key: string) => void,
    private readonly clock: Clock,
    private readonly times: Pick<Times, 'next' | 'written'>,
  ) {}

  stat(source: RecordSource, context: RequestContext): MaybePromise<{ size: number; mtime: Instant }> {
    const record = this.known(source.key)
    if (record?.draft !== undefined) return { size: record.draft.size, mtime: record.changed }
    return chain(this.#shown(source, context), ({ bytes, mtime }) => ({ size: bytes.length, mtime }))
  }

  async open(source: RecordSource, opening: Opening, context: RequestContext): Promise<RecordHandle> {
    if (opening.access !== 'read') {
      refuseReadOnly(source)
      const ended = this.record(source.key).ended(context)
      if (ended !== undefined) await ended
    }
    const view = await this.#viewFor(source, opening, context)
    // Where it is not known who asks, the kernel keeps pages, so that no read may come.
    if (opening.access === 'read' && opening.process === undefined) noteRead(source, view)
    return this.#handleOf(source, view)
  }

  async create(source: RecordSource, { place, process }: Omit<Opening, 'access'>): Promise<RecordHandle> {
    const record = this.record(source.key)
    record.hold()
    await record.draftFor(source, nothing)
    record.touch()
    const view = freshView(place, { bytes: nothing, mtime: this.clock.now(), isUnsent: true, process })
    record.writeThrough(view.node)
    await record.draft?.truncate(0)
    record.bringBack()
    record.touch()
    return this.#handleOf(source, view)
  }

  async truncate(
    source: RecordSource,
    { place, size }: { readonly place: Place; readonly size: ByteOffset },
    context: RequestContext,
  ): Promise<void> {
    refuseReadOnly(source)
    const record = this.record(source.key)
    record.noteWriter()
    await record.ended(context)
    record.touch()
    const bytes =
      size === 0 || record.draft !== undefined ? nothing : (await record.present(source, context)).bytes
    const draft = await record.draftFor(source, bytes)
    record.writeThrough(place)
    if (size === 0) await record.empty(source, draft)
    else await draft.truncate(size)
    record.touch()
    // An open with O_TRUNC comes this way too, and its handle will flush; truncate(2) of a path has no handle.
    if (size === 0) await record.dropEmpty()
    else if (record.handles.size === 0) await record.save(source, {}, context)
  }

  known(key: string): OpenRecord | undefined {
    return this.#opened.get(key)
  }

  record(key: string): OpenRecord {
    const known = this.known(key)
    if (known !== undefined) return known
    if (this.#opened.size >= this.#room) this.#forgetIdle()
    const fresh = new OpenRecord(key, () => this.tell(key), this.clock, this.times)
    this.#opened.set(key, fresh)
    return fresh
  }

  #forgetIdle(): void {
    for (const [key, record] of this.#opened) if (record.isForgettable) this.#opened.delete(key)
    this.#room = Math.max(rememberedRecords, 2 * this.#opened.size)
  }

  draftOf(key: string): Draft | undefined {
    return this.known(key)?.draft
  }

  /** True if this draft is shown in the place of its record. */
  shows(node: EditableNode, { id }: Draft): boolean {
    return this.draftOf(nodeKey(node))?.id === id
  }

  async settled(): Promise<void> {
    const opened = [...this.#opened.values()]
    // On a full disk it is history, and its note names it.
    for (const record of opened) await record.refill().catch(asFailure)
    await Promise.all(opened.map(({ underWay }) => underWay))
  }

  detach(key: string): void {
    const record = this.known(key)
    if (record === undefined) this.tell(key)
    else record.detach()
  }

  /** The present text; what is told of another name of the record is over where it is another one than was shown last. */
  #shown(source: RecordSource, context: RequestContext): MaybePromise<TextSnapshot> {
    return chain(source.produce(context), text => {
      const before = this.#shownLast.get(source.key)
      this.#shownLast.set(source.key, text.mtime)
      if (before !== undefined && before !== text.mtime) this.tell(source.key)
      return text
    })
  }

  async #viewFor(
    source: RecordSource,
    { place, access, process }: Opening,
    context: RequestContext,
  ): Promise<HandleView> {
    const { draft, changed: mtime = this.clock.now() } = this.known(source.key) ?? {}
    if (draft !== undefined)
      return freshView(place, { bytes: draft.read(0, draft.size), mtime, isUnsent: true, process })
    try {
      const { bytes, mtime: at, isUnsent = false } = await this.#shown(source, context)
      source.opened()
      return freshView(place, { bytes, mtime: at, isUnsent, process })
    } catch (thrown) {
      // A name outlives what it was made for, and a program that reads nothing of it is about to write.
      if (access !== 'write-only' || !source.outlivesText || !isAbsent(thrown)) throw thrown
      return freshView(place, { bytes: nothing, mtime, isUnsent: true, process })
    }
  }

  /** Of records that were read alone nothing is kept: a walk opens a hundred thousand. */
  #handleOf(source: RecordSource, view: HandleView): RecordHandle {
    const forget = () => this.known(source.key)?.isForgettable === true && this.#opened.delete(source.key)
    return new RecordHandle(this.record(source.key), source, view, forget)
  }
}

/** An open record of one program: its reads, its writes and their saves. */
export class RecordHandle {
  #underWay: Promise<void> | undefined
  /** Why not all of what its program wrote is here: such a text is no save. */
  #failed: Failure | undefined

  constructor(
    private readonly record: OpenRecord,
    private readonly source: RecordSource,
    private readonly view: HandleView,
    private readonly released: () => void,
  ) {
    record.handles.add(view)
  }

  read(target: Uint8Array, offset: ByteOffset): number {
    const { record, view } = this
    const shown = record.isShown(view) ? record.draft?.read(offset, target.length) : undefined
    const bytes = shown ?? view.bytes.subarray(offset, offset + target.length)
    target.set(bytes)
    if (shown === undefined && bytes.length > 0) noteRead(this.source, view)
    return bytes.length
  }

  write(bytes: Uint8Array, offset: ByteOffset): Promise<void> {
    this.record.noteWriter()
    return this.#change(draft =>
      chain(draft.write(bytes, offset), () => this.record.wroteOn(offset, bytes.length)),
    )
  }

  truncate(size: ByteOffset): Promise<void> {
    // Another program's unsaved text is not emptied away.
    return this.#change(draft => {
      if (size > 0) return draft.truncate(size)
      return chain(this.record.empty(this.source, draft), () => {
        this.#failed = undefined
      })
    })
  }

  /** close(2) sees this answer: the save's. */
  async flush(context: RequestContext): Promise<'saved' | 'nothing'> {
    const { view } = this
    // A copy of the descriptor is closed meanwhile (dup, fork): its text is the one that is being saved.
    const before = this.#underWay
    if (!view.wrote) return before === undefined ? 'nothing' : before.then(() => 'saved')
    if (view.gone === 'moved') return 'nothing'
    this.#refuseGone()
    if (this.#failed !== undefined) throw this.#failed
    // Bytes written during a save are the next flush's.
    view.wrote = false
    const run = this.record.save(this.source, view, context)
    this.#underWay = run
    try {
      await run
      return 'saved'
    } catch (thrown) {
      view.wrote = true
      throw thrown
    } finally {
      if (this.#underWay === run) this.#underWay = undefined
    }
  }

  async sync(): Promise<void> {
    if (this.view.gone === 'replaced' && this.view.wrote) this.#refuseGone()
    await this.record.draft?.seal()
  }

  async release(context: RequestContext): Promise<void> {
    const { record, view } = this
    record.handles.delete(view)
    // Bytes written through a mapping come after the last flush; no call waits for this answer any more.
    const isDirty = view.wrote && view.gone === 'no' && this.#failed === undefined
    if (isDirty && record.draft?.meta.state === 'editing') await record.save(this.source, view, context)
    // A program whose bytes the disk has refused writes no more of them.
    const dropped = this.#failed === undefined ? record.dropEmpty() : record.dropEmpty(0)
    const ended = chain(dropped, () => record.endIfStored())
    if (ended !== undefined) await ended
    record.detachIfApart()
    this.released()
  }

  /** Size and time of the text that it was opened on, and shows; undefined where a draft is shown. */
  text(): { readonly size: number; readonly mtime: Instant } | undefined {
    if (this.record.isShown(this.view)) return undefined
    return { size: this.view.bytes.length, mtime: this.view.mtime }
  }

  #refuseGone(): void {
    if (this.view.gone === 'no') return
    throw new Failure(
      'conflict',
      'this file was moved away, or another took its place, before it was saved: its text was not sent, and is kept as history',
    )
  }

  async #change(work: (draft: Draft) => MaybePromise<void>): Promise<void> {
    const { record, source, view } = this
    this.#refuseGone()
    let draft = record.draft ?? (await record.draftFor(source, view.bytes))
    // A save may have ended that draft just now.
    while (draft !== record.draft) draft = await record.draftFor(source, view.bytes)
    record.writeThrough(view.node)
    // Another text may have taken the file's place meanwhile.
    this.#refuseGone()
    record.begin()
    try {
      const done = work(draft)
      if (done instanceof Promise) await done
      view.wrote = true
    } catch (thrown) {
      this.#failed = asFailure(thrown)
      throw thrown
    } finally {
      record.touch()
    }
  }
}
