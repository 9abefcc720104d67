// Remembered: answers about names that the session gives again without asking the drive, as long as they hold.
import type { Attributes } from '../drive/interface/attributes.js'
import type { Drive } from '../drive/interface/verbs.js'
import type { MaybePromise } from '../maybe-promise.js'
import type { Clock } from '../remote/clock.js'
import type { Inode, Inodes } from './inodes.js'

/** Of a directory with more names none is kept with what it showed: it would take a hundred bytes each. */
const mostNames = 10_000

export class Remembered {
  readonly #drive: Pick<Drive, 'revision'>
  readonly #inodes: Inodes
  readonly #clock: Pick<Clock, 'now'>
  #changes = 0

  constructor(parts: { readonly drive: Drive; readonly inodes: Inodes; readonly clock: Pick<Clock, 'now'> }) {
    this.#drive = parts.drive
    this.#inodes = parts.inodes
    this.#clock = parts.clock
  }

  /** Of all that a name may depend on; each part only grows. */
  get state(): number {
    return this.#changes + this.#inodes.news + this.#drive.revision()
  }

  /** What the drive would answer now; undefined where it has to be asked. */
  of(inode: Inode | undefined): Attributes | undefined {
    const found = inode?.foundIn === this.state ? inode.found : undefined
    return found?.until !== undefined && this.#clock.now() < found.until ? found : undefined
  }

  /** `state` is that in which the drive was asked: what was told while it was looked for counts. */
  keep(inode: Inode, attributes: Attributes, state: number): void {
    if (attributes.until === undefined || (inode.parent?.children?.size ?? 0) > mostNames) return
    inode.found = attributes
    inode.foundIn = state
  }

  /** While a program changes something, and not after it: any name may lead to another thing by then. */
  async during<Value>(change: () => MaybePromise<Value>): Promise<Value> {
    try {
      return await change()
    } finally {
      this.#changes += 1
    }
  }
}
