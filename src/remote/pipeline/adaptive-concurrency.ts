// Adaptive concurrency: the limit grows while that brings more answers, and shrinks when the service is overloaded.
import type { Clock } from '../clock.js'
import type { Instant } from '../remote.js'

export interface AdaptiveConcurrency {
  /** The concurrency limit now. */
  readonly width: number
  /** A request goes out while so many others are in flight. */
  began(others: number): void
  /** It was answered, with so many bytes, after so many milliseconds until its head came. */
  answered(milliseconds: number, bytes: number): void
  /** 429, 503, or silence: overload. Requests sent before the last such answer add no information. */
  pushedBack(sentAt?: Instant): void
}

/** The initial limit; a smaller pool starts with all of its connections. */
const widthAtFirst = 16
const widthAtLeast = 2
/** Milliseconds over which answers are counted before the limit changes. */
const windowMs = 100
/** A step that gains less than this is not worth its connections… */
const gain = 1.1
/** …unless the answers come as fast as before: then there were too few requests to use it. */
const asFast = 1.25
/** Milliseconds for which a good limit is kept before a higher one is tried again. */
const contentMs = 10_000
/** A long body counts as so many answers of this size, in bytes. */
const answerBytes = 64 * 1024

/** Measurements of one window of time. */
interface WindowSample {
  readonly width: number
  /** Answers a millisecond. */
  readonly rate: number
  /** Milliseconds until the head of an answer, on average. */
  readonly wait: number
}

/** Starts at 16 or `most`; `changed` is called with every other limit. */
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
      // Background requests cannot take all slots: three quarters in use show that more could be used.
      if (others + 1 >= Math.floor((width * 3) / 4)) crowded += 1
    },
    answered(milliseconds, bytes) {
      heads += 1
      waited += milliseconds
      units += 1 + bytes / answerBytes
      const elapsed = clock.now() - began
      if (elapsed < windowMs || heads < width) return
      const seen: WindowSample = { width, rate: units / elapsed, wait: waited / heads }
      // With free slots left, the window says nothing of a higher limit.
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
