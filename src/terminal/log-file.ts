// Log file of a bounded size: beyond it the file becomes FILE.1 and a new one is begun; one that was moved away is made again.
import { existsSync, renameSync, statSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DestinationStream, destination } from 'pino'
import { BadSetting } from '../config/settings.js'
import { codeOf } from '../system/error-code.js'
import { machineClocks } from '../system/machine-clocks.js'
import { makeDirectoriesNow } from '../system/make-directory.js'

/** Bytes of lines that wait for room on the disk; what comes after that is lost. */
const longestBacklog = 256 << 10
/** Milliseconds between two looks at the file: logrotate may move it, and another daemon may write to it. */
const lookEvery = 1_000
/** The ending of the lines before. */
const before = '.1'

/** @throws BadSetting where it cannot be written */
function opened(file: string): ReturnType<typeof destination> {
  try {
    makeDirectoriesNow(dirname(file))
    return destination({ dest: file, append: true, sync: true, mode: 0o600, maxLength: longestBacklog })
  } catch (cause) {
    const code = codeOf(cause)
    if (code === undefined) throw cause
    throw new BadSetting(
      `--log-file ${file}: it cannot be written (${code}); name a file in a directory of your own, or leave it out.`,
      { cause },
    )
  }
}

/**
 * Lines are on the file when `write` returns, and a full disk costs lines only. With another program's rotation, by renaming or
 * by truncating, they go on in the file of that name within a second.
 * @param limitBytes of the file; with the one before it takes twice as much
 * @throws BadSetting where it cannot be written
 */
export function openLogFile(file: string, limitBytes: number): DestinationStream {
  const stream = opened(file)
  // There is no place to tell it: the stream keeps what it could not write, and tries again with the next line.
  stream.on('error', linesLost)
  // Each reopening listens until the next tick, and many may be due in one.
  stream.setMaxListeners(0)
  let written = factsOf(file)?.size ?? 0
  let inode = factsOf(file)?.ino
  let lookAt = machineClocks.monotonic() + lookEvery

  function begin(): void {
    try {
      stream.reopen(file)
    } catch {
      // The disk takes no new file now; the next look tries again, and the lines wait.
    }
    const found = factsOf(file)
    written = found?.size ?? 0
    inode = found?.ino
  }

  function look(): void {
    lookAt = machineClocks.monotonic() + lookEvery
    const found = factsOf(file)
    if (found === undefined || found.ino !== inode) {
      // A device is no file that is moved; and where the directory was renamed, the lines go with it.
      const isMoved = (inode !== undefined || found !== undefined) && existsSync(dirname(file))
      if (isMoved) begin()
      return
    }
    written = found.size
    if (written < limitBytes) return
    moveAway(file)
    begin()
  }

  return {
    write(line) {
      if (written >= limitBytes || machineClocks.monotonic() >= lookAt) look()
      written += line.length
      stream.write(line)
    },
  }
}

function linesLost(): void {}

/** Undefined where there is no regular file. */
function factsOf(file: string): { readonly ino: number; readonly size: number } | undefined {
  try {
    const found = statSync(file)
    return found.isFile() ? found : undefined
  } catch (thrown) {
    if (codeOf(thrown) === undefined) throw thrown
    return undefined
  }
}

/** Where the directory takes no other name, the lines before are lost rather than the disk filled. */
function moveAway(file: string): void {
  try {
    renameSync(file, file + before)
  } catch (thrown) {
    if (codeOf(thrown) === undefined) throw thrown
    try {
      truncateSync(file)
    } catch (again) {
      if (codeOf(again) === undefined) throw again
    }
  }
}
