// Names that libfuse remembers and the kernel has forgotten: a rename onto one of them would end the daemon, and is refused for a while.
import type { Attributes } from '../drive/interface/attributes.js'
import type { PathDrive as Drive } from '../drive/interface/path-drive.js'
import { Failure, isAbsent } from '../failure.js'
import { type MaybePromise, recover } from '../maybe-promise.js'

const ownerWrites = 0o200
/** Of a drive with more, those that were looked at longest ago are not watched any more: some megabytes at most. */
const givenAtMost = 32_768

/**
 * libfuse keeps the node of a name for `rememberedMs` after the kernel has dropped it (`remember=`), and its `unlink_node` asserts
 * that the kernel knows what a rename replaces (libfuse issue 128). A name that another client, or a save, has taken away is
 * such a node; what was unlinked or renamed through the mount is none.
 * @param rememberedMs with what libfuse takes until it cleans up
 * @param now milliseconds of a clock that is never set, as libfuse's
 */
export function withoutForgottenTargets(drive: Drive, rememberedMs: number, now: () => number): Drive {
  /** Paths that the kernel was given and that a rename may replace: never files of calculations, which are most. */
  const given = new Set<string>()
  /** When a given path was found to be gone. */
  const gone = new Map<string, number>()

  function seen(path: string, attributes: Attributes): Attributes {
    if ((attributes.mode & ownerWrites) === 0) return attributes
    given.delete(path)
    given.add(path)
    gone.delete(path)
    const [oldest] = given.size > givenAtMost ? given : []
    if (oldest !== undefined) given.delete(oldest)
    return attributes
  }

  function missed(path: string, thrown: unknown): never {
    if (isAbsent(thrown) && given.delete(path)) {
      dropOld()
      gone.set(path, now())
    }
    throw thrown
  }

  /** The oldest come first. */
  function dropOld(): void {
    for (const [path, since] of gone) {
      if (now() - since < rememberedMs) return
      gone.delete(path)
    }
  }

  function refuseForgotten(to: string): void {
    dropOld()
    const since = gone.get(to)
    if (since === undefined) return
    const minutes = Math.ceil((since + rememberedMs - now()) / 60_000)
    throw new Failure(
      'busy',
      `${to} was the name of another thing here until a moment ago, and is free for a rename in ${minutes} min: take another name, or try again then`,
    )
  }

  return {
    ...drive,
    getattr(path): MaybePromise<Attributes> {
      const answer = seenOrMissed(path)
      return answer instanceof Promise
        ? answer.then(attributes => seen(path, attributes))
        : seen(path, answer)
    },
    async unlink(path) {
      await drive.unlink(path)
      given.delete(path)
    },
    async rmdir(path) {
      await drive.rmdir(path)
      given.delete(path)
    },
    async rename(from, to) {
      refuseForgotten(to)
      await drive.rename(from, to)
      // What lies below goes along.
      for (const path of [...given].filter(one => one === from || one.startsWith(`${from}/`))) {
        given.delete(path)
        given.add(to + path.slice(from.length))
      }
    },
  }

  function seenOrMissed(path: string): MaybePromise<Attributes> {
    try {
      return recover(drive.getattr(path), thrown => missed(path, thrown))
    } catch (thrown) {
      return missed(path, thrown)
    }
  }
}
