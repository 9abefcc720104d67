// A command's flags, made from the table of settings, and the configuration that comes out of them.
import { type Command, Option } from 'commander'
import { type Config, configFiles, readConfig, type Sources } from '../config/config.js'
import { refuseShared } from '../config/secret.js'
import {
  flagName,
  type Group,
  type Setting,
  type SettingName,
  settingNames,
  settings,
} from '../config/settings.js'

/** Gives a command the flags of these groups. */
export function withSettings(command: Command, ...groups: readonly Group[]): Command {
  const names = settingNames.filter(name => groups.includes(settings[name].group))
  for (const name of names) command.addOption(optionOf(name, settings[name]))
  return command
}

function optionOf(name: SettingName, { value, help, initial, repeatable }: Setting): Option {
  const flag = `--${flagName(name)}${value === undefined ? '' : ` ${value}`}`
  const preset = value === undefined || initial === undefined ? '' : ` (default ${initial})`
  const option = new Option(flag, help + preset)
  return repeatable ? option.argParser(collected) : option
}

const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

export interface Configured {
  readonly config: Config
  /** For `findSecret`. */
  readonly sources: Sources
}

/**
 * The settings from the flags of a command, the environment and the files.
 * @param url the argument of the command, where it was given
 * @throws BadSetting
 */
export function configured(command: Command, url?: string): Configured {
  const given: Readonly<Record<string, unknown>> = command.optsWithGlobals()
  const flags = url === undefined ? given : { ...given, url }
  const environment = process.env
  const asked = flags['config'] ?? environment['CALCFS_CONFIG'] ?? undefined
  const sources = {
    flags,
    environment,
    files: configFiles(asked === undefined ? undefined : String(asked), environment),
  }
  const config = readConfig(sources)
  if (config.passwordFile !== undefined) refuseShared(config.passwordFile)
  return { config, sources }
}
