// Open record, all of its state: when its draft begins, is saved and ends, what each handle sees, and when it is away.
import type { Times } from '../../cache/metadata/times.js'
import type { Draft } from '../../edit/journal/draft.js'
import { asFailure, Failure, rethrow } from '../../failure.js'
import { attempt, chain, type MaybePromise } from '../../maybe-promise.js'
import { type Clock, withDeadline } from '../../remote/clock.js'
import type { Instant, RequestContext } from '../../remote/remote.js'
import type { Place } from '../nodes/place.js'
import {
  type HandleView,
  type RecordSource,
  type Replacement,
  refuseReadOnly,
  type Writing,
} from './source.js'

/** Milliseconds for which a file that was taken away may be created again: `mv` and vim do both at once. */
export const awayMs = 3000
/** The same for one that was emptied, and may be filled. */
export const emptyMs = 2000
/** The same for a report that was written here, and may be its program's own copy, to be taken back; no later call asks what was done to a record. */
export const ownCopyMs = 60_000
export const nothing = new Uint8Array()
const roundsAtMost = 64

/** A record that is or was open here. One save after another, and no save ends a draft that is being written. */
export class OpenRecord {
  /** The unsaved text that is shown in the record's place. */
  #draft: Draft | undefined
  /** A draft that was taken away before its outcome was known: what is written under its name is its next text. */
  #aside: { readonly draft: Draft; takenUp?: Promise<Draft> } | undefined
  /** When the draft was changed last. */
  changed: Instant
  /** The beginning of a draft that no program wrote, and up to where its beginning was written over. */
  readonly #starts = new WeakMap<Draft, { readonly bytes: Uint8Array; over: number }>()
  /** The text of a kept draft that a program has emptied; it is the draft again where nothing is written after that. */
  #emptied: Uint8Array | undefined
  /** Through which node the draft is written: its handles show the draft, all others the text they were opened on. */
  #node: Place | undefined
  /** Counts the changes, each before and after it happens: a save must not end a draft that is being written. */
  #revision = 0
  /** The revision whose text the service was found to have after a restart: the draft ends once no file shows it. */
  #storedRevision: number | undefined
  /** Until then the file is not there, unless a program creates it; 0 where it was not taken away. */
  #awayUntil = 0
  /** Saves and swaps under way, the latest last: a finished text takes the draft's place by a swap. */
  readonly #underWay: Partial<Record<'save' | 'swap', Promise<void>>> = {}
  readonly handles = new Set<HandleView>()
  /** When more than a read last came to it. */
  #heldAt: Instant | undefined
  /** When a program last wrote it, emptied it, or put a text in its place. */
  writtenAt: Instant | undefined

  constructor(
    private readonly key: string,
    /** At every name of this record another text is shown now, or none. */
    private readonly tell: () => void,
    private readonly clock: Clock,
    private readonly times: Pick<Times, 'next' | 'written'>,
  ) {
    this.changed = clock.now()
  }

  get draft(): Draft | undefined {
    return this.#draft
  }

  get revision(): number {
    return this.#revision
  }

  /** Resolves when the saves and swaps that are on their way now have ended; never rejects. */
  get underWay(): Promise<unknown> | undefined {
    const { save, swap } = this.#underWay
    return save === undefined && swap === undefined ? undefined : Promise.all([save, swap])
  }

  get isAway(): boolean {
    return this.#awayUntil > this.clock.now()
  }

