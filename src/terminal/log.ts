// The log: readable on a terminal, JSON lines elsewhere; no secret ever reaches it, and its last lines can be read back.

import { appendFileSync, renameSync, statSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import { isatty } from 'node:tty'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config/config.js'
import { BadSetting } from '../config/settings.js'
import { codeOf } from '../system/error-code.js'
import { LineWriter } from '../system/line-writer.js'
import { makeDirectoriesNow, privateFile } from '../system/own-file.js'
import { visibleInJson } from './print.js'

export type Log = Logger

type LogSettings = Pick<Config, 'logLevel' | 'logFile'>

/** Bytes of a log file; with the lines before it takes twice as much. */
const logFileBytes = 10 << 20

const secret = [
  'password',
  'token',
  'authorization',
  '*.password',
  '*.token',
  '*.authorization',
  'headers.authorization',
]

/** The log of a daemon, and what is kept of it in memory. */
export async function openLog(
  config: LogSettings,
): Promise<{ readonly log: Log; readonly lines: LogReader }> {
  const lines = openLogRing(config.logFile)
  const written = await target(config)
  const both = {
    write(line: string) {
      lines.write(line)
      written.write(line)
    },
    flush: (done: () => void) => (written.flush === undefined ? done() : written.flush(done)),
  }
  return { log: pino({ level: config.logLevel, redact: secret, base: null }, both), lines }
}

interface Target extends DestinationStream {
  /** Calls back once nothing is on its way to the reader; where it is missing, nothing ever is. */
  readonly flush?: ((done: () => void) => void) | undefined
}

async function target(config: LogSettings): Promise<Target> {
  if (config.logFile !== undefined) return openLogFile(config.logFile, logFileBytes)
  const lines = new LineWriter(2)
  const flush = (done: () => void): void => lines.flush(done)
  if (!isatty(2)) return { write: line => lines.write(line), flush }
  // Forty files, which a daemon whose log is a file never needs.
  const { default: pretty } = await import('pino-pretty')
  const people = pretty({
    destination: lines.stream(),
    ignore: 'pid,hostname',
    translateTime: 'HH:MM:ss',
  })
  return { write: line => void people.write(visibleInJson(line)), flush }
}

export interface LogReader {
  /** The lines after that number that are still kept, the number to ask for next, and the file of the whole log if there is one. */
  after(number: number): { lines: readonly string[]; next: number; file?: string | undefined }
}

interface LogRing extends LogReader {
  write(line: string): void
}

const linesAtMost = 1_000
/** Characters of a line that are kept; a longer one is a stack or a bug. */
const longestLine = 4_000

/** @param file where the whole log goes; undefined for a terminal or nothing */
function openLogRing(file: string | undefined): LogRing {
  const lines: string[] = []
  /** The number of the newest line. */
  let newest = 0

  return {
    write(line) {
      lines[newest % linesAtMost] = line.trimEnd().slice(0, longestLine)
      newest += 1
    },
    after(number) {
      const first = Math.max(0, newest - linesAtMost, Math.min(number, newest))
      const found = Array.from({ length: newest - first }, (_, at) => lines[(first + at) % linesAtMost] ?? '')
      return { lines: found, next: newest, file }
    },
  }
}

/** The ending of the lines before. */
const before = '.1'

/**
 * Lines are on the file when `write` returns, and a full disk costs lines only. Each one opens the file: another program may
 * rotate it, empty it or write to it.
 * @param limitBytes of the file; with the one before it takes twice as much
 * @throws BadSetting where it cannot be written
 */
export function openLogFile(file: string, limitBytes: number): DestinationStream {
  try {
    makeDirectoriesNow(dirname(file))
    appendFileSync(file, '', { mode: privateFile })
  } catch (cause) {
    const code = codeOf(cause)
    if (code === undefined) throw cause
    throw new BadSetting(
      `--log-file ${file}: it cannot be written (${code}); name a file in a directory of your own, or leave it out.`,
      { cause },
    )
  }
  // A disk that got full in the middle of a line has its beginning.
  let isCut = false
  return {
    write(line) {
      try {
        if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) >= limitBytes) moveAway(file)
        appendFileSync(file, isCut ? `\n${line}` : line, { mode: privateFile })
        isCut = false
      } catch (thrown) {
        // There is no place to tell it.
        if (codeOf(thrown) === undefined) throw thrown
        isCut = true
      }
    },
  }
}

/** Where the directory takes no other name, the lines before are lost rather than the disk filled. */
function moveAway(file: string): void {
  try {
    renameSync(file, file + before)
  } catch (thrown) {
    if (codeOf(thrown) === undefined) throw thrown
    truncateSync(file)
  }
}
