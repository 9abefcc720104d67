// One mount of a fleet without a kernel, in this process: a drive with caches of its own.
import type { AssembledDrive } from '../../../src/app/assemble.js'
import { assembling } from '../in-process.js'
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

export async function openFleetNode({ home, settings, password }: FleetNodeOptions): Promise<FleetNode> {
  opened += 1
  const mountPoint = `/drive${opened}`
  const { up, mountable } = assembling(home, settings, { password, mountPoint })
  const line = await up()
  const kernel = new HarshKernel()
  kernel.mount(mountable(line))
  return { files: kernel.files, line }
}
