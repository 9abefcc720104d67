// The log: readable on a terminal, JSON lines elsewhere; no secret ever reaches it, and its last lines can be read back.
import { isatty } from 'node:tty'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config/config.js'
import { LineWriter } from '../system/line-writer.js'
import { openLogFile } from './log-file.js'
import { type LogReader, openLogRing } from './log-ring.js'
import { visibleInJson } from './print.js'

export type Log = Logger

type LogSettings = Pick<Config, 'logLevel' | 'logFile' | 'logSize'>

const secret = [
  'password',
  'token',
  'authorization',
  '*.password',
  '*.token',
  '*.authorization',
  'headers.authorization',
]

export async function openLog(settings: LogSettings): Promise<Log> {
  return (await openLogWithLines(settings)).log
}

/** The log of a daemon, and what is kept of it in memory. */
export async function openLogWithLines(
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
  if (config.logFile !== undefined) return openLogFile(config.logFile, config.logSize)
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
