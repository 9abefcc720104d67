// Command table of `calcfs`, and the one place where its end becomes a sentence and an exit code.
import { inspect } from 'node:util'
import { Command } from 'commander'
import { configFiles, requireProfile, unknownVariables } from '../config/config.js'
import type { Environment } from '../config/places.js'
import { endWithoutTerminal } from '../system/line-writer.js'
import { examplesOf, showExamplesOfParts } from '../terminal/command.js'
import { exitCodeOf, exitCodes, exitMeanings, sentenceOf } from '../terminal/exit.js'
import { version } from '../terminal/package-root.js'
import { complain, printJson, printText, tell, watchOutputs } from '../terminal/print.js'
import { helpCommand, helpForm, topics, withAdvice } from './help/help.js'

/**
 * The commands in the order of the help, below its headings, each loaded on demand. The file of a command loads what its flags
 * need; what its work needs (the client of the service, FUSE, the service's database) is imported when it runs, so that the
 * help of all commands is there at once.
 */
const groups: Readonly<Record<string, Readonly<Record<string, () => Promise<Command>>>>> = {
  'Drives:': {
    mount: async () => (await import('./commands/mount.js')).mountCommand(),
    unmount: async () => (await import('./commands/unmount.js')).unmountCommand(),
    status: async () => (await import('./commands/status.js')).statusCommand(),
    top: async () => (await import('./watch/top.js')).topCommand(),
    log: async () => (await import('./watch/log.js')).logCommand(),
    refresh: async () => (await import('./commands/why.js')).refreshCommand(),
    why: async () => (await import('./commands/why.js')).whyCommand(),
    info: async () => (await import('./commands/info.js')).infoCommand(),
  },
  'Edits:': {
    drafts: async () => (await import('./commands/drafts.js')).draftsCommand(),
    history: async () => (await import('./commands/history.js')).historyCommand(),
    restore: async () => (await import('./commands/history.js')).restoreCommand(),
    report: async () => (await import('./commands/report.js')).reportCommand(),
    delete: async () => (await import('./commands/delete.js')).deleteCommand(),
  },
  'Contents:': {
    cache: async () => (await import('./commands/cache.js')).cacheCommand(),
    pin: async () => (await import('./files/pin.js')).pinCommand(),
    unpin: async () => (await import('./files/pin.js')).unpinCommand(),
    pins: async () => (await import('./files/pin.js')).pinsCommand(),
  },
  'Without a mount:': {
    ls: async () => (await import('./files/ls.js')).lsCommand(),
    find: async () => (await import('./files/find.js')).findCommand(),
    cat: async () => (await import('./files/cat.js')).catCommand(),
    get: async () => (await import('./files/get.js')).getCommand(),
    resolve: async () => (await import('./commands/resolve.js')).resolveCommand(),
  },
  'Sign-in and settings:': {
    login: async () => (await import('./commands/login.js')).loginCommand(),
    logout: async () => (await import('./commands/login.js')).logoutCommand(),
    doctor: async () => (await import('./commands/doctor.js')).doctorCommand(),
    fleet: async () => (await import('./commands/fleet.js')).fleetCommand(),
    'hand-over': async () => (await import('./mount/hand-over.js')).handOverCommand(),
  },
  'Help, and a service to try:': {
    help: async () => helpCommand(wholeProgram),
    completion: async () => (await import('./completion/complete.js')).completionCommand(),
    demo: async () => (await import('./commands/demo.js')).demoCommand(),
    serve: async () => (await import('./commands/serve.js')).serveCommand(),
    __complete: async () => (await import('./completion/complete.js')).askedCommand(wholeProgram),
  },
}

const commands = Object.entries(groups).flatMap(([heading, loads]) =>
  Object.entries(loads).map(([name, load]) => ({
    name,
    load: async () => (await load()).helpGroup(heading),
  })),
)

const notes = `
calcfs help COMMAND prints the help of one command, calcfs help TOPIC one of: ${topics.join(', ')}.
Every setting is a flag, --ttl-listing, a variable, CALCFS_TTL_LISTING, and a key of the configuration file, ttl-listing;
passwords come from \`calcfs login\`, CALCFS_PASSWORD, CALCFS_TOKEN or that file, never from a flag.
Exit codes: ${Object.entries(exitMeanings)
  .map(([name, meaning]) => `${exitCodes[name as keyof typeof exitCodes]} ${meaning}`)
  .join(', ')}.`

