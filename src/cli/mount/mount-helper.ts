// mount.calcfs, the helper of mount(8): its options become variables of `calcfs mount`, its end an exit code of mount(8).
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { nearestPhrase } from '../../config/nearest.js'
import {
  BadSetting,
  flagName,
  type SettingName,
  settingNames,
  settings,
  variableName,
} from '../../config/settings.js'
import { userPhrase } from '../../system/user-name.js'
import { exitCodes } from '../../terminal/exit.js'
import { packageRoot } from '../../terminal/package-root.js'
import { tell } from '../../terminal/print.js'

const helperName = 'mount.calcfs'

/** Exit codes of mount(8). */
const [wrongUsage, failed] = [1, 32]

/** The same for those of calcfs; 130 is 128 + SIGINT, as shells say it. */
const codesOfHelper: Readonly<Record<number, number>> = {
  [exitCodes.done]: 0,
  [exitCodes.usage]: wrongUsage,
  [exitCodes.noFuse]: 2,
  130: 8,
}

/** Sources that name no service: the configuration file does. */
const noSource = new Set(['none', 'calcfs'])

/** `args` are those of mount(8): SOURCE DIRECTORY [-sfnv] [-o OPTIONS] [-t TYPE]; `main` carries out a line of calcfs and sets the exit code. Nothing is thrown. */
export async function mountHelper(
  args: readonly string[],
  main: (args: readonly string[]) => Promise<void>,
): Promise<void> {
  try {
    const { values, source, directory } = callIn(args)
    const variables = variablesFor((values.options ?? []).join(','), values.sloppy === true)
    if (values.fake === true) return
    Object.assign(process.env, variables)
    const address = noSource.has(source) ? [] : [source]
    const quiet = values.verbose === true ? [] : ['--quiet']
    const line = ['mount', '--daemon', ...quiet, ...address, resolve(directory)]
    // That process is started by the line of this one.
    process.argv.splice(1, Number.POSITIVE_INFINITY, join(packageRoot(), 'bin', 'calcfs'), ...line)
    await main(line)
    if (Number(process.exitCode) === exitCodes.signIn)
      tell(`${helperName}: ${await whoseSignIn(variableName('user') in variables)}`)
    // The sentence is on the terminal already.
    process.exitCode = codesOfHelper[Number(process.exitCode ?? exitCodes.done)] ?? failed
  } catch (thrown) {
    if (!(thrown instanceof BadSetting)) throw thrown
    tell(`${helperName}: ${thrown.message}`)
    process.exitCode = wrongUsage
  }
}

/** `sudo mount` looks at the sign-ins of root alone. */
const whoseSignIn = async (isNamed: boolean): Promise<string> =>
  `${isNamed ? '' : "--user is the option username=NAME here (user is mount(8)'s own); "}the sign-ins of ${await userPhrase(process.getuid?.())} were looked at: sign in as that user, name a password_file=, or add the option user in /etc/fstab and let the user who has signed in mount it.`

function callIn(args: readonly string[]) {
  const { values, positionals } = parsed(args)
  const [source, directory, ...more] = positionals
  if (source === undefined || directory === undefined || more.length > 0) throw new BadSetting(usage)
  if (isAddress(directory) && !isAddress(source))
    throw new BadSetting(`the address comes first. Write: mount -t calcfs ${directory} ${source}`)
  return { values, source, directory }
}

function parsed(args: readonly string[]) {
  const options = {
    options: { type: 'string', short: 'o', multiple: true },
    type: { type: 'string', short: 't' },
    sloppy: { type: 'boolean', short: 's' },
    fake: { type: 'boolean', short: 'f' },
    'no-mtab': { type: 'boolean', short: 'n' },
    verbose: { type: 'boolean', short: 'v' },
    write: { type: 'boolean', short: 'w' },
  } as const
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch {
    throw new BadSetting(`${args.join(' ')} is not understood; ${usage}`)
  }
}

const isAddress = (text: string): boolean => /^https?:\/\//.test(text)

const mountLine = 'mount -t calcfs https://HOST DIRECTORY -o access=read,…, or a line of /etc/fstab'
const usage = `write: ${mountLine}; the manual page is mount.calcfs(8)`

/** In /etc/fstab `user` is an option of mount(8), with the name of who mounted it. */
const ownNames: Readonly<Record<string, string>> = { user: 'username' }

const settingOf = new Map<string, SettingName>(
  settingNames.map(name => [ownNames[name] ?? flagName(name), name]),
)

const programVariables: Readonly<Record<string, string>> = {
  config: 'CALCFS_CONFIG',
  profile: 'CALCFS_PROFILE',
}

/**
 * Meant for mount(8), systemd or the kernel, and without effect on a drive: every mount has nosuid and nodev, contents have no
 * access times, and a write is on the disk before it is answered.
 */
const withoutEffect = new Set([
  'defaults',
  'rw',
  ...['auto', 'noauto', 'nofail', '_netdev', '_rnetdev', 'comment', 'uhelper', 'helper'],
  ...['user', 'nouser', 'users', 'owner', 'group'],
  ...['nosuid', 'suid', 'nodev', 'dev', 'noexec', 'exec', 'sync', 'async', 'dirsync', 'default_permissions'],
  ...['atime', 'noatime', 'diratime', 'nodiratime', 'relatime', 'norelatime', 'strictatime', 'nostrictatime'],
  ...['lazytime', 'nolazytime', 'mand', 'nomand', 'silent', 'loud', 'iversion', 'noiversion'],
])
const forOthers = /^x-|^X-/

/**
 * The settings of the text after `-o`, by their variables. A value with a comma stands in double quotes, as for mount(8).
 * @param sloppy mount(8)'s -s: an unknown option is passed over
 * @throws BadSetting for an option that calcfs does not have, in one sentence
 */
function variablesFor(text: string, sloppy: boolean): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {}
  const accessVariable = variableName('access')
  let isReadOnly = false
  for (const { name, value } of optionsIn(text)) {
    const written = name.replaceAll('_', '-')
    const setting = settingOf.get(written)
    const variable = setting === undefined ? programVariables[written] : variableName(setting)
    if (name === 'ro') isReadOnly = true
    else if (variable === undefined) refuseUnlessKnown(name, sloppy)
    else if (setting !== undefined && settings[setting].value === undefined)
      variables[variable] = value ?? 'yes'
    else if (!value) throw new BadSetting(`the option ${name} wants a value: ${name}=…`)
    else if (setting !== undefined && settings[setting].repeatable && variables[variable] !== undefined)
      variables[variable] += `\n${value}`
    else variables[variable] = value
  }
  const access = variables[accessVariable]
  if (!isReadOnly) return variables
  if (access !== undefined && access !== 'read')
    throw new BadSetting(`the options ro and access=${access} contradict each other; leave one of them out.`)
  return { ...variables, [accessVariable]: 'read' }
}

function refuseUnlessKnown(name: string, sloppy: boolean): void {
  if (name === 'password' || name === 'token')
    throw new BadSetting(
      `the option ${name} would show it to every user of this machine; put it into a file of mode 0600 and name that with password_file=FILE.`,
    )
  if (name === 'remount')
    throw new BadSetting('a drive is not remounted: unmount it, and mount it again with the other options.')
  if (withoutEffect.has(name) || forOthers.test(name) || sloppy) return
  const known = [...settingOf.keys(), ...Object.keys(programVariables)]
  const near = nearestPhrase(name.replaceAll('_', '-'), known, found => found.replaceAll('-', '_'))
  throw new BadSetting(`there is no mount option '${name}'${near}.`)
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
