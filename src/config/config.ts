// Flags over environment over profile over file: every setting looked up once, checked once, and frozen as one Config.
import * as z from 'zod'
import { type ConfigFile, type Layer, readConfigFile } from './file.js'
import { nearestPhrase } from './nearest.js'
import { type Environment, userConfigFile } from './places.js'
import { BadSetting, flagName, type SettingName, settingNames, settings, variableName } from './settings.js'
import { texts } from './units.js'

/** Durations are milliseconds, sizes bytes, paths absolute; `url` is as it was typed. */
export type Config = { readonly [Name in SettingName]: z.output<(typeof settings)[Name]['schema']> } & {
  /** Overrides for this service: field names to try first, and extra query parameters by endpoint. */
  readonly dialect: z.output<typeof dialectForm>
}

/** Where settings come from. `flags` are commander's options: camelCase, only those that were given. */
export interface Sources {
  readonly flags: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly files: readonly ConfigFile[]
}

/** It may hold a password that only the machine's own drives use. */
const systemFile = '/etc/calcfs/config.toml'

interface FoundValue {
  readonly value: unknown
  readonly where: string
}

/**
 * The files that count: `--config` alone, or the user's over the system's.
 * @throws BadSetting where the file of `--config` does not exist
 */
export function configFiles(
  asked: string | undefined,
  environment: Sources['environment'],
): readonly ConfigFile[] {
  if (asked !== undefined) {
    const file = readConfigFile(asked)
    if (file === undefined)
      throw new BadSetting(
        `${asked}: there is no such configuration file; name another with --config, or leave it out.`,
      )
    return [file]
  }
  const own = userConfigFile(environment)
  const files = [
    own === undefined ? undefined : readConfigFile(own),
    readConfigFile(systemFile, 'if it may be read'),
  ]
  return files.filter(file => file !== undefined)
}

/**
 * The whole configuration.
 * @throws BadSetting with one sentence: where it is written, what is wrong, what to write
 */
export function readConfig(sources: Sources): Config {
  const all = levelsOf(sources)
  const ofSecret = secretLevel(all)
  const levels = (name: SettingName) => (secretNames.includes(name) ? ofSecret : all)
  const values = settingNames.map(name => [name, checked(name, found(name, levels(name)))])
  return Object.freeze({ ...Object.fromEntries(values), dialect: dialectSettings(all) })
}

/** A secret that only files have, where theirs is the level that gives the secret. */
export const secretInFiles = (name: 'token' | 'password', sources: Sources): FoundValue | undefined =>
  found(name, secretLevel(levelsOf(sources)))

/** The flags, the variables, or one layer of a file. */
type Level = (name: string) => FoundValue | undefined

const secretNames: readonly string[] = ['passwordCommand', 'passwordFile', 'token', 'password']

/** The nearest level with a source of a secret, or none: that of a level which names another user would be sent as this one's. */
function secretLevel(levels: readonly Level[]): readonly Level[] {
  const user = found('user', levels)?.value
  const serves = (level: Level): boolean => [undefined, user].includes(level('user')?.value)
  return levels.filter(level => secretNames.some(name => level(name)) && serves(level)).slice(0, 1)
}

/** The layers of a profile, nearest first. @throws BadSetting where no file has it */
export function requireProfile(chosen: string, files: readonly ConfigFile[]): readonly Level[] {
  const profiles = files.flatMap(file => {
    const layer = file.profiles[chosen]
    return layer === undefined ? [] : [levelOf(file, layer)]
  })
  if (profiles.length === 0) throw new BadSetting(noSuchProfile(chosen, files))
  return profiles
}

function noSuchProfile(chosen: string, files: readonly ConfigFile[]): string {
  const known = files.flatMap(file => Object.keys(file.profiles))
  if (known.length > 0)
    return `there is no profile '${chosen}'${nearestPhrase(chosen, known)}; known are ${known.join(', ')}.`
  const looked =
    files.length === 0
      ? 'there is no configuration file that this user may read'
      : `${files.map(({ path }) => path).join(' and ')} has none`
  return `there is no profile '${chosen}': ${looked}; write [profiles.${chosen}] with its url in ${files[0]?.path ?? '~/.config/calcfs/config.toml'}, or leave --profile out.`
}

