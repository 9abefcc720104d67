// Handle of a record: what its program reads and writes, and when that is saved.
import type { Draft } from '../../edit/journal/draft.js'
import { asFailure, Failure } from '../../failure.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { ByteOffset, Instant, RequestContext } from '../../remote/remote.js'
import type { OpenRecord } from './open-record.js'
import { type HandleView, noteRead, type RecordSource } from './source.js'

export class RecordHandle {
  #underWay: Promise<'saved'> | undefined
  /** Why not all of what its program wrote is here: such a text is no save. */
  #failed: Failure | undefined

  constructor(
    private readonly record: OpenRecord,
    private readonly source: RecordSource,
    private readonly view: HandleView,
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
    if (!view.wrote) return (await this.#underWay) ?? 'nothing'
    if (view.gone === 'moved') return 'nothing'
    this.#refuseGone()
    if (this.#failed !== undefined) throw this.#failed
    const run = this.#flushNow(context)
    this.#underWay = run
    try {
      return await run
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

  async #flushNow(context: RequestContext): Promise<'saved'> {
    // Bytes written during a save are the next flush's.
    this.view.wrote = false
    try {
      await this.record.save(this.source, this.view, context)
      return 'saved'
    } catch (thrown) {
      this.view.wrote = true
      throw thrown
    }
  }
}
