// The code of an error of the operating system or of a library, and its words: the one place that reads them.
import { getSystemErrorMap } from 'node:util'

/** Such as ENOENT or SQLITE_BUSY; undefined for what has none, or a number in its place. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : undefined
}

/** True for the error of a path that does not exist. */
export const isMissing = (thrown: unknown): boolean => codeOf(thrown) === 'ENOENT'

/** For `catch`: undefined for a path that does not exist. @throws any other error */
export function unlessMissing(thrown: unknown): undefined {
  if (!isMissing(thrown)) throw thrown
}

/** The words of a program that was run and failed, such as fusermount. */
export const programWords = (thrown: unknown): string =>
  thrown instanceof Error && 'stderr' in thrown ? String(thrown.stderr).trim() : String(thrown)

/** An error of the operating system in words, `no space left on device (ENOSPC)`; undefined for any other. */
export function systemWords(thrown: unknown): string | undefined {
  const number = thrown instanceof Error && 'errno' in thrown ? thrown.errno : undefined
  const [code, words] = (typeof number === 'number' && getSystemErrorMap().get(number)) || []
  return code === undefined ? undefined : `${words} (${code})`
}

/** A command's words for it, without the engine's own words: the path or the call, and what the system said. */
export function systemSentence(thrown: unknown): string | undefined {
  const words = systemWords(thrown)
  if (words === undefined) return undefined
  const { path, syscall } = thrown as NodeJS.ErrnoException
  if (syscall === 'uv_cwd') return 'the directory in which this shell stands is gone; change into another one'
  return `${path ?? `the system call ${syscall?.replace(/^uv_/, '') ?? ''}`}: ${words}`
}
