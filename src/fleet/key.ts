// Key of a fleet: a file that only its owner reads, from which the names and the seals of all values are made.
import { hkdfSync, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { BadSetting } from '../config/settings.js'
import { codeOf, systemWords } from '../system/error-code.js'

/** Secret keys, each for one purpose. */
export interface FleetKey {
  readonly forNames: Buffer
  readonly forSeals: Buffer
}

const keyBytes = 32
const form = /^calcfs-fleet-key-1 ([A-Za-z0-9_-]{43})$/

/** Makes such a file, 0600, and the directory that is missing above it. @throws BadSetting where there is one already, or it cannot be written */
export function makeFleetKey(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const descriptor = openSync(file, 'wx', 0o600)
    try {
      writeSync(descriptor, `calcfs-fleet-key-1 ${randomBytes(keyBytes).toString('base64url')}\n`)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST')
      throw new BadSetting(
        `${file}: there is a file already; name another one, or remove it if no node uses it.`,
      )
    throw new BadSetting(`${file}: the key was not made: ${systemWords(cause) ?? String(cause)}.`, { cause })
  }
}

/** @throws BadSetting for a file that is missing, that others can read, or that holds no key */
export function readFleetKey(file: string): FleetKey {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined)
    throw new BadSetting(
      `--fleet-key-file ${file}: there is no such file; make one with \`calcfs fleet key ${file}\`, and copy it to every node.`,
    )
  if ((found.mode & 0o077) !== 0)
    throw new BadSetting(`--fleet-key-file ${file}: others can read this key; run: chmod 600 ${file}`)
  const [, text] = form.exec(readFileSync(file, 'utf8').trim()) ?? []
  const secret = Buffer.from(text ?? '', 'base64url')
  if (secret.length !== keyBytes)
    throw new BadSetting(
      `--fleet-key-file ${file}: this is no key; make one with \`calcfs fleet key\` under another name.`,
    )
  const derived = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', purpose, keyBytes))
  return { forNames: derived('calcfs fleet names'), forSeals: derived('calcfs fleet seals') }
}
