// Type of the file system under a directory: locks and databases of calcfs need a local one.
import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'

/** f_type of statfs(2) for file systems that are, or may be, on other machines; from linux/magic.h and the vendors' headers. */
const networkTypes: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x00c36400, 'Ceph'],
  [0x19830326, 'BeeGFS'],
])

/** The name of the network file system that a directory is on, or will be on once it is made; undefined for a local disk. */
export function networkFileSystem(directory: string): string | undefined {
  return networkTypes.get(statfsSync(nearestThere(directory)).type)
}

/** The directory itself, or its nearest parent that exists. */
export function nearestThere(directory: string): string {
  return existsSync(directory) ? directory : nearestThere(dirname(directory))
}
