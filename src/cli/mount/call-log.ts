// Log of the kernel's calls: each one at the level debug, slow ones with what they waited for, and failures once a minute and cause.
import { type KernelCalls, slowCallOf } from '../../activity/kernel-calls.js'
import type { AssembledDrive } from '../../app/assemble.js'
import { Failure, isA } from '../../failure.js'
import type { LogFailure } from '../../mount/fuse.js'
import { type SeldomClock, seldom } from '../../seldom.js'
import type { Log } from '../../terminal/log.js'

interface LogPorts {
  readonly log: Log
  readonly clock: SeldomClock
}

/** A slow call has its line at the level debug each time, at info once a minute for each verb and cause. */
export function logCalls(calls: KernelCalls, { log, clock }: LogPorts): void {
  const isDetailed = log.isLevelEnabled('debug')
  const tell = seldom((sentence, about = {}) => log.info(about, sentence), clock)
  calls.listen((call, milliseconds, errno) => {
    const { verb, path } = call
    if (isDetailed) log.debug({ verb, path, ms: Number(milliseconds.toFixed(2)), errno }, 'call')
    const slow = slowCallOf(call, milliseconds, errno)
    if (slow === undefined) return
    if (isDetailed) log.debug(slow.about, slow.sentence)
    else tell(slow.sentence, { ...slow.about })
  })
}

/** Failures of calls: a bug with its stack, what a person may want to know at warn, and at debug each of them. */
export function logFailures(failures: AssembledDrive['failureLog'], { log, clock }: LogPorts): LogFailure {
  const isDetailed = log.isLevelEnabled('debug')
  const warn = seldom((sentence, about = {}) => log.warn(about, sentence), clock)
  const error = seldom((sentence, about = {}) => log.error(about, sentence), clock)
  return (verb, path, thrown) => {
    if (!(thrown instanceof Failure)) return
    failures.note(verb, path, thrown)
    const { kind, said, message, cause } = thrown
    const stack = kind === 'internal' && cause instanceof Error ? cause.stack : undefined
    const about = { verb, path, kind, said, stack }
    if (kind === 'internal') error(message, about, kind)
    else if (isDetailed) log.debug(about, message)
    else if (!isA('everyday', thrown) && !silent.has(kind)) warn(message, about, kind)
  }
}

/** Failures of daily work, which the kernel or a program asks again by itself or does without. */
const silent: ReadonlySet<Failure['kind']> = new Set(['exists', 'not-empty'])