/** Runs one command line (without node and script) and sets the exit code; nothing is thrown. */
export async function main(args: readonly string[]): Promise<void> {
  watchOutputs()
  endWithoutTerminal()
  try {
    await carryOut(args)
  } catch (reason) {
    process.exitCode = exitCodeOf(reason)
    complain(sentenceOf(reason))
    if (args.includes('--debug')) tell(inspect(reason))
  }
}

async function carryOut(args: readonly string[]): Promise<void> {
  if (args[0] === 'mount.calcfs') {
    const { mountHelper } = await import('./mount/mount-helper.js')
    return mountHelper(args.slice(1), main)
  }
  if (asksForVersions(args)) {
    const { versions } = await import('./doctor/versions.js')
    return printJson(versions())
  }
  const program = programOf(await commandsFor(args), args.includes('--all'))
  await program.parseAsync(args, { from: 'user' })
}

/** `calcfs --version --json`, in either order and nothing else. */
const asksForVersions = (args: readonly string[]): boolean =>
  args.length === 2 && args.includes('--json') && (args.includes('--version') || args.includes('-V'))

/** The whole command line, for its manual, its completion and its tests. */
export async function wholeProgram(listsAll = false): Promise<Command> {
  return programOf(await Promise.all(commands.map(({ load }) => load())), listsAll)
}

/** The command that a line names; all of them where it names none, for the help. */
function commandsFor(args: readonly string[]): Promise<readonly Command[]> {
  const named = args.find((word, at) => !word.startsWith('-') && !takesValue(args[at - 1]))
  if (named === undefined && /^(-V|--version)$/.test(args[0] ?? '')) return Promise.resolve([])
  const meant = commands.filter(({ name }) => name === named)
  return Promise.all((meant.length === 0 ? commands : meant).map(({ load }) => load()))
}

/** The flags before a command whose next word is no command. */
const takesValue = (flag: string | undefined): boolean => flag === '--config' || flag === '--profile'

/** A variable, a profile or a configuration file that is not known is mistyped: the command would quietly do something else. */
function refuseUnknown(command: Command, environment: Environment): void {
  for (const sentence of unknownVariables(environment)) complain(sentence)
  const { profile: named, config } = command.optsWithGlobals<{ profile?: string; config?: string }>()
  const profile = named ?? (environment['CALCFS_PROFILE'] || undefined)
  const file = config ?? (environment['CALCFS_CONFIG'] || undefined)
  if (profile === undefined && file === undefined) return
  const files = configFiles(file, environment)
  if (profile !== undefined) requireProfile(profile, files)
}

/** Asked by shells at TAB, and by a unit of systemd. */
const hidden: readonly string[] = ['__complete', 'hand-over']

/** @param listsAll `--all`: the help has every flag */
function programOf(table: readonly Command[], listsAll = false): Command {
  const program = new Command('calcfs')
    .description('Mounts a computational-chemistry data platform as a drive.')
    .version(version(), '-V, --version', 'print the version; with --json also those of what calcfs runs on')
    .helpOption('-h, --help', 'print this help')
    .option(
      '--config <file>',
      'configuration file; default $XDG_CONFIG_HOME/calcfs/config.toml, then /etc/calcfs/config.toml',
    )
    .option('--profile <profile>', 'the profile of the configuration file to take')
    .option('--debug', 'print where in the program an error came from')
    .addHelpText('after', notes)
    .showHelpAfterError('(calcfs --help lists the commands and flags)')
    .configureOutput({
      writeOut: printText,
      outputError: (text, write) => write(withAdvice(text.replace(/^error: /, 'calcfs: '))),
    })
    .configureHelp(helpForm(listsAll))
    .exitOverride()
    .helpCommand(false)
    .hook('preAction', (_, command) => {
      if (command.name() !== '__complete') refuseUnknown(command, process.env)
    })
  for (const command of table)
    program.addCommand(inheriting(command, program), { hidden: hidden.includes(command.name()) })
  return program
}

/** A sub-command ends like every other command, and names its own help where a line is wrong. */
function inheriting(command: Command, parent: Command, above = parent.name()): Command {
  const line = `${above} ${command.name()}`
  command.copyInheritedSettings(parent)
  command.showHelpAfterError(`(${line} --help says how it is written)`)
  for (const inner of command.commands) inheriting(inner, command, line)
  if (command.commands.length > 0 && examplesOf(command).length === 0) showExamplesOfParts(command)
  return command
}
