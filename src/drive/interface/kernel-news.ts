// Kernel news: what is no longer as the kernel was told; the drive says it, the mount passes it on.

/** A directory whose names, sizes or times, or a text which, is another one now, by its node's key. */
export type NewsSubject = { readonly key: string } | 'all'

export class KernelNews {
  /** One at most, for a drive has one mount; none where it has ended. */
  listener: { hear(subject: NewsSubject): void } | undefined

  /** The drive answers by the new state already. When this returns, the kernel knows. */
  tell(subject: NewsSubject): void {
    this.listener?.hear(subject)
  }
}
