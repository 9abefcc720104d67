// How a drive comes to the kernel: by the session, or through libfuse where a setting asks for it or the session cannot be had.
import type { KernelWay } from '../../activity/activity.js'
import type { Mounted, MountedDrive } from '../../mount/lifecycle.js'
import { isDenied, type KernelSettings } from '../../mount/mount-point.js'
import { codeOf } from '../../system/error-code.js'
import { isNameless, mayAllowOthers, namelessUser, othersNotAllowed } from '../../system/user-name.js'
import { exitCodes, Stop } from '../../terminal/exit.js'

interface Mounting {
  readonly path: string
  readonly served: MountedDrive
  readonly settings: KernelSettings
}

/** Each way's parts are loaded only where it is tried: a machine needs those of one. @throws Stop with what is wrong here */
export async function mountByOneWay(
  mounting: Mounting,
  wanted: KernelWay['way'],
): Promise<KernelWay & { readonly mounted: Mounted }> {
  if (wanted === 'libfuse') return throughLibfuse(mounting, 'the setting kernel says so', [])
  if (process.platform !== 'linux') return throughLibfuse(mounting, 'the session is for Linux', [])
  const { path, served, settings } = mounting
  const { kernelObstacle, sessionObstacle } = await import('../../kernel/obstacles.js')
  try {
    const tooOld = kernelObstacle()
    if (tooOld !== undefined) throw new Error(tooOld.found)
    const { mountSession } = await import('../../kernel/mount-session.js')
    return { mounted: await mountSession(path, served, settings), way: 'session', because: undefined }
  } catch (thrown) {
    const because = (await sessionObstacle())?.found ?? wordsOf(thrown)
    return throughLibfuse(mounting, because, [`by calcfs itself: ${because}`])
  }
}

async function throughLibfuse(
  mounting: Mounting,
  because: string,
  before: readonly string[],
): Promise<KernelWay & { readonly mounted: Mounted }> {
  const { path, served, settings } = mounting
  try {
    const { mountDrive } = await import('../../mount/lifecycle.js')
    return { mounted: await mountDrive(path, served, settings), way: 'libfuse', because }
  } catch (cause) {
    await refuseWhatNoneMay(mounting, cause)
    const why = [...before, `through libfuse: ${bindingWords(cause)}`].join('; ')
    throw new Stop(
      exitCodes.noFuse,
      `${path} was not mounted (${why}); calcfs doctor says what is missing.`,
      { cause },
    )
  }
}

/** Asked once it was refused: a daemon with rights of its own, or one that is handed its mount, may without. */
async function refuseWhatNoneMay({ path, settings }: Mounting, cause: unknown): Promise<void> {
  // Where the directory cannot be looked at any more, what was said first stays the reason.
  if (await isDenied(path).catch(() => false))
    throw new Stop(
      exitCodes.mountPoint,
      `${path} is no directory on which fusermount lets you mount: one that you may write to, and not another's sticky one; name an empty directory of your own.`,
      { cause },
    )
  if (settings.allowOther && !mayAllowOthers()) {
    const { found, mend } = othersNotAllowed
    throw new Stop(
      exitCodes.noFuse,
      `${path} was not mounted with --allow-other: ${found}; have it allowed once with: ${mend}, or leave the flag out.`,
      { cause },
    )
  }
  if (process.getuid?.() !== 0 && isNameless())
    throw new Stop(
      exitCodes.noFuse,
      `${path} was not mounted: ${namelessUser.found}; ${namelessUser.mend}.`,
      { cause },
    )
}

/** The binding is a package with a native part, which asks for libfuse.so.2 when it is loaded. */
function bindingWords(thrown: unknown): string {
  switch (codeOf(thrown)) {
    case 'ERR_DLOPEN_FAILED':
      return 'libfuse 2 is not installed'
    case 'ERR_MODULE_NOT_FOUND':
    case 'MODULE_NOT_FOUND':
      return 'fuse-native is not installed'
    default:
      return wordsOf(thrown).replace(/^fuse failed$/, 'libfuse did not mount it')
  }
}

/** The first line: mount(8) goes on about dmesg(1). */
function wordsOf(thrown: unknown): string {
  const said = thrown instanceof Error ? thrown.message : String(thrown)
  return said.trim().split('\n')[0]?.replace(/\.$/, '') ?? said
}
