// Fleet patience: how long a command is waited for; time in which this process was busy itself is not the fleet's.
import { performance } from 'node:perf_hooks'
import { noop } from '../../noop.js'
import type { Clock } from '../../remote/clock.js'

/** An answer, and the milliseconds for which this process had nothing to do but wait for it. */
export interface TimedAnswer<Answer> {
  readonly answer: Answer
  readonly took: number
}

/** Milliseconds of waiting in which nothing at all comes from the server: it is gone. */
const patienceMs = 80
/** Milliseconds without a sign of it for a process that is always busy. */
const busyMs = 250

/** Milliseconds for which this thread has been waiting for anything at all since it began. */
const idle = (): number => performance.eventLoopUtilization().idle

/** What else is to be known of a command's server. */
export interface ServerSigns {
  /** Grows with whatever comes from it: it is there, and has much to do. */
  readonly heard: () => number
  /** Grows with what comes on the command's own connection; the same if not given. */
  readonly own?: () => number
  /** Milliseconds of waiting in which nothing comes on that one, whatever comes elsewhere; `atMostMs` if not given. */
  readonly silentMs?: number
  /** Milliseconds of waiting in all, whatever comes meanwhile: of several servers another one may be heard. */
  readonly atMostMs: number
}

const noSigns: ServerSigns = { heard: () => 0, atMostMs: patienceMs }

/** @throws whatever the command rejects with; an Error after the patience, and the command goes on without its caller */
export function answeredInTime<Answer>(
  clock: Clock,
  command: Promise<Answer>,
  { heard, atMostMs, own = heard, silentMs = atMostMs }: ServerSigns = noSigns,
): Promise<TimedAnswer<Answer>> {
  const began = idle()
  let last = { heard: heard(), idle: began, at: clock.now() }
  let lastOwn = { heard: own(), idle: began }
  let isRead = false
  return new Promise((resolve, reject) => {
    let callOff = noop
    const wait = (milliseconds: number): void => {
      callOff = clock.after(milliseconds, () => {
        const present = { heard: heard(), idle: idle(), at: clock.now() }
        if (present.heard > last.heard) last = present
        const heardOwn = own()
        if (heardOwn > lastOwn.heard) lastOwn = { heard: heardOwn, idle: present.idle }
        const left = Math.min(
          patienceMs - (present.idle - last.idle),
          silentMs - (present.idle - lastOwn.idle),
          atMostMs - (present.idle - began),
        )
        const isOver = left < 1 || present.at - last.at >= busyMs
        // What came while this process was busy is read before the next timer.
        if (isOver && isRead) return reject(new Error('it does not answer'))
        isRead = isOver
        wait(isOver ? 1 : Math.ceil(left))
      })
    }
    wait(patienceMs)
    command.then(
      answer => {
        callOff()
        resolve({ answer, took: idle() - began })
      },
      thrown => {
        callOff()
        reject(thrown)
      },
    )
  })
}
