// Options of mount(8) and /etc/fstab (`-o ro,ttl_listing=1m,…`) as flags of `calcfs mount`: from the table of settings, and mount(8)'s own.
import { nearestName } from '../../config/nearest.js'
import { BadSetting, flagName, type SettingName, settingNames, settings } from '../../config/settings.js'
import { choice } from '../../config/units.js'

/** What an option string means for `calcfs mount`. */
export interface MountOptions {
  /** Flags of the program, which stand before the command. */
  readonly programFlags: readonly string[]
  /** Flags of the command. */
  readonly flags: readonly string[]
  /** Settings that no flag can switch off, for the environment. */
  readonly switchedOff: readonly string[]
}

/** In /etc/fstab `user` is an option of mount(8), with the name of who mounted it. */
const ownNames: Readonly<Record<string, string>> = { user: 'username' }

/** How a setting is called behind `-o`. */
export const optionName = (name: SettingName): string => ownNames[name] ?? flagName(name)

const settingOf = new Map(settingNames.map(name => [optionName(name), name]))

/** Options of the program itself. */
const programOptions = ['config', 'profile']

/**
 * Meant for mount(8), systemd or the kernel, and without effect on a drive: every mount has nosuid and nodev, contents have no
 * access times, and a write is on the disk before it is answered.
 */
const withoutEffect = new Set([
  'defaults',
  'rw',
  ...['auto', 'noauto', 'nofail', '_netdev', '_rnetdev', 'comment', 'uhelper', 'helper'],
  ...['user', 'nouser', 'users', 'owner', 'group'],
  ...['nosuid', 'suid', 'nodev', 'dev', 'exec', 'sync', 'async', 'dirsync', 'default_permissions'],
  ...['atime', 'noatime', 'diratime', 'nodiratime', 'relatime', 'norelatime', 'strictatime', 'nostrictatime'],
  ...['lazytime', 'nolazytime', 'mand', 'nomand', 'silent', 'loud', 'iversion', 'noiversion'],
])
const forOthers = /^x-|^X-/

const ownership = new Set(['uid', 'gid', 'umask', 'fmask', 'dmask'])

/**
 * Reads the text after `-o`. A value with a comma stands in double quotes, as for mount(8).
 * @param sloppy mount(8)'s -s: an unknown option is passed over
 * @throws BadSetting for an option that calcfs does not have, in one sentence
 */
export function mountOptionsIn(text: string, sloppy: boolean): MountOptions {
  const programFlags: string[] = []
  const flags: string[] = []
  const switchedOff: string[] = []
  let readOnly = false
  let access: string | undefined
  for (const { name, value } of optionsIn(text)) {
    const written = name.replaceAll('_', '-')
    const setting = settingOf.get(written)
    const flag = setting === undefined ? written : flagName(setting)
    if (name === 'ro') readOnly = true
    else if (programOptions.includes(flag)) programFlags.push(`--${flag}=${valueIn(name, value)}`)
    else if (setting !== undefined && settings[setting].value === undefined) {
      if (value === undefined || isYes(name, value)) flags.push(`--${flag}`)
      else switchedOff.push(flag)
    } else if (setting !== undefined) {
      if (flag === 'access') access = value
      flags.push(`--${flag}=${valueIn(name, value)}`)
    } else refuseUnlessKnown(name, sloppy)
  }
  if (readOnly && access !== undefined && access !== 'read')
    throw new BadSetting(`the options ro and access=${access} contradict each other; leave one of them out.`)
  if (readOnly && access === undefined) flags.push('--access=read')
  return { programFlags, flags, switchedOff }
}

function refuseUnlessKnown(name: string, sloppy: boolean): void {
  if (name === 'remount')
    throw new BadSetting(
      'a mounted drive takes no other options; unmount it, then mount it with the new ones.',
    )
  if (ownership.has(name))
    throw new BadSetting(
      `the option ${name} is not for a drive: its files belong to the user who mounts it; add the option user and let that user mount it, or allow_other to let others read it.`,
    )
  if (name === 'password' || name === 'token')
    throw new BadSetting(
      `the option ${name} would show it to every user of this machine; put it into a file of mode 0600 and name that with password_file=FILE.`,
    )
  if (withoutEffect.has(name) || forOthers.test(name) || sloppy) return
  const near = nearestName(name.replaceAll('_', '-'), [...settingOf.keys(), ...programOptions])
  throw new BadSetting(
    `there is no mount option '${name}'${near === undefined ? '' : `; the nearest is '${near.replaceAll('-', '_')}'`}.`,
  )
}

function isYes(name: string, value: string): boolean {
  const read = choice.safeParse(value)
  if (read.success) return read.data
  throw new BadSetting(`the option ${name} is yes or no, and not '${value}'.`)
}

function valueIn(name: string, value: string | undefined): string {
  if (value) return value
  throw new BadSetting(`the option ${name} wants a value: ${name}=…`)
}

interface WrittenOption {
  readonly name: string
  readonly value: string | undefined
}

/** `a,b=c,d="e,f"`; what comes twice counts twice. */
function optionsIn(text: string): readonly WrittenOption[] {
  if ((text.split('"').length - 1) % 2 === 1)
    throw new BadSetting(`a quote is not closed in the options ${text}; a value with a comma stands in two.`)
  const written = text.match(/(?:[^,"]|"[^"]*")+/g) ?? []
  return written.map(option => {
    const [, name = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(option.trim()) ?? []
    return { name, value: value?.replace(/^"(.*)"$/s, '$1') }
  })
}
