// Watching a served drive: the port of its metrics and the desktop's notices, where they are wanted.
import type { AssembledDrive } from '../../app/assemble.js'
import type { Config } from '../../config/config.js'
import { asFailure } from '../../failure.js'
import { openMetricsPort } from '../../metrics/metrics-port.js'
import { noop } from '../../noop.js'
import type { Clock } from '../../remote/clock.js'
import type { Log } from '../../terminal/log.js'
import { showNotices } from './desktop-notice.js'

export interface Watch {
  /** What the user of a new mount has to know of them, in sentences. */
  readonly troubles: readonly string[]
  stop(): Promise<void>
}

/** Begins both. Where they cannot be had, the drive works all the same. */
export async function watched(
  { control }: AssembledDrive,
  { config, log, clock }: { readonly config: Config; readonly log: Log; readonly clock: Clock },
): Promise<Watch> {
  const troubles: string[] = []
  const warn = (sentence: string): void => log.warn(sentence)
  const port =
    config.metrics === undefined
      ? undefined
      : await openMetricsPort(config.metrics, control).catch((thrown: unknown) => {
          const { message } = asFailure(thrown)
          troubles.push(message)
          warn(message)
        })
  if (port) {
    // Histograms begin with the first question.
    await control.metrics({})
    log.info(`metrics at http://${port.address}/metrics, health at /healthz`)
  }
  const stopNotices = config.notify ? showNotices(clock, () => control.activity({}), warn) : noop
  return {
    troubles,
    async stop() {
      stopNotices()
      await port?.close()
    },
  }
}
