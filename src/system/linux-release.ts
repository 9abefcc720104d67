// What this Linux can do that an older one cannot.
import { platform, release } from 'node:os'

/** Whether a file system in user space may tell the kernel that names have changed, without any lock (FUSE_NOTIFY_INC_EPOCH). */
export function takesEpochs(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return platform() === 'linux' && (major > 6 || (major === 6 && minor >= 16))
}
