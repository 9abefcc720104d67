// TOML configuration files: the allowed keys, and a sentence with file and nearest name for a wrong one.
import { readFileSync, statSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import { codeOf, isMissing } from '../system/error-code.js'
import { nearestPhrase } from './nearest.js'
import { BadSetting, flagName, settingNames } from './settings.js'

/** One layer of a file: the settings at its top, or those of one profile. Keys are flag names without dashes. */
export type Layer = Readonly<Record<string, unknown>>

export interface ConfigFile {
  readonly path: string
  readonly top: Layer
  readonly profiles: Readonly<Record<string, Layer>>
}

/** Keys of the file that are no flags: secrets, field names of this service, and the profile to use. */
const fileOnly = ['password', 'token', 'dialect', 'profile']
const allKeys = [...settingNames.map(flagName), ...fileOnly]

/**
 * Reads one file.
 * @returns undefined where there is none
 * @throws BadSetting for bad TOML, an unknown key, or a secret that others could read
 */
export function readConfigFile(path: string, how?: 'if it may be read'): ConfigFile | undefined {
  const text = readConfigText(path, how)
  if (text === undefined) return undefined
  const { profiles = {}, ...top } = parseToml(path, text)
  if (!isTable(profiles)) throw new BadSetting(`${path}: profiles is no table; write [profiles.NAME].`)
  for (const [name, layer] of Object.entries(profiles))
    if (!isTable(layer))
      throw new BadSetting(`${path}: profiles.${name} is no table; write [profiles.${name}].`)
  const file = { path, top, profiles: profiles as ConfigFile['profiles'] }
  for (const layer of [file.top, ...Object.values(file.profiles)]) checkKeys(layer, file)
  return file
}

function readConfigText(path: string, how?: 'if it may be read'): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (reason) {
    if (isMissing(reason) || (how !== undefined && codeOf(reason) === 'EACCES')) return undefined
    throw new BadSetting(`${path}: cannot be read; check its owner and mode.`, { cause: reason })
  }
}

function parseToml(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text)
  } catch (reason) {
    if (!(reason instanceof TomlError)) throw reason
    const [what] = reason.message.split('\n')
    throw new BadSetting(`${path}, line ${reason.line}, column ${reason.column}: ${what}.`, { cause: reason })
  }
}

function checkKeys(layer: Layer, file: ConfigFile): void {
  for (const [key, value] of Object.entries(layer)) {
    if (!allKeys.includes(key))
      throw new BadSetting(
        `${file.path}: there is no setting '${key}'${nearestPhrase(key, allKeys) || '; calcfs help settings lists them'}.`,
      )
    const isSecret =
      key === 'password' || key === 'token' || (key === 'fleet' && /:\/\/[^/]*@/.test(`${value}`))
    if (isSecret) checkPrivate(file, key)
  }
}

function checkPrivate(file: ConfigFile, key: string): void {
  if ((statSync(file.path).mode & 0o077) === 0) return
  throw new BadSetting(
    `${file.path}: others can read this ${key === 'fleet' ? 'password of the fleet' : key}; run: chmod 600 ${file.path}`,
  )
}

const isTable = (value: unknown): value is Layer =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
