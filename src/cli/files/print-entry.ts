// How an entry of the drive is printed: a line as `ls -l` has it, or JSON.
import type { DriveEntry } from '../../drive/interface/reader.js'

/** The form of `--json` in `ls` and `find`: absent is what is not known or does not apply. */
export interface PrintedEntry {
  readonly path: string
  readonly type: DriveEntry['type']
  readonly kind: string
  readonly id?: string | undefined
  readonly size?: number | undefined
  /** ISO 8601. */
  readonly mtime?: string | undefined
  /** Permission bits, octal. */
  readonly mode: string
  readonly target?: string | undefined
}

const permissionBits = 0o7777

/** `shown` is how the user calls the path. */
export const printedEntry = (
  { type, kind, id, size, mtime, mode, target }: DriveEntry,
  shown: string,
): PrintedEntry => ({
  path: shown,
  type,
  kind,
  id,
  size: type === 'directory' ? undefined : size,
  mtime: mtime === undefined ? undefined : new Date(mtime).toISOString(),
  mode: (mode & permissionBits).toString(8).padStart(4, '0'),
  target,
})

const letters: Readonly<Record<DriveEntry['type'], string>> = { directory: 'd', link: 'l', file: '-' }

/** Mode, size, local time to the minute, name, and where a link leads. */
export function longLine(entry: DriveEntry, shown: string, sizeWidth: number): string {
  const { type, size, mtime, mode, target } = entry
  const time = mtime === undefined ? '?'.padEnd(16) : minuteOf(new Date(mtime))
  const length = (size === undefined ? '?' : String(size)).padStart(sizeWidth)
  return `${letters[type]}${permissions(mode)} ${length} ${time} ${shown}${target === undefined ? '' : ` -> ${target}`}`
}

const permissions = (mode: number): string =>
  [6, 3, 0]
    .map(at => {
      const bits = mode >> at
      return `${bits & 4 ? 'r' : '-'}${bits & 2 ? 'w' : '-'}${bits & 1 ? 'x' : '-'}`
    })
    .join('')

function minuteOf(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** One array, printed as it becomes known: an object a line. */
export function openJsonArray(print: (text: string) => void): { add(value: object): void; end(): void } {
  let isFirst = true
  return {
    add(value) {
      print(`${isFirst ? '[\n' : ',\n'}${JSON.stringify(value)}`)
      isFirst = false
    },
    end: () => print(isFirst ? '[]\n' : '\n]\n'),
  }
}
