// Times that the drive shows: they never move by themselves, and a text's time strictly grows with every change of it.
import { createHash } from 'node:crypto'
import type { TextBytes } from '../../record/compact/packed-text.js'
import { type Instant, instant } from '../../remote/remote.js'
import type { Ledger } from '../ledger/ledger.js'

export interface Times {
  /** When a thing that never changes is from: its own date, at the latest when it was first seen; the first answer stays. */
  first(key: string, own: Instant | undefined): Instant
  /** When a text got its present wording; a later wording never has an earlier or equal time. */
  ofText(key: string, text: TextBytes, own: Instant | undefined): Instant
  /** Now, or where the text of this key is shown with a later time just after that. */
  next(key: string): Instant
  /** The thing of this key is another one now. */
  forget(key: string): void
  /**
   * A program wrote this text at that time and has seen it in a stat: what is shown next, in whatever wording, has that
   * very time. Otherwise vim finds the file "changed since reading" at its next save.
   */
  written(key: string, at: Instant): void
  /**
   * The service says what was written in these words. Where a program has seen the writer's own words first, these have
   * their time, too. Where they are as long, the time is one whole second later: the kernel keeps pages until size or time
   * changes, and vim takes one second for a rounding of the file system.
   */
  stored(key: string, text: Uint8Array): void
}

/** The wording that may follow with the same time, or with one a second later. */
interface NextWording {
  readonly wording: string
  readonly length: number
}

/** The time of a text as the ledger has it, and the wording that may follow. */
interface KeptTime {
  readonly time: number
  readonly wording: string | undefined
  readonly next: string | undefined
}

const roundingMs = 1_000
/** Before the digest of a wording that follows a second later. */
const laterMark = '+'

const firstRoom = 'first-time'
const textRoom = 'text-time'

export function openTimes(ledger: Ledger, now: () => Instant): Times {
  function first(key: string, own: Instant | undefined): Instant {
    const kept = Number(ledger.get(firstRoom, key))
    if (Number.isSafeInteger(kept) && kept > 0) return instant(kept)
    const time = atLatest(now(), own)
    ledger.set(firstRoom, key, String(time))
    return time
  }

  const writings = new Map<string, Instant>()
  const nextWordings = new Map<string, NextWording>()
  // A text is shown many times, and its bytes never change.
  const wordings = new WeakMap<TextBytes, string>()

  function wordingOf(text: TextBytes): string {
    const known = wordings.get(text)
    if (known !== undefined) return known
    const wording = text.digest ?? digestOf(text.subarray(0, text.length))
    wordings.set(text, wording)
    return wording
  }

  /** What was shown last; time 0 before the first text. */
  function keptOf(key: string): KeptTime {
    const [time = '', wording, next] = (ledger.get(textRoom, key) ?? '').split(' ')
    return { time: wording === undefined ? 0 : Number(time), wording, next }
  }

  function ofText(key: string, text: TextBytes, own: Instant | undefined): Instant {
    const wording = wordingOf(text)
    const { time: before, wording: keptWording, next: keptNext } = keptOf(key)
    const writing = writings.get(key)
    const next = nextWordings.get(key)
    writings.delete(key)
    nextWordings.delete(key)
    const isOlder = writing === undefined || writing <= before
    const mark = next?.length === text.length ? laterMark : ''
    const follows = next === undefined || next.wording === wording ? [] : [mark + next.wording]
    if (keptWording === wording && isOlder) {
      if (follows.length > 0) ledger.set(textRoom, key, [before, wording, ...follows].join(' '))
      return instant(before)
    }
    if (isOlder && (keptNext === wording || keptNext === laterMark + wording)) {
      const time = instant(keptNext === wording ? before : before + roundingMs)
      ledger.set(textRoom, key, `${time} ${wording}`)
      return time
    }
    const named = writing ?? (own === undefined ? undefined : atLatest(now(), own))
    const time = instant(named !== undefined && named > before ? named : Math.max(now(), before + 1))
    ledger.set(textRoom, key, [time, wording, ...follows].join(' '))
    return time
  }

  function next(key: string): Instant {
    return instant(Math.max(now(), keptOf(key).time + 1))
  }

  return {
    first,
    next,
    ofText,
    forget: key => ledger.delete(firstRoom, key),
    written: (key, at) => writings.set(key, at),
    stored: (key, text) => nextWordings.set(key, { wording: digestOf(text), length: text.length }),
  }
}

/** A date that lies ahead is one without a zone, or of another clock. */
export const atLatest = (seen: Instant, own: Instant | undefined): Instant =>
  own === undefined || own > seen ? seen : own

const digestOf = (text: Uint8Array): string => createHash('sha256').update(text).digest('base64url')
