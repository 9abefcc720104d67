// A drive whose failures to look or read at a path are forgotten as soon as the same is done well there.
import { after } from '../maybe-promise.js'
import type { Failures } from './failure-log.js'
import type { Drive, OpenAccess } from './interface/verbs.js'

export function withFailuresOver(drive: Drive, failures: Failures): Drive {
  const pathOf = new Map<number, string>()

  return {
    ...drive,
    async readdir(path) {
      const listing = await drive.readdir(path)
      failures.over(path, 'readdir')
      return listing
    },
    open: (path: string, access: OpenAccess) =>
      after(drive.open(path, access), handle => {
        pathOf.set(handle, path)
        return handle
      }),
    read: (handle, target, offset) =>
      after(drive.read(handle, target, offset), bytes => {
        if (failures.any) failures.over(pathOf.get(handle) ?? '', 'read')
        return bytes
      }),
    release(handle) {
      pathOf.delete(handle)
      return drive.release(handle)
    },
  }
}
