// Head look: whether the readers of a content look at its beginning only, told by how much they ask for at once.

export interface HeadLook {
  /** Notes a read, in bytes from the start. */
  note(start: number, end: number): void
  /** Nothing but short reads of the beginning so far. */
  readonly isHeadOnly: boolean
}

/** What is fetched for a look at the beginning: more than any program needs to tell what kind of file it is. */
export const headBytes = 256 << 10
/** Up to this length the whole is fetched at once. */
export const wholeAtMost = 1 << 20
/** A copying program makes the kernel ask for this much in one read, the most that it asks for. */
const copiedAtOnce = 128 << 10
/** Programs that tell kinds of files apart read 20 KiB at most; the kernel makes 48 KiB of that. */
const lookedAtMost = 64 << 10

export function openHeadLook(): HeadLook {
  let looks = false
  let readsOn = false
  return {
    note(start, end) {
      if (readsOn || end <= start) return
      readsOn = start > lookedAtMost || end - start >= copiedAtOnce || (end > lookedAtMost && looks)
      looks ||= start === 0
    },
    get isHeadOnly() {
      return looks && !readsOn
    },
  }
}
