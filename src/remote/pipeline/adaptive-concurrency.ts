// How many requests go out side by side: more while that brings more answers, fewer when the service says it is too much.
import type { Clock } from '../clock.js'
import type { Instant } from '../remote.js'

export interface AdaptiveConcurrency {
  /** How many may be under way at once, now. */
  readonly width: number
  /** A request goes out while so many others are under way. */
  began(others: number): void
  /** It was answered, with so many bytes, after so many milliseconds until its head came. */
  answered(milliseconds: number, bytes: number): void
  /** 429, 503, or silence: too much to do. What went out at `sentAt`, before the last such answer, says nothing new. */
  pushedBack(sentAt?: Instant): void
}

/** What a first walk begins with; a pool that may have fewer begins with all of them. */
const widthAtFirst = 16
const widthAtLeast = 2
/** Milliseconds over which answers are counted before anything is concluded from them. */
const windowMs = 100
/** A step that brings less than this is not worth its connections… */
const gain = 1.1
/** …unless the answers come as fast as before: then it was the asking that took no more. */
const asFast = 1.25
/** Milliseconds for which a width that proved right is kept before a wider one is tried again. */
const contentMs = 10_000
/** A long body counts as so many answers of this size, in bytes. */
const answerBytes = 64 * 1024

/** What one window of time showed. */
interface WindowSample {
  readonly width: number
  /** Answers a millisecond. */
  readonly rate: number
  /** Milliseconds until the head of an answer, on average. */
  readonly wait: number
}

/** Starts at 16 or `most`; `changed` is told of every other width. */
export function openAdaptiveConcurrency(
  most: number,
  clock: Clock,
  changed: (width: number) => void,
): AdaptiveConcurrency {
  let width = Math.min(widthAtFirst, most)
  let before: WindowSample | undefined
  let steadyUntil = Number.NEGATIVE_INFINITY
  let narrowedAt = Number.NEGATIVE_INFINITY
  let began = clock.now()
  let units = 0
  let heads = 0
  let waited = 0
  let asked = 0
  let crowded = 0

  function set(next: number): void {
    width = Math.max(Math.min(widthAtLeast, most), Math.min(most, next))
    changed(width)
  }

  function begin(): void {
    began = clock.now()
    units = heads = waited = asked = crowded = 0
  }

  function conclude(seen: WindowSample): void {
    if (before === undefined || seen.width <= before.width) {
      before = seen
      if (width < most) set(width * 2)
      return
    }
    if (seen.rate < before.rate * gain && seen.wait > before.wait * asFast) {
      set(before.width)
      before = undefined
      steadyUntil = clock.now() + contentMs
      return
    }
    before = seen
    if (width < most) set(width * 2)
  }

  return {
    get width() {
      return width
    },
    began(others) {
      asked += 1
      // Some are kept free of guesses, so that three quarters say that a walk could use more.
      if (others + 1 >= Math.floor((width * 3) / 4)) crowded += 1
    },
    answered(milliseconds, bytes) {
      heads += 1
      waited += milliseconds
      units += 1 + bytes / answerBytes
      const elapsed = clock.now() - began
      if (elapsed < windowMs || heads < width) return
      const seen: WindowSample = { width, rate: units / elapsed, wait: waited / heads }
      // Where there was room left, nothing was learned about a wider way.
      const full = crowded > asked / 2
      begin()
      if (full && clock.now() >= steadyUntil) conclude(seen)
    },
    pushedBack(sentAt) {
      if (sentAt !== undefined && sentAt < narrowedAt) return
      narrowedAt = clock.now()
      before = undefined
      steadyUntil = clock.now() + contentMs
      set(Math.floor(width / 2))
      begin()
    },
  }
}
