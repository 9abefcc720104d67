// The log: readable on a terminal, JSON lines elsewhere; no secret ever reaches it.
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

export async function openLog(config: LogSettings): Promise<Log> {
  const options = {
    level: config.logLevel,
    redact: secret,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
  }
  return pino(options, await target(config))
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

/** Lines are on the file when `write` returns; a full disk costs lines only. Each opens the file: another program may rotate, empty or write it. @throws BadSetting where it cannot be written */
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
    renameSync(file, `${file}.1`)
  } catch (thrown) {
    if (codeOf(thrown) === undefined) throw thrown
    truncateSync(file)
  }
}
