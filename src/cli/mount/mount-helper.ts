// mount.calcfs, the helper of mount(8): its arguments become a line of `calcfs mount`, its end an exit code of mount(8).
import { join, resolve } from 'node:path'
import { nearestName } from '../../config/nearest.js'
import {
  BadSetting,
  flagName,
  type SettingName,
  settingNames,
  settings,
  variableName,
} from '../../config/settings.js'
import { choice } from '../../config/units.js'
import { userPhrase } from '../../system/user-name.js'
import { exitCodes } from '../../terminal/exit.js'
import { packageRoot } from '../../terminal/package-root.js'
import { tell } from '../../terminal/print.js'

/** How messages name it. */
const helperName = 'mount.calcfs'

/** Exit codes, mount(8). */
const helperCodes = { done: 0, usage: 1, system: 2, interrupted: 8, failed: 32 } as const

interface HelperCall {
  readonly source: string
  readonly directory: string
  readonly options: string
  readonly isFake: boolean
  readonly isSloppy: boolean
  readonly isVerbose: boolean
}

/** Sources that name no service: the configuration file does. */
const noSource = new Set(['none', 'calcfs'])

/**
 * Mounts in the background, and returns once the drive is there. Nothing is thrown.
 * @param args those of mount(8): SOURCE DIRECTORY [-sfnv] [-o OPTIONS] [-t TYPE]
 * @param main carries out a line of calcfs and sets the exit code of this process
 */
export async function mountHelper(
  args: readonly string[],
  main: (args: readonly string[]) => Promise<void>,
): Promise<void> {
  try {
    const call = callIn(args)
    const line = lineOf(call)
    if (call.isFake) return
    // The background process must not keep the directory in use in which mount(8) was called.
    process.chdir('/')
    // That process is started by the line of this one.
    process.argv.splice(1, Number.POSITIVE_INFINITY, join(packageRoot(), 'bin', 'calcfs'), ...line)
    await main(line)
    if (Number(process.exitCode) === exitCodes.signIn)
      tell(`${helperName}: ${await whoseSignIn(line.some(word => word.startsWith('--user=')))}`)
    process.exitCode = helperCodeOf(Number(process.exitCode ?? exitCodes.done))
  } catch (thrown) {
    if (!(thrown instanceof BadSetting)) throw thrown
    tell(`${helperName}: ${thrown.message}`)
    process.exitCode = helperCodes.usage
  }
}

/** `sudo mount` looks at the sign-ins of root alone. */
const whoseSignIn = async (isNamed: boolean): Promise<string> =>
  `${isNamed ? '' : "--user is the option username=NAME here (user is mount(8)'s own); "}the sign-ins of ${await userPhrase(process.getuid?.())} were looked at: sign in as that user, name a password_file=, or add the option user in /etc/fstab and let the user who has signed in mount it.`

function lineOf({ source, directory, options, isSloppy, isVerbose }: HelperCall): string[] {
  const { programFlags, flags, switchedOff } = mountOptionsIn(options, isSloppy)
  for (const name of switchedOff)
    process.env[variableName(name.replace(/-(.)/g, (_, letter) => letter.toUpperCase()))] = 'no'
  const address = noSource.has(source) ? [] : [source]
  const quiet = isVerbose ? [] : ['--quiet']
  return [...programFlags, 'mount', '--daemon', ...quiet, ...flags, ...address, resolve(directory)]
}

/** @throws BadSetting */
function callIn(args: readonly string[]): HelperCall {
  const places: string[] = []
  const options: string[] = []
  const letters = new Set<string>()
  const left = [...args]
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    if (next === '-o') options.push(left.shift() ?? '')
    else if (next === '-t') left.shift()
    else if (/^-[sfnvw]+$/.test(next)) for (const letter of next.slice(1)) letters.add(letter)
    else if (next.startsWith('-') && next.length > 1)
      throw new BadSetting(`there is no flag ${next}; ${usage}`)
    else places.push(next)
  }
  const [source, directory, ...more] = places
  if (source === undefined || directory === undefined || more.length > 0) throw new BadSetting(usage)
  if (isAddress(directory) && !isAddress(source))
    throw new BadSetting(`the address comes first. Write: mount -t calcfs ${directory} ${source}`)
  return {
    source,
    directory,
    options: options.join(','),
    isFake: letters.has('f'),
    isSloppy: letters.has('s'),
    isVerbose: letters.has('v'),
  }
}

const isAddress = (text: string): boolean => /^https?:\/\//.test(text)

const mountLine = 'mount -t calcfs https://HOST DIRECTORY -o access=read,…, or a line of /etc/fstab'
const usage = `write: ${mountLine}; the manual page is mount.calcfs(8)`

/** The sentence is on the terminal already. */
function helperCodeOf(code: number): number {
  switch (code) {
    case exitCodes.done:
      return helperCodes.done
    case exitCodes.usage:
      return helperCodes.usage
    case exitCodes.noFuse:
      return helperCodes.system
    case interrupted:
      return helperCodes.interrupted
    default:
      return helperCodes.failed
  }
}

/** 128 + SIGINT, as shells say it. */
const interrupted = 130

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
