// One mount of a fleet without a kernel, in this process: a drive with caches of its own.
import { pino } from 'pino'
import { Activity } from '../../../src/activity/activity.js'
import { type AssembledDrive, assemble } from '../../../src/app/assemble.js'
import { kernelCacheSeconds } from '../../../src/app/assembly-settings.js'
import { connect } from '../../../src/app/connect.js'
import { readConfig } from '../../../src/config/config.js'
import { systemClock } from '../../../src/remote/clock.js'
import { makePrivateNow } from '../../../src/system/own-file.js'
import { HarshKernel } from '../kernel/harsh-kernel.js'
import type { DriveFiles } from '../testbed.js'

export interface FleetNode {
  readonly files: DriveFiles
  readonly line: AssembledDrive
}

export interface FleetNodeOptions {
  /** Its caches and its state are there. */
  readonly home: string
  readonly settings: Readonly<Record<string, string>>
  readonly password?: string
}

let opened = 0

export const isUsed = ({ line }: FleetNode): boolean => line.fleet?.status().passedByBecause === undefined

export async function openFleetNode({
  home,
  settings,
  password = 'demo',
}: FleetNodeOptions): Promise<FleetNode> {
  const flags = { user: 'demo', ...settings }
  const sources = { flags, environment: { HOME: home, CALCFS_PASSWORD: password }, files: [] }
  const config = readConfig(sources)
  const connection = connect({ config, sources })
  for (const place of Object.values(connection.account.places)) makePrivateNow(place)
  opened += 1
  const line = await assemble({
    config,
    connection,
    activity: new Activity(),
    mountPoint: `/drive${opened}`,
    log: pino({ level: 'silent' }),
    clock: systemClock,
  })
  const kernel = new HarshKernel()
  kernel.mount({
    drive: line.drive,
    news: line.news,
    clock: systemClock,
    keptSeconds: kernelCacheSeconds(config),
    readOnly: settings['access'] === 'read',
    failed: (verb, path, failure) => line.failureLog.note(verb, path, failure),
  })
  return { files: kernel.files, line }
}
