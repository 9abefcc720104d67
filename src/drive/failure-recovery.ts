// Decorator of the drive: forgets the failures of a path as soon as the same call succeeds there.
import { chain } from '../maybe-promise.js'
import type { FailureLog } from './failure-log.js'
import type { Drive, OpenAccess } from './interface/verbs.js'

export function withFailuresOver(drive: Drive, failureLog: FailureLog): Drive {
  const pathOf = new Map<number, string>()

  return {
    ...drive,
    async readdir(path) {
      const listing = await drive.readdir(path)
      failureLog.over(path, 'readdir')
      return listing
    },
    open: (path: string, access: OpenAccess) =>
      chain(drive.open(path, access), handle => {
        pathOf.set(handle, path)
        return handle
      }),
    read: (handle, target, offset) =>
      chain(drive.read(handle, target, offset), bytes => {
        if (failureLog.any) failureLog.over(pathOf.get(handle) ?? '', 'read')
        return bytes
      }),
    release(handle) {
      pathOf.delete(handle)
      return drive.release(handle)
    },
  }
}
