// Fleet patience: how long a command is waited for; time in which this process was busy itself is not the fleet's.
import { performance } from 'node:perf_hooks'
import { noop } from '../../noop.js'
import type { Clock } from '../../remote/clock.js'

/** An answer, and the milliseconds for which this process had nothing to do but wait for it. */
export interface TimedAnswer<Answer> {
  readonly answer: Answer
  readonly took: number
}

/** A command was waited for as long as that is worth it. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  override readonly message = 'it does not answer'
}

/** Milliseconds of waiting in which nothing at all comes from the server, at the least and at the most: it is gone. */
const [patienceMs, longPatienceMs] = [80, 100]
/** A server that took so long lately is given so many times as long; half of that is forgotten in each so many milliseconds. */
const patienceTimes = 2
const forgottenMs = 2_000
/**
 * Milliseconds without a sign of it for a process that is always busy. It looks so often; a longer turn of its loop counts
 * as no more than one look: what was asked for at its end was sent after it.
 */
const busyMs = 250
const lookMs = 20

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

export interface FleetPatience {
  /**
   * With no signs given, only its answer counts.
   * @throws whatever the command rejects with; NoAnswer after the patience, and the command goes on without its caller
   */
  answered<Answer>(command: Promise<Answer>, signs?: ServerSigns): Promise<TimedAnswer<Answer>>
  /** A short command took so many milliseconds of waiting. */
  took(milliseconds: number): void
}

const noSigns: ServerSigns = { heard: () => 0, atMostMs: longPatienceMs }

export function openFleetPatience(clock: Clock): FleetPatience {
  /** The slowest command lately, as of then. */
  let slowest = { took: 0, at: clock.now() }

  const slowestNow = (): number => slowest.took * 0.5 ** ((clock.now() - slowest.at) / forgottenMs)

  const patience = (): number => Math.min(longPatienceMs, Math.max(patienceMs, patienceTimes * slowestNow()))

  function answered<Answer>(
    command: Promise<Answer>,
    { heard, atMostMs, own = heard, silentMs = atMostMs }: ServerSigns = noSigns,
  ): Promise<TimedAnswer<Answer>> {
    const began = idle()
    let last = { heard: heard(), idle: began }
    let lastOwn = { heard: own(), idle: began }
    let looked = clock.now()
    let silentFor = 0
    let isRead = false
    return new Promise((resolve, reject) => {
      let callOff = noop
      const wait = (milliseconds: number): void => {
        callOff = clock.after(milliseconds, () => {
          const now = clock.now()
          silentFor += Math.min(now - looked, milliseconds + lookMs / 4)
          looked = now
          const present = { heard: heard(), idle: idle() }
          if (present.heard > last.heard) {
            last = present
            silentFor = 0
          }
          const heardOwn = own()
          if (heardOwn > lastOwn.heard) lastOwn = { heard: heardOwn, idle: present.idle }
          const left = Math.min(
            patience() - (present.idle - last.idle),
            silentMs - (present.idle - lastOwn.idle),
            atMostMs - (present.idle - began),
          )
          const isOver = left < 1 || silentFor >= busyMs
          // What came while this process was busy is read before the next timer.
          if (isOver && isRead) return reject(new NoAnswer())
          isRead = isOver
          wait(isOver ? 1 : Math.min(lookMs, Math.ceil(left)))
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

  return {
    answered,
    took(milliseconds) {
      if (milliseconds > slowestNow()) slowest = { took: milliseconds, at: clock.now() }
    },
  }
}