  /** It is as one that was never open. */
  get isForgettable(): boolean {
    const isIdle = this.#heldAt === undefined || this.clock.now() - this.#heldAt > ownCopyMs
    return isIdle && this.handles.size === 0 && (this.#draft ?? this.#aside ?? this.underWay) === undefined
  }

  hold(): void {
    this.#heldAt = this.clock.now()
  }

  /** The pause is over, and no program has created it again. */
  get isBack(): boolean {
    return this.#awayUntil > 0 && this.#awayUntil <= this.clock.now()
  }

  bringBack(): void {
    this.#awayUntil = 0
  }

  /** True if this handle shows the draft as it grows. */
  isShown(view: HandleView): boolean {
    return this.#draft !== undefined && view.gone === 'no' && view.node === this.#node
  }

  /** The draft is written through this node from here on; who shared it by another one keeps its bytes of now. */
  writeThrough(node: Place): void {
    const draft = this.#draft
    if (draft === undefined || node === this.#node) return
    const sharing = [...this.handles].filter(view => this.isShown(view))
    if (sharing.length > 0) {
      const bytes = draft.read(0, draft.size)
      for (const view of sharing) view.bytes = bytes
    }
    this.#node = node
  }

  noteWriter(): void {
    this.hold()
    this.writtenAt = this.clock.now()
  }

  detachHandles(gone: 'moved' | 'replaced'): void {
    for (const view of this.handles) if (view.gone === 'no') view.gone = gone
  }

  begin(): void {
    this.#revision += 1
  }

  /** The draft's bytes have changed, at a time later than that of any text that was shown. */
  touch(): void {
    this.hold()
    this.changed = this.times.next(this.key)
    this.#revision += 1
    this.tell()
  }

  /** A program has written into it: what it emptied before is not wanted back. */
  wroteOn(offset: number, length: number): void {
    this.#emptied = undefined
    const start = this.#draft && this.#starts.get(this.#draft)
    if (start !== undefined && offset <= start.over) start.over = Math.max(start.over, offset + length)
  }

  /** `base` is kept for the time after a crash. */
  draftFor(source: RecordSource, bytes: Uint8Array, base?: Uint8Array): MaybePromise<Draft> {
    if (this.#draft !== undefined) return this.#draft
    if (this.#aside === undefined) return this.#begin(source, bytes, base)
    this.#aside.takenUp ??= this.#takeUp(source, this.#aside.draft)
    return this.#aside.takenUp
  }

  /** Whole before it is shown: no reader meets a part of it. */
  async #begin(source: RecordSource, bytes: Uint8Array, base?: Uint8Array): Promise<Draft> {
    refuseReadOnly(source)
    const draft = await source.begin(base, bytes)
    // A write and a truncate may have come at once: the first draft is the record's.
    if (this.#draft !== undefined) return draft.discard().then(() => this.draftFor(source, bytes, base))
    this.#draft = draft
    this.#node = undefined
    this.#emptied = undefined
    this.#starts.set(draft, { bytes, over: 0 })
    return draft
  }

  async #takeUp(source: RecordSource, draft: Draft): Promise<Draft> {
    await this.empty(source, draft)
    this.#draft = draft
    this.#node = undefined
    this.#aside = undefined
    return draft
  }

  /** A draft left by an earlier mount is shown in its record's place. */
  adopt(draft: Draft): void {
    this.#draft ??= draft
    this.changed = draft.meta.changed as Instant
  }

  /** A program empties the file: an unsaved text is kept as history first, and a draft that had failed is remembered. */
  empty(source: RecordSource, draft: Draft): MaybePromise<void> {
    const isKept = draft.meta.state !== 'editing' && draft.damage === undefined && draft.size > 0
    if (isKept) this.#emptied = draft.read(0, draft.size)
    const start = this.#starts.get(draft)?.bytes ?? nothing
    this.#starts.set(draft, { bytes: start, over: Number.POSITIVE_INFINITY })
    return draft.replace(nothing, before =>
      Buffer.compare(before, start) === 0 ? undefined : source.keep(before),
    )
  }

  /** The text that `empty` remembered is the draft again, unless another text was written; without room for it on the disk, the next close tries again. */
  async refill(): Promise<boolean> {
    const [draft, emptied] = [this.#draft, this.#emptied]
    const isWanted = draft !== undefined && emptied !== undefined && draft.size === 0
    if (!isWanted) this.#emptied = undefined
    if (!isWanted) return false
    this.begin()
    // A part of it may have found room.
    const undo = (thrown: unknown) => chain(draft.truncate(0), () => rethrow(thrown))
    await attempt<void>(() => draft.write(emptied, 0), undo)
    this.#emptied = undefined
    await draft.seal()
    this.touch()
    return true
  }

  /** The bytes that a reader would see now, and whether they are no program's own. */
  async present(
    source: RecordSource,
    context: RequestContext,
  ): Promise<{ bytes: Uint8Array; isUnread: boolean }> {
    const draft = this.#draft
    if (draft !== undefined) return { bytes: await draft.whole(), isUnread: draft.meta.unread === true }
    const { bytes, isUnsent } = await source.produce(context)
    return { bytes, isUnread: isUnsent !== true }
  }

  /** A save under way ends first, as far as there is time: what is written then is an edit of its text, not over it. */
  ended(context: RequestContext): Promise<unknown> | undefined {
    const { underWay } = this
    const sentence = 'another save of this record is under way'
    // Its failure was answered to the call that waited for it, and is kept in the draft's why.
    return underWay && withDeadline(underWay, context, this.clock, sentence).catch(asFailure)
  }

  /** Saves one after another; what changed while a save was on its way is saved by the next. */
  async save(source: RecordSource, from: HandleView | Writing, context: RequestContext): Promise<void> {
    const before = this.#underWay.save
    const saved = () => this.#saveNow(source, from, context)
    await this.#track('save', before === undefined ? saved() : before.then(saved))
  }

  #track(what: 'save' | 'swap', run: Promise<void>): Promise<void> {
    const end = (): void => {
      if (this.#underWay[what] === ended) delete this.#underWay[what]
    }
    const ended = run.then(end, end)
    this.#underWay[what] = ended
    return run
  }

  async #saveNow(source: RecordSource, from: HandleView | Writing, context: RequestContext): Promise<void> {
    const draft = this.#draft
    if (draft === undefined || draft.size === 0) return
    const start = this.#starts.get(draft)
    const remains = start !== undefined && start.over < draft.size && start.bytes.length > 0
    const base = remains ? start.bytes : 'base' in from ? from.base : undefined
    const [changed, revision] = [this.changed, this.#revision]
    const bytes = await draft.whole()
    refuseReadOnly(source)
    let handedOver: Failure | undefined
    try {
      handedOver = await source.save(draft, { base, process: from.process }, context)
    } catch (thrown) {
      // Another program may have written over the draft while this text was on its way.
      if (this.#revision !== revision) await source.keep(bytes)
      throw thrown
    } finally {
      this.detachIfApart()
    }
    this.times.written(this.key, changed)
    for (const view of this.handles) {
      if (view !== from && !this.isShown(view)) continue
      view.bytes = bytes
      view.mtime = changed
      if (view === from) view.read = bytes
    }
    const isSaved = this.#draft === draft && this.#revision === revision
    if (isSaved) this.#draft = undefined
    this.tell()
    if (isSaved) await draft.discard()
    else await draft.change({})
    if (handedOver !== undefined) throw handedOver
  }

  /** A finished text takes the file's place: one save, and its failure is the caller's. */
  async replace(source: RecordSource, text: Replacement, context: RequestContext): Promise<void> {
    refuseReadOnly(source)
    this.noteWriter()
    // From here on no other handle's bytes get into the draft, whatever is waited for below.
    this.detachHandles('replaced')
    const swapped = Promise.resolve(this.ended(context)).then(() => this.#swapIn(source, text, context))
    await this.#track('swap', swapped)
  }

  /** An earlier text that is not saved yet is kept as history. */
  async #swapIn(
    source: RecordSource,
    { text, base, isUnread, process }: Replacement,
    context: RequestContext,
  ): Promise<void> {
    const draft = await this.draftFor(source, text, base)
    if (this.#starts.get(draft)?.bytes !== text) await draft.replace(text, before => source.keep(before))
    // A program wrote it: it is kept when it is emptied.
    this.#starts.delete(draft)
    if (isUnread && text.length > 0) await draft.change({ unread: true })
    this.touch()
    this.#awayUntil = 0
    await this.save(source, { base, process }, context)
  }

  /** Unlinked or renamed away, once `keep` has what was in it; `isUnread` where no program has written that or read it by this. */
  async takeAway(
    source: RecordSource,
    context: RequestContext,
    handlesAre: 'moved' | 'replaced',
    keep: (bytes: Uint8Array, isUnread: boolean) => Promise<void> = async () => {},
  ): Promise<void> {
    refuseReadOnly(source)
    this.hold()
    // Bytes written meanwhile go with it.
    for (let kept = -1, round = 0; kept !== this.#revision; round += 1) {
      kept = this.#revisionOf(round)
      const { bytes, isUnread } = await this.present(source, context)
      await keep(bytes, isUnread)
      const draft = this.#draft
      // Of what a program has not saved yet the history has a copy, whatever becomes of the file under its other name.
      const isWritten = [...this.handles].some(({ wrote, gone }) => wrote && gone === 'no')
      const isLeft = handlesAre === 'replaced' && draft?.meta.state === 'editing' && draft.size > 0
      if ((isWritten || isLeft) && draft !== undefined) await source.keep(await draft.remains())
    }
    const draft = this.#draft
    this.detachHandles(handlesAre)
    // An unsaved text goes where the file goes; the draft of a refused save stays to be looked at.
    if (draft?.meta.state === 'editing') await this.#end(draft)
    this.hold()
    this.#awayUntil = this.clock.now() + awayMs
    this.tell()
  }

  /** `: > f` and nothing written for so long after it: an empty text never becomes a save, and is not kept either. */
  dropEmpty(waitMs = emptyMs): Promise<void> | undefined {
    const draft = this.#draft
    if (draft === undefined || draft.size > 0 || this.handles.size > 0) return undefined
    const left = waitMs - (this.clock.now() - this.changed)
    if (left <= 0) return this.refill().then(isRefilled => (isRefilled ? undefined : this.#end(draft)))
    this.clock.after(left, () => this.dropEmpty()?.catch(asFailure), 'in-background')
    return undefined
  }

  /** The draft ends if the service has all of its text, which is that of this revision, and no open file shows it. */
  endIfStored(revision = this.#storedRevision): Promise<void> | undefined {
    this.#storedRevision = revision
    const isStored = this.#revision === this.#storedRevision && this.handles.size === 0
    return this.#draft !== undefined && isStored ? this.#end(this.#draft) : undefined
  }

  /** Gives an unsaved text up. The next open shows what the service has: an edit of that text would send it, too. */
  async drop(draft = this.#draft, keep = async (): Promise<void> => {}): Promise<void> {
    if (draft === undefined) return
    for (let kept = -1, round = 0; kept !== this.#revision; round += 1) {
      kept = this.#revisionOf(round)
      await keep()
      // Of two drafts of one record only one is shown in its place: the other is no part of this.
      if (draft !== this.#draft) break
      // An open, unsaved text is given up with it: its program's close(2) says so.
      for (const view of this.handles) if (view.wrote && view.gone === 'no') view.gone = 'replaced'
    }
    if (this.#aside?.draft === draft) this.#aside = undefined
    await (draft === this.#draft ? this.#end(draft) : draft.discard())
  }

  /** Of a text that is copied until no more is written meanwhile. @throws Failure 'busy' where its program makes no pause */
  #revisionOf(round: number): number {
    if (round < roundsAtMost) return this.#revision
    throw new Failure('busy', 'a program writes this file without pause: try again later')
  }

  async #end(draft: Draft): Promise<void> {
    this.#draft = undefined
    this.#emptied = undefined
    this.tell()
    await draft.discard()
  }

  /** The file is gone, and its draft stays: what is written under its name is the draft's next text. */
  setAside(): void {
    if (this.#draft === undefined) return
    this.#aside = { draft: this.#draft }
    this.#draft = undefined
    this.#emptied = undefined
    this.tell()
  }

  /** The unsaved text stays on disk, and is not shown in the record's place any more, unless it is being written. */
  detach(): void {
    // A text that a program is writing stays whole: its save is refused, and sets it apart.
    if (this.handles.size > 0 || this.#draft?.meta.state === 'editing') return
    this.#draft = undefined
    this.tell()
  }

  /** The same at the end of a save or of a handle, where its id stands for another thing. */
  detachIfApart(): void {
    if (this.#draft?.meta.apart === true) this.detach()
  }
}