/** Nearest first: the chosen profile of every file comes before any file's top. */
function levelsOf({ flags, environment, files }: Sources): readonly Level[] {
  const inFile = files.find(({ top }) => Object.hasOwn(top, 'profile'))?.top['profile']
  const chosen = flags['profile'] ?? (environment['CALCFS_PROFILE'] || undefined) ?? inFile
  return [
    name => at(flags[name], `--${flagName(name)}`),
    name => at(said(name, environment), variableName(name)),
    ...(chosen === undefined ? [] : requireProfile(String(chosen), files)),
    ...files.map(file => levelOf(file, file.top)),
  ]
}

function levelOf({ path }: ConfigFile, layer: Layer): Level {
  return name => at(layer[flagName(name)], `${path}: ${flagName(name)}`)
}

const at = (value: unknown, where: string): FoundValue | undefined =>
  value === undefined ? undefined : { value, where }

/** Only of settings: secrets in variables have an order of their own. */
function said(name: string, environment: Sources['environment']): unknown {
  const setting = settingNames.find(known => known === name)
  const text = environment[variableName(name)]
  if (setting === undefined || !text) return undefined
  return settings[setting].repeatable ? text.split('\n').filter(Boolean) : text
}

const found = (name: string, levels: readonly Level[]): FoundValue | undefined =>
  levels.map(level => level(name)).find(value => value !== undefined)

function checked(name: SettingName, given: FoundValue | undefined): unknown {
  const { value, where } = given ?? { value: settings[name].initial, where: 'the default' }
  const result = settings[name].schema.safeParse(value)
  if (result.success) return result.data
  throw new BadSetting(`${where}: ${JSON.stringify(value)} ${result.error.issues[0]?.message}.`)
}

const dialectForm = z.strictObject({
  fields: z.record(z.string(), texts).optional(),
  query: z.record(z.string(), z.record(z.string(), z.string())).optional(),
})

function dialectSettings(levels: readonly Level[]): Config['dialect'] {
  const given = found('dialect', levels)
  const dialect = dialectForm.safeParse(given?.value ?? {})
  if (dialect.success) return Object.freeze(dialect.data)
  throw new BadSetting(
    `${given?.where} must be [dialect.fields] and [dialect.query."endpoint"], names in quotes.`,
  )
}

/** With what they are; the first two have a flag. */
export const otherVariables: Readonly<Record<string, string>> = {
  CALCFS_CONFIG: 'the configuration file, as --config',
  CALCFS_PROFILE: 'the profile of the configuration file, as --profile',
  CALCFS_PASSWORD: 'the password, which a daemon does not keep in its environment',
  CALCFS_TOKEN: 'a ready token in place of a password; neither does it keep this one',
}

/** Seeds and sizes of calcfs's own tests and benchmarks, whose daemons inherit them. */
const ofTests = /^CALCFS_(TEST|LONG|BENCH|MODEL|WALK|STORM|PAIRS|INTERLEAVINGS)/

/** A sentence for each variable that begins as one of calcfs and is none: mistyped, or of another version. */
export function unknownVariables(environment: Environment): readonly string[] {
  const known = [...settingNames.map(variableName), ...Object.keys(otherVariables)]
  // A common beginning makes none of them alike.
  const bare = (name: string): string => name.slice('CALCFS_'.length)
  const nearest = (name: string): string =>
    nearestPhrase(bare(name), known.map(bare), found => `CALCFS_${found}`)
  return Object.keys(environment)
    .filter(name => name.startsWith('CALCFS_') && !known.includes(name) && !ofTests.test(name))
    .map(name => `the variable ${name} is no setting, and not used${nearest(name)}.`)
}
