// Passwords and tokens of the environment: taken out of it, so that neither /proc shows them nor a child inherits them.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Environment } from '../../config/places.js'
import { secretVariables } from '../../config/secret.js'
import { exitCodes, Stop } from '../../terminal/exit.js'

/** Values by the names of their variables. */
export type Secrets = Readonly<Record<string, string>>

/** An environment without its secrets, and these. */
export function parted(environment: Environment): { readonly plain: Environment; readonly secrets: Secrets } {
  const isSecret = ([name]: readonly [string, unknown]): boolean => secretVariables.includes(name)
  const all = Object.entries(environment)
  const secrets = all.filter(isSecret).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return {
    plain: Object.fromEntries(all.filter(one => !isSecret(one))),
    secrets: Object.fromEntries(secrets),
  }
}

/** Milliseconds in which the starting process hands them over. */
const startLimit = 20_000

/** What the process that started this one sends first. @throws Stop where there is none */
export function secretsOfStarter(): Promise<Secrets> {
  const stop = (sentence: string) => new Stop(exitCodes.usage, sentence)
  if (process.send === undefined)
    return Promise.reject(stop('--in-background is what --daemon does inside; use --daemon.'))
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(stop('the starting process has sent nothing; try without --daemon.')),
      startLimit,
    )
    process.once('message', message => {
      clearTimeout(late)
      resolve(message as Secrets)
    })
  })
}

/**
 * Removes the secrets from this process's environment: children inherit none, and where the system allows it (Linux) nothing
 * is left of them in /proc/self/environ, which shows the memory that a program was started with.
 */
export function forgetOwnSecrets(): void {
  for (const name of secretVariables) {
    if (process.env[name] === undefined) continue
    blotOut(name)
    delete process.env[name]
  }
}

/** A place of the memory is written only where this variable was read at that very place a moment before. */
function blotOut(name: string): void {
  try {
    const shown = readFileSync('/proc/self/environ')
    const at = placeOf(name, shown)
    if (at === undefined) return
    const end = shown.indexOf(0, at)
    const blank = Buffer.alloc((end === -1 ? shown.length : end) - at)
    const memory = openSync('/proc/self/mem', 'r+')
    try {
      writeSync(memory, blank, 0, blank.length, environmentStart() + at)
    } finally {
      closeSync(memory)
    }
  } catch {
    // Another system, or one that hides its own memory from a process: the owner of the process and root can read it there.
  }
}

/** Where the value begins, in bytes. */
function placeOf(name: string, shown: Buffer): number | undefined {
  const key = Buffer.from(`\0${name}=`)
  const found = Buffer.concat([Buffer.alloc(1), shown]).indexOf(key)
  return found === -1 ? undefined : found + key.length - 1
}

/** env_start of proc_pid_stat(5), the fiftieth field; the second one, the name, may hold blanks. */
function environmentStart(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .trim()
    .split(' ')
  return Number(fields[50 - 3])
}
