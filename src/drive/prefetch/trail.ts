// Trail: what programs have done with the folders of one directory, and which of them are the next: the nearest, both ways.
import type { Instant } from '../../remote/remote.js'
import { type ListedDirectory, ordersOf } from './listed-directory.js'

/** So many folders of a directory make a walk through it. */
const walkedAtLeast = 2
const reachAtFirst = 4
const reachAtMost = 1_024
/** How far the nearest folders are looked for, each way. */
const lookAtMost = 256

export class Trail {
  /** Entered, or something in it was: the step that did so last. */
  readonly entered = new Map<number, number>()
  /** Something in it was entered. */
  readonly passed = new Set<number>()
  /** Listed ahead, or about to be, and not entered. */
  readonly ahead = new Set<number>()
  /** Folders that were entered, here and below. */
  used = 0
  /** Folders that are listed ahead and not entered, here and below. */
  waiting = 0
  /** Levels of folders below this directory that were entered. */
  depth = 1
  /** Where the last step led. */
  last = 0
  private reach = reachAtFirst
  private order = 0

  constructor(
    readonly folder: ListedDirectory,
    public steppedAt: Instant,
    /** Its folders were gone through before: a program finds them listed, sooner than they are foreseen. */
    private readonly isAgain: boolean,
  ) {}

  /** The rest of its folders is expected. */
  get isWalked(): boolean {
    return this.entered.size >= walkedAtLeast
  }

  pathOf(place: number): string {
    return `${this.folder.path}/${this.folder.folders[place]?.name ?? ''}`
  }

  /** A step to a folder, or to something in it. */
  step(place: number, isBelow: boolean, step: number, at: Instant): void {
    if (!this.entered.has(place)) this.order = this.nearerOrder(place)
    this.entered.set(place, step)
    if (isBelow) this.passed.add(place)
    this.last = place
    this.steppedAt = at
  }

  /** Others were listed ahead than the one that was entered: more of them may be the next. */
  missed(): void {
    if (this.waiting > 0 && !this.isAgain) this.reach = Math.min(this.reach * 2, reachAtMost)
  }

  /** True if one more may be listed ahead: twice what was used at most, and no more than the link needs; where some were missed there is no order, and any may be the next. */
  hasRoom(needed: number): boolean {
    const times = this.reach > reachAtFirst ? 4 : 2
    return this.waiting < Math.min(this.used * times, Math.max(needed, this.reach))
  }

  /** Its folders, from the last one on, the nearest first and both ways. */
  *nearest(): Generator<number> {
    const { sequence, positions } = this.orders(this.order)
    const from = positions[this.last] ?? 0
    yield this.last
    for (let off = 1; off <= lookAtMost; off += 1) {
      const [next, before] = [sequence[from + off], sequence[from - off]]
      if (next === undefined && before === undefined) return
      if (next !== undefined) yield next
      if (before !== undefined) yield before
    }
  }

  private orders(order: number) {
    return ordersOf(this.folder)[order] ?? ordersOf(this.folder)[0]
  }

  /** The order in which the step from the last folder to this one is shorter. */
  private nearerOrder(place: number): number {
    const [listing, names] = [0, 1].map(order => {
      const { positions } = this.orders(order)
      return Math.abs((positions[place] ?? 0) - (positions[this.last] ?? 0))
    })
    if (listing === names) return this.order
    return (listing ?? 0) < (names ?? 0) ? 0 : 1
  }
}
