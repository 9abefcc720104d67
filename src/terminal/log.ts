// The log: readable on a terminal, JSON lines elsewhere; no secret ever reaches it.
import { isatty } from 'node:tty'
import { type DestinationStream, destination, type Logger, pino } from 'pino'
import type { Config } from '../config/config.js'
import { LineWriter } from '../system/line-writer.js'

export type Log = Logger

const secret = [
  'password',
  'token',
  'authorization',
  '*.password',
  '*.token',
  '*.authorization',
  'headers.authorization',
]

export async function openLog(config: Pick<Config, 'logLevel' | 'logFile'>): Promise<Log> {
  return pino({ level: config.logLevel, redact: secret, base: null }, await target(config.logFile))
}

/** Bytes of lines that wait for room on the disk; what comes after that is lost. */
const longestBacklog = 256 << 10

async function target(file: string | undefined): Promise<DestinationStream> {
  if (file !== undefined)
    return lasting(
      destination({
        dest: file,
        mkdir: true,
        append: true,
        sync: true,
        mode: 0o600,
        maxLength: longestBacklog,
      }),
    )
  const lines = new LineWriter(2)
  if (!isatty(2)) return lines
  // Forty files, which a daemon whose log is a file never needs.
  const { default: pretty } = await import('pino-pretty')
  return pretty({ destination: lines.stream(), ignore: 'pid,hostname', translateTime: 'HH:MM:ss' })
}

/** A full disk costs lines of the log, and no mount: the stream keeps what it could not write, and tries again with the next line. */
function lasting(stream: ReturnType<typeof destination>): typeof stream {
  return stream.on('error', linesLost)
}

/** There is no place to tell it. */
function linesLost(): void {}
