// Reading a daemon's log: the last lines of its file, what is written after them, and what a line says to a person.
import { open, readFile, stat } from 'node:fs/promises'
import { codeOf } from '../../system/error-code.js'

/** The ending of the lines before those of the file (`terminal/log-file.ts`). */
const before = '.1'

/** The last lines of a log file, those before its last rotation too; and the place after them. */
export async function lastLines(
  file: string,
  count: number,
): Promise<{ readonly lines: readonly string[]; readonly place: LogPlace }> {
  const text = await textOf(file)
  const place = { inode: (await stat(file).catch(absent))?.ino, offset: Buffer.byteLength(text) }
  const own = linesIn(text)
  const earlier = own.length >= count ? [] : linesIn(await textOf(file + before))
  return { lines: count === 0 ? [] : [...earlier, ...own].slice(-count), place }
}

/** Up to where a log was read. */
export interface LogPlace {
  readonly inode: number | undefined
  readonly offset: number
}

/** The whole lines that were written since, in the next file too where the log was rotated meanwhile. */
export async function linesSince(
  file: string,
  place: LogPlace,
): Promise<{ readonly lines: readonly string[]; readonly place: LogPlace }> {
  const found = await stat(file).catch(absent)
  if (found === undefined) return { lines: [], place }
  if (place.inode !== undefined && found.ino !== place.inode) {
    const rest = await textFrom(file + before, place.offset, place.inode)
    const next = await linesSince(file, { inode: found.ino, offset: 0 })
    return { lines: [...linesIn(rest), ...next.lines], place: next.place }
  }
  // Emptied by another program's rotation.
  const from = found.size < place.offset ? 0 : place.offset
  const text = await textFrom(file, from, found.ino)
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  return { lines: linesIn(whole), place: { inode: found.ino, offset: from + Buffer.byteLength(whole) } }
}

async function textOf(file: string): Promise<string> {
  return (await readFile(file, 'utf8').catch(absent)) ?? ''
}

/** Empty where another file has that name now. */
async function textFrom(file: string, offset: number, inode: number): Promise<string> {
  const opened = await open(file).catch(absent)
  if (opened === undefined) return ''
  try {
    const { size, ino } = await opened.stat()
    if (ino !== inode || size <= offset) return ''
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(size - offset), 0, size - offset, offset)
    return buffer.subarray(0, bytesRead).toString()
  } finally {
    await opened.close()
  }
}

function absent(thrown: unknown): undefined {
  if (codeOf(thrown) !== 'ENOENT') throw thrown
}

const linesIn = (text: string): readonly string[] => text.split('\n').filter(line => line !== '')

/** Numbers of pino's levels. */
export const levels = { debug: 20, info: 30, warn: 40, error: 50 } as const

/** A line that is no JSON was written by something else: it is shown at every level. */
export function isAtLeast(line: string, level: keyof typeof levels): boolean {
  const found = /"level":(\d+)/.exec(line)?.[1]
  return found === undefined || Number(found) >= levels[level]
}
