// The log: readable on a terminal, JSON lines elsewhere; no secret ever reaches it.
import { isatty } from 'node:tty'
import { type DestinationStream, destination, type Logger, pino } from 'pino'
import type { Config } from '../config/config.js'

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

async function target(file: string | undefined): Promise<DestinationStream> {
  if (file !== undefined)
    return destination({ dest: file, mkdir: true, append: true, sync: true, mode: 0o600 })
  if (isatty(2)) {
    // Forty files, which a daemon whose log is a file never needs.
    const { default: pretty } = await import('pino-pretty')
    return pretty({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss' })
  }
  return destination({ dest: 2, sync: true })
}
