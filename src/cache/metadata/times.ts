// Times that the drive shows: they never move by themselves, and a text's time strictly grows with every change of it.
import { createHash } from 'node:crypto'
import { foundOnce } from '../../recent-map.js'
import { type Instant, instant } from '../../remote/remote.js'
import type { Ledger } from '../ledger/ledger.js'

/** The wording that may follow with the same time, or with one a second later. */
interface NextWording {
  readonly wording: string
  readonly length: number
}

const roundingMs = 1_000
/** Before the digest of a wording that follows a second later. */
const laterMark = '+'

const firstRoom = 'first-time'
const textRoom = 'text-time'

export class Times {
  readonly #writings = new Map<string, Instant>()
  readonly #nextWordings = new Map<string, NextWording>()

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
    const { time: before, wording: keptWording, next: keptNext } = this.#keptOf(key)
    const writing = this.#writings.get(key)
    const next = this.#nextWordings.get(key)
    this.#writings.delete(key)
    this.#nextWordings.delete(key)
    const isOlder = writing === undefined || writing <= before
    const mark = next?.length === text.length ? laterMark : ''
    const follows = next === undefined || next.wording === wording ? [] : [mark + next.wording]
    const keep = (time: Instant, ...words: readonly string[]): Instant => {
      this.ledger.set(textRoom, key, [time, wording, ...words].join(' '))
      return time
    }
    if (keptWording === wording && isOlder)
      return follows.length > 0 ? keep(instant(before), ...follows) : instant(before)
    if (isOlder && (keptNext === wording || keptNext === laterMark + wording))
      return keep(instant(keptNext === wording ? before : before + roundingMs))
    const named = writing ?? (own === undefined ? undefined : atLatest(this.now(), own))
    return keep(
      instant(named !== undefined && named > before ? named : Math.max(this.now(), before + 1)),
      ...follows,
    )
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

  /**
   * The service says what was written in these words. Where a program has seen the writer's own words first, these have
   * their time, too. Where they are as long, the time is one whole second later: the kernel keeps pages until size or time
   * changes, and vim takes one second for a rounding of the file system.
   */
  stored(key: string, text: Uint8Array): void {
    this.#nextWordings.set(key, { wording: digestOf(text), length: text.length })
  }

  /** The text shown last; time 0 before the first text. */
  #keptOf(key: string) {
    const [time = '', wording, next] = (this.ledger.get(textRoom, key) ?? '').split(' ')
    return { time: wording === undefined ? 0 : Number(time), wording, next }
  }
}

/** A date that lies ahead is one without a zone, or of another clock. */
export const atLatest = (seen: Instant, own: Instant | undefined): Instant =>
  own === undefined || own > seen ? seen : own

/** A text is shown many times, and its bytes never change. */
const digestOf = foundOnce((text: Uint8Array) => createHash('sha256').update(text).digest('base64url'))
