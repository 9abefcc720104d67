// A command's flags, made from the table of settings, and the configuration that comes out of them.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Config, configFiles, readConfig, type Sources } from '../config/config.js'
import { refuseShared } from '../config/secret.js'
import {
  everydaySettings,
  flagName,
  type Group,
  groups,
  groupTitles,
  type Setting,
  type SettingName,
  settingNames,
  settings,
  wordsOf,
} from '../config/settings.js'

/** Flags that a command takes and its help does not list. */
const unlisted = new WeakSet<Option>()
export const isUnlisted = (option: Option): boolean => unlisted.has(option)

/** Names the groups that a command takes, and no other flag. */
const elsewhere = (groups: readonly Group[]): string => `
The settings of ${groups.map(group => groupTitles[group].toLowerCase()).join(' and ')} work as flags here, too (--url, --user, --ca-file …): calcfs help settings lists them.`

/** Gives a command the flags of these groups; its help has one line for all of them, with `--all` every one. */
export function withSettings<Given extends Command>(command: Given, ...groups: readonly Group[]): Given {
  return withFlags(command, groups, []).addHelpText('after', elsewhere(groups))
}

/** The same of all groups, with the everyday ones in the help, for the command whose settings they are. */
export const withEverydaySettings = <Given extends Command>(command: Given): Given =>
  withFlags(command, groups, everydaySettings).addHelpText(
    'after',
    '\nOther settings are flags, too: calcfs mount --help --all lists them, calcfs help settings their variables.',
  )

function withFlags<Given extends Command>(
  command: Given,
  of: readonly Group[],
  listed: readonly SettingName[],
): Given {
  for (const name of settingNames.filter(name => of.includes(settings[name].group))) {
    const option = optionOf(name, settings[name]).helpGroup(`${groupTitles[settings[name].group]}:`)
    if (!listed.includes(name)) unlisted.add(option)
    command.addOption(option)
  }
  return command
}

export function flagOf(name: SettingName): string {
  const { value } = settings[name]
  return `--${flagName(name)}${value === undefined ? '' : ` ${value}`}`
}

function optionOf(name: SettingName, { value, help, initial, repeatable }: Setting): Option {
  const preset = value === undefined || initial === undefined ? '' : ` (default ${initial})`
  const option = new Option(flagOf(name), help + preset)
  const words = wordsOf(name)
  if (words !== undefined) option.argChoices = [...words]
  return repeatable ? option.argParser(collected) : option
}

/** Each use of a flag adds one. */
export const collected = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
]

/** The value of a flag: a whole number within bounds. */
export const wholeNumber =
  (least: number, most: number = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= least && value <= most) return value
    const bound = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`
    throw new InvalidArgumentError(`write a whole number, ${bound}.`)
  }

export interface Configured {
  readonly config: Config
  readonly sources: Sources
}

/** From the flags of a command, the environment and the files; `url` is its argument. @throws BadSetting */
export function configured(command: Command, url?: string): Configured {
  const given = command.optsWithGlobals<{ config?: string }>()
  const flags = url === undefined ? given : { ...given, url }
  const environment = process.env
  const files = configFiles(given.config ?? environment['CALCFS_CONFIG'], environment)
  const sources = { flags, environment, files }
  const config = readConfig(sources)
  if (config.passwordFile !== undefined) refuseShared(config.passwordFile)
  return { config, sources }
}
