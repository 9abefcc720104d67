// Times that the drive shows: they never move by themselves, and a text's time strictly grows with every change of it.
import { createHash } from 'node:crypto'
import { foundOnce, RecentMap } from '../../recent-map.js'
import { type Instant, instant } from '../../remote/remote.js'
import type { Ledger } from '../ledger/ledger.js'

const firstRoom = 'first-time'
const textRoom = 'text-time'
/** Texts that were written and not shown since. */
const writingsAtMost = 4096

export class Times {
  readonly #writings = new RecentMap<string, Instant>(writingsAtMost)

  constructor(
    private readonly ledger: Pick<Ledger, 'get' | 'set' | 'delete'>,
    private readonly now: () => Instant,
  ) {}

  /** When a thing that never changes is from: its own date, at the latest when it was first seen; the first answer stays. */
  first(key: string, own: Instant | undefined): Instant {
    const kept = Number(this.ledger.get(firstRoom, key))
    if (Number.isSafeInteger(kept) && kept > 0) return instant(kept)
    const time = atLatest(this.now(), own)
    this.ledger.set(firstRoom, key, String(time))
    return time
  }

  /** When a text got its present wording; a later wording never has an earlier or equal time. */
  ofText(key: string, text: Uint8Array, own: Instant | undefined): Instant {
    const wording = digestOf(text)
    const { time: before, wording: keptWording } = this.#keptOf(key)
    const writing = this.#writings.get(key)
    this.#writings.delete(key)
    if (keptWording === wording && (writing === undefined || writing <= before)) return instant(before)
    const named = writing ?? (own === undefined ? undefined : atLatest(this.now(), own))
    const time = named !== undefined && named > before ? named : instant(Math.max(this.now(), before + 1))
    this.ledger.set(textRoom, key, `${time} ${wording}`)
    return time
  }

  /** Now, or where the text of this key is shown with a later time just after that. */
  next(key: string): Instant {
    return instant(Math.max(this.now(), this.#keptOf(key).time + 1))
  }

  /** The thing of this key is another one now. */
  forget(key: string): void {
    this.ledger.delete(firstRoom, key)
  }

  /**
   * A program wrote this text at that time and has seen it in a stat: what is shown next, in whatever wording, has that
   * very time. Otherwise vim finds the file "changed since reading" at its next save.
   */
  written(key: string, at: Instant): void {
    this.#writings.set(key, at)
  }

  /** The text shown last; time 0 before the first text. */
  #keptOf(key: string) {
    const [time = '', wording] = (this.ledger.get(textRoom, key) ?? '').split(' ')
    return { time: wording === undefined ? 0 : Number(time), wording }
  }
}

/** A date that lies ahead is one without a zone, or of another clock. */
export const atLatest = (seen: Instant, own: Instant | undefined): Instant =>
  own === undefined || own > seen ? seen : own

/** A text is shown many times, and its bytes never change. */
const digestOf = foundOnce((text: Uint8Array) => createHash('sha256').update(text).digest('base64url'))
