// mount.calcfs, the helper of mount(8): its arguments become a line of `calcfs mount`, its end an exit code of mount(8).
import { join, resolve } from 'node:path'
import { BadSetting, variableName } from '../../config/settings.js'
import { userPhrase } from '../../system/user-name.js'
import { exitCodes } from '../../terminal/exit.js'
import { packageRoot, version } from '../../terminal/package-root.js'
import { printLine, tell } from '../../terminal/print.js'
import { mountOptionsIn } from './mount-options.js'

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
  if (args.length === 1 && args[0] !== undefined && Object.hasOwn(asks, args[0])) {
    printLine(asks[args[0]]?.() ?? '')
    return
  }
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

/** What is printed for a flag that stands alone; in a longer line `-V` and `-h` are no flags of mount(8)'s helpers. */
const asks: Readonly<Record<string, () => string>> = {
  '--help': helpText,
  '-h': helpText,
  '--version': version,
  '-V': version,
}

function helpText(): string {
  return [
    `Usage: ${helperName} https://HOST DIRECTORY [-sfnv] [-o OPTIONS]`,
    '',
    `mount(8) calls it: ${mountLine}.`,
    'OPTIONS are the settings of calcfs, as in -o username=anna,access=read,ttl_listing=1m; `calcfs help settings` lists them.',
    'The manual page is mount.calcfs(8).',
  ].join('\n')
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
const usage = `write: ${mountLine}`

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
