// Pin schedule: when each pin is looked after: at an interval, soon after a change, and again, later each time, where it failed.
import { noop } from '../../noop.js'
import type { Clock } from '../../remote/clock.js'
import type { Pin } from './pin-store.js'
import type { SurveyDepth } from './pin-survey.js'

/** When it is to be tried again before the interval is over: `soon` where the service may be back any moment. */
export type Retry = 'never' | 'soon' | 'later'

export interface PinSchedule {
  /** Looks after all of them, and comes back to them at the interval. */
  start(): void
  /** At once; as soon as it can be where it is being looked after. */
  now(key: string): void
  /** In a moment: a change seldom comes alone. */
  soon(key: string): void
  /** Whether it is looked after now. */
  isBusy(key: string): boolean
  /** Whether something has changed since it was begun to be looked after. */
  isOutdated(key: string): boolean
  close(): void
}

export interface PinSchedulePorts {
  readonly pins: () => readonly Pin[]
  /** Called before the pins are looked after because the interval is over. */
  readonly begin: () => void
  readonly lookAfter: (pin: Pin, depth: SurveyDepth) => Promise<Retry>
  /** Milliseconds */
  readonly interval: number
  readonly clock: Pick<Clock, 'after'>
}

interface Turn {
  isBusy: boolean
  /** Something has changed meanwhile. */
  isOutdated: boolean
  /** Whether lists of files and records are to be asked for again as well. */
  owes: SurveyDepth
  /** In a row. */
  failures: number
  /** It is looked after in a moment. */
  isSoon: boolean
  callOff: () => void
}

/** Lists of files and records, which hardly ever change, are asked for again each so-manieth time. */
const deepEach = 6
/** Milliseconds until a change of a listing is followed, and until what failed is tried again. */
const [soonMs, firstRetryMs, lastRetryMs] = [500, 2_000, 30_000]

export function openPinSchedule({ pins, begin, lookAfter, interval, clock }: PinSchedulePorts): PinSchedule {
  const turns = new Map<string, Turn>()
  let rounds = 0
  let isClosed = false
  let callOff = noop

  function turnOf(key: string): Turn {
    const known = turns.get(key)
    if (known !== undefined) return known
    const fresh: Turn = {
      isBusy: false,
      isOutdated: false,
      owes: 'lists',
      failures: 0,
      isSoon: false,
      callOff: noop,
    }
    turns.set(key, fresh)
    return fresh
  }

  function roundLater(): void {
    callOff = clock.after(interval, round, 'in-background')
  }

  function round(): void {
    rounds += 1
    begin()
    for (const { key } of pins()) {
      if (rounds % deepEach === 0) turnOf(key).owes = 'all'
      tend(key)
    }
    roundLater()
  }

  function tendIn(key: string, milliseconds: number): void {
    const turn = turnOf(key)
    turn.callOff()
    if (!isClosed) turn.callOff = clock.after(milliseconds, () => tend(key), 'in-background')
  }

  function tend(key: string): void {
    const pin = pins().find(one => one.key === key)
    if (isClosed) return
    const turn = turnOf(key)
    if (turn.isBusy) {
      turn.isOutdated = true
      return
    }
    turn.callOff()
    if (pin === undefined) {
      turns.delete(key)
      return
    }
    const depth = turn.owes
    Object.assign(turn, { isBusy: true, isOutdated: false, isSoon: false, owes: 'lists', callOff: noop })
    void lookAfter(pin, depth).then(retry => {
      turn.isBusy = false
      if (retry === 'soon' && depth === 'all') turn.owes = 'all'
      if (retry === 'never') turn.failures = 0
      else turn.failures += 1
      if (turn.isOutdated) soon(key)
      else if (retry !== 'never') {
        const delay = firstRetryMs * 2 ** Math.min(turn.failures - 1, 20)
        tendIn(key, Math.min(delay, interval, retry === 'soon' ? lastRetryMs : interval))
      }
    })
  }

  function soon(key: string): void {
    const turn = turnOf(key)
    if (turn.isBusy) turn.isOutdated = true
    else if (!turn.isSoon) {
      turn.isSoon = true
      tendIn(key, soonMs)
    }
  }

  return {
    start() {
      begin()
      for (const { key } of pins()) tend(key)
      roundLater()
    },
    now(key) {
      turnOf(key).failures = 0
      tend(key)
    },
    soon,
    isBusy: key => turns.get(key)?.isBusy === true,
    isOutdated: key => turns.get(key)?.isOutdated === true,
    close() {
      isClosed = true
      callOff()
      for (const turn of turns.values()) turn.callOff()
    },
  }
}
