// Kernel news: what is no longer as the kernel was told; the drive says it, the mount passes it on.

/** A directory whose names, sizes or times, or a text which, is another one now, by its node's key. */
export type NewsSubject = { readonly key: string } | 'all'

export interface NewsListener {
  hear(subject: NewsSubject): void
  /** How many times the kernel was told. */
  readonly told: number
}

export function openKernelNews() {
  let listener: NewsListener | undefined

  return {
    /** The drive answers by the new state already. When this returns, the kernel knows. */
    tell: (subject: NewsSubject): void => listener?.hear(subject),
    /** How many times the kernel was told; undefined where it cannot be told, and asks again each second. */
    get told(): number | undefined {
      return listener?.told
    },
    /** One listener at most, for a drive has one mount; none where it has ended. */
    listen(next: NewsListener | undefined): void {
      listener = next
    },
  }
}

export type KernelNews = ReturnType<typeof openKernelNews>
