// One mount of a fleet without a kernel, in this process: a drive with caches of its own.
import type { AssembledDrive } from '../../../src/app/assemble.js'
import { assembling } from '../in-process.js'
import { HarshKernel } from '../kernel/harsh-kernel.js'
import type { DriveFiles } from '../testbed.js'

export interface FleetNode {
  readonly files: DriveFiles
  readonly line: AssembledDrive
}

let opened = 0

export const isUsed = ({ line }: FleetNode): boolean => line.fleet?.status().passedByBecause === undefined

/** Its caches and its state are in `home`. */
export async function openFleetNode(
  home: string,
  settings: Readonly<Record<string, string>>,
): Promise<FleetNode> {
  opened += 1
  const mountPoint = `/drive${opened}`
  const { up, mountable } = assembling(home, settings, { mountPoint })
  const line = await up()
  const kernel = new HarshKernel()
  kernel.mount(mountable(line))
  return { files: kernel.files, line }
}
