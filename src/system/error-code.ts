// The code of an error of the operating system or of a library: the one place that reads it.

/** Such as ENOENT or SQLITE_BUSY; undefined for what has none, or a number in its place. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : undefined
}

/** True for the error of a path that does not exist. */
export const isMissing = (thrown: unknown): boolean => codeOf(thrown) === 'ENOENT'
