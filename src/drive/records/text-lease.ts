// Text lease: a text whose size the kernel was given is served unchanged until the kernel would ask again.
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { TextBytes } from '../../record/compact/packed-text.js'
import type { Clock } from '../../remote/clock.js'
import type { Instant } from '../../remote/remote.js'
import type { OpenAccess } from '../interface/verbs.js'

/** A text as it is shown: its bytes and its time. A text that is not edited may be held packed. */
export interface TextSnapshot<Bytes extends TextBytes = Uint8Array> {
  readonly bytes: Bytes
  readonly mtime: Instant
  /** own: a program's wording of what it saved, not the service's. */
  readonly wording?: 'own'
  /** Of an own wording, the hash of what it says in the service's form. */
  readonly form?: string | undefined
}

/** A text held by an open handle. */
export interface LeasedText<Bytes extends TextBytes = Uint8Array> {
  readonly shown: TextSnapshot<Bytes>
  /** This mount has changed the record since by another way, and an open file keeps the old text. */
  readonly isOvertaken: boolean
  release(): void
}

export interface TextLeases<Bytes extends TextBytes = Uint8Array> {
  /** For a stat: the text that is shown from now on. While a handle is open it keeps what that handle reads. */
  stat(key: string, produce: () => MaybePromise<TextSnapshot<Bytes>>): MaybePromise<TextSnapshot<Bytes>>
  /** For an open: the text the kernel was told the size of, held until released. */
  open(
    key: string,
    produce: () => MaybePromise<TextSnapshot<Bytes>>,
    access?: OpenAccess,
  ): MaybePromise<LeasedText<Bytes>>
  /**
   * A program wrote this text, and the kernel may count on its size: who opens the file before the next stat reads it
   * whole. `opened` is told of the first who opens it for reading; from the next stat on another text may be shown.
   */
  put(key: string, shown: TextSnapshot<Bytes>, opened: () => void): void
  /** For a handle that shows this very text by now: it is kept as for one that was opened on it. */
  hold(key: string): LeasedText<Bytes> | undefined
  /** The text that the kernel was told of last, if it is still here. */
  last(key: string): Bytes | undefined
  /**
   * This mount has changed the record by another way: the next open shows it. Where the kernel counts on the size of before,
   * that open is looked at twice (LEASE-3). A file that is open keeps its text, for who opens it beside that, too.
   */
  end(key: string): void
  /** Another text may be shown of these from now on, because the kernel is told; a file that is open keeps its own. */
  refresh(which: (key: string) => boolean): void
  /** The next open or stat shows another text: the kernel counts on none. */
  drop(key: string): void
  /** At every path of this text another one is shown now, or none: what a program writes, before and after it is saved. */
  tell(key: string): void
}

interface Lease<Bytes extends TextBytes> {
  readonly shown: TextSnapshot<Bytes>
  until: number
  handles: number
  isOvertaken: boolean
  opened: () => void
}

/** How many leases, and how many bytes of texts, may lie about before those that ended are swept out. */
const sweepAt = 1024
const sweepAtBytes = 8 << 20
/** A text from this length on goes when its lease ends, and no later. */
const longText = 1 << 20

/**
 * `leaseMs` is the kernel's attr timeout plus one second: for so long it may open and read without a new stat,
 * and a read stops at the size it was told (measured: a text that had grown was cut, with exit status 0). `changed` is told
 * of a text that is another one now.
 */
export function openTextLeases<Bytes extends TextBytes = Uint8Array>(
  leaseMs: number,
  clock: Clock,
  changed: (key: string) => void = () => {},
): TextLeases<Bytes> {
  const { now } = clock
  const leases = new Map<string, Lease<Bytes>>()
  let bytesSinceSweep = 0
  let sweeping: (() => void) | undefined

  function lend(key: string, shown: TextSnapshot<Bytes>, opened: () => void = () => {}): Lease<Bytes> {
    bytesSinceSweep += shown.bytes.length
    if (leases.size >= sweepAt || bytesSinceSweep >= sweepAtBytes) sweep()
    // No other text may come that would sweep a long one out.
    if (shown.bytes.length >= longText) sweeping ??= sweepLater()
    const lease = { shown, until: now() + leaseMs, handles: 0, isOvertaken: false, opened }
    const before = leases.get(key)?.shown
    leases.set(key, lease)
    if (before !== undefined && !isSameText(before, shown)) changed(key)
    return lease
  }

  const sweepLater = (): (() => void) => clock.after(leaseMs + 1, sweep, 'in-background')

  function sweep(): void {
    bytesSinceSweep = 0
    sweeping?.()
    sweeping = undefined
    let isLongLeft = false
    for (const [key, lease] of leases) {
      if (lease.handles === 0 && now() >= lease.until) leases.delete(key)
      else isLongLeft ||= lease.shown.bytes.length >= longText
    }
    if (isLongLeft) sweeping = sweepLater()
  }

  function hold(key: string, lease: Lease<Bytes>, access: OpenAccess): LeasedText<Bytes> {
    // Nothing is read through O_WRONLY: emacs opens so after each save, only to look at the time.
    if (access !== 'write-only') {
      lease.opened()
      lease.opened = () => {}
    }
    lease.handles += 1
    let released = false
    return {
      shown: lease.shown,
      get isOvertaken() {
        return lease.isOvertaken
      },
      release() {
        if (!released) lease.handles -= 1
        released = true
        if (lease.isOvertaken && lease.handles === 0 && leases.get(key) === lease) leases.delete(key)
      },
    }
  }

  return {
    stat(key, produce) {
      const busy = leases.get(key)
      return chain(busy !== undefined && busy.handles > 0 ? busy.shown : produce(), shown => {
        // An open may have come while the text was produced: what it was given stays.
        const lease = leases.get(key)
        if (lease !== undefined && (lease.handles > 0 || lease.shown === shown)) {
          // One that is opened again and again shows another text in the end.
          if (lease.handles === 0) lease.until = now() + leaseMs
          return lease.shown
        }
        return lend(key, shown).shown
      })
    },
    open(key, produce, access = 'read') {
      const lease = leases.get(key)
      if (lease !== undefined && (lease.handles > 0 || now() < lease.until)) return hold(key, lease, access)
      return chain(produce(), shown => {
        const other = leases.get(key)
        return hold(key, other !== undefined && other.handles > 0 ? other : lend(key, shown), access)
      })
    },
    put(key, shown, opened) {
      lend(key, shown, opened)
      changed(key)
    },
    hold(key) {
      const lease = leases.get(key)
      return lease && hold(key, lease, 'write-only')
    },
    end(key) {
      const lease = leases.get(key)
      if (lease === undefined) return
      lease.isOvertaken = true
      if (lease.handles === 0) leases.delete(key)
      changed(key)
    },
    refresh(which) {
      for (const [key, lease] of leases) if (lease.handles === 0 && which(key)) leases.delete(key)
    },
    last: key => leases.get(key)?.shown.bytes,
    drop(key) {
      leases.delete(key)
      changed(key)
    },
    tell: changed,
  }
}

/** The time of a record's text grows with each change. */
const isSameText = (one: TextSnapshot<TextBytes>, other: TextSnapshot<TextBytes>): boolean =>
  one.mtime === other.mtime && one.bytes.length === other.bytes.length
