// The log: readable on a terminal, JSON lines elsewhere; no secret ever reaches it.
import { isatty } from 'node:tty'
import { type DestinationStream, destination, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
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

export function openLog(config: Pick<Config, 'logLevel' | 'logFile'>): Log {
  return pino({ level: config.logLevel, redact: secret, base: null }, target(config.logFile))
}

function target(file: string | undefined): DestinationStream {
  if (file !== undefined)
    return destination({ dest: file, mkdir: true, append: true, sync: true, mode: 0o600 })
  if (isatty(2))
    return pretty({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss' })
  return destination({ dest: 2, sync: true })
}
