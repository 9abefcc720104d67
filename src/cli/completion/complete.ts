// Completion: `calcfs completion SHELL` prints its script, and at TAB the names and values that fit there are answered.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Argument, type Command, type Option } from 'commander'
import { configFiles } from '../../config/config.js'
import { drivesOfUser } from '../../mount/mount-point.js'
import { CliCommand } from '../../terminal/command.js'
import { packageRoot } from '../../terminal/package-root.js'
import { printText } from '../../terminal/print.js'
import { isUnlisted } from '../../terminal/settings.js'
import { askEach, settled } from '../control/daemon.js'
import { gist, topics } from '../help/help.js'

interface Candidate {
  readonly value: string
  readonly says: string
}

export interface Completion {
  readonly candidates: readonly Candidate[]
  /** The shell adds files or directories; `names` may hold blanks, `words` do not. */
  readonly kind: 'files' | 'directories' | 'names' | 'words'
}

/** Names that only this machine knows at this moment. */
export type NameSource = (
  kind: 'drives' | 'drafts' | 'profiles',
  flags: Readonly<Record<string, string>>,
) => Promise<readonly Candidate[]>

interface Typed {
  command: Command
  readonly args: string[]
  readonly flags: Record<string, string>
  awaiting: Option | undefined
  /** Behind `--` nothing is a flag. */
  isPlain: boolean
}

/** @param words all after `calcfs`; the last one is completed, and may be empty */
export async function complete(
  program: Command,
  words: readonly string[],
  names: NameSource,
): Promise<Completion> {
  const partial = words.at(-1) ?? ''
  const typed = read(program, words.slice(0, -1))
  const { command, args, isPlain } = typed
  const [, flag, begun] = /^(--[^=]+)=(.*)$/s.exec(isPlain ? '' : partial) ?? []
  const option = typed.awaiting ?? (flag === undefined ? undefined : optionNamed(flag, command))
  if (option !== undefined) return beginning(await valuesOf(option, typed, names), begun ?? partial)
  if (flag !== undefined) return none
  if (!isPlain && partial.startsWith('-')) return flagsOf(command, partial)
  if (command.commands.length > 0 && args.length === 0)
    return beginning(asWords(commandsOf(command)), partial)
  const { registeredArguments } = command
  const last = registeredArguments.at(-1)
  const argument = registeredArguments[args.length] ?? (last?.variadic === true ? last : undefined)
  return argument === undefined ? none : beginning(await valuesOf(argument, typed, names), partial)
}

const none: Completion = { candidates: [], kind: 'words' }
const asWords = (candidates: readonly Candidate[]): Completion => ({ candidates, kind: 'words' })

function beginning({ candidates, kind }: Completion, partial: string): Completion {
  return { candidates: candidates.filter(({ value }) => value.startsWith(partial)), kind }
}

function read(program: Command, words: readonly string[]): Typed {
  const typed: Typed = { command: program, args: [], flags: {}, awaiting: undefined, isPlain: false }
  for (const word of words) {
    const { command, args, flags, awaiting, isPlain } = typed
    const inner = args.length > 0 ? undefined : command.commands.find(one => one.name() === word)
    if (awaiting !== undefined) {
      if (awaiting.long !== undefined) flags[awaiting.long] = word
      typed.awaiting = undefined
    } else if (!isPlain && word === '--') typed.isPlain = true
    else if (!isPlain && word.startsWith('-')) {
      const option = optionNamed(word, command)
      if (option?.required === true || option?.optional === true) typed.awaiting = option
    } else if (inner === undefined) args.push(word)
    else typed.command = inner
  }
  return typed
}

const lineage = (command: Command): readonly Command[] => [
  command,
  ...(command.parent === null ? [] : lineage(command.parent)),
]

const optionNamed = (flag: string, command: Command): Option | undefined =>
  lineage(command)
    .flatMap(({ options }) => options)
    .find(({ long, short }) => long === flag || short === flag)

const commandsOf = (command: Command): readonly Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map(one => ({ value: one.name(), says: gist(one.description()) }))

/** Those that the help lists; where none of them begins so, the settings that work as flags, too. */
function flagsOf(command: Command, partial: string): Completion {
  const all = lineage(command).flatMap(at => at.createHelp().visibleOptions(at))
  const named = (options: readonly Option[]): Completion => {
    const candidates = options.map(({ long, short, description }) => ({
      value: long ?? short ?? '',
      says: gist(description),
    }))
    // Of a flag that a command and one above it have, one is enough.
    const once = candidates.filter(({ value }, at) => candidates.findIndex(one => one.value === value) === at)
    return beginning(asWords(once), partial)
  }
  const listed = named(all.filter(option => !isUnlisted(option)))
  return listed.candidates.length > 0 ? listed : named(all)
}

async function valuesOf(of: Option | Argument, typed: Typed, names: NameSource): Promise<Completion> {
  if (of.argChoices !== undefined) return asWords(of.argChoices.map(value => ({ value, says: '' })))
  const kind = valueKinds[placeholderOf(of)]
  switch (kind) {
    case undefined:
      return none
    case 'files':
    case 'directories':
      return { candidates: [], kind }
    case 'help':
      return asWords(helped(typed))
    default:
      return { candidates: await names(kind, typed.flags), kind: 'names' }
  }
}

/** As the usage has it: `<drive>`, `[path...]`. */
const placeholderOf = (of: Option | Argument): string =>
  'flags' in of ? (/[<[](.+?)(?:\.\.\.)?[>\]]$/.exec(of.flags)?.[1] ?? '') : of.name()

/** Commands and sub-commands; topics behind the first ones. */
function helped({ command, args }: Typed): readonly Candidate[] {
  let at = command.parent ?? command
  for (const word of args) {
    const inner = at.commands.find(one => one.name() === word)
    if (inner === undefined) return []
    at = inner
  }
  const found = at.commands.length === 0 ? [] : commandsOf(at)
  return args.length > 0 ? found : [...found, ...topics.map(value => ({ value, says: 'a topic' }))]
}

/** `files` and `directories` are the shell's own. */
type ValueKind = 'files' | 'directories' | 'drives' | 'drafts' | 'profiles' | 'help'

/** A name that is not here is free text. */
const valueKinds: Readonly<Record<string, ValueKind>> = {
  path: 'files',
  file: 'files',
  'path or id': 'files',
  'path@n': 'files',
  'path@m': 'files',
  directory: 'directories',
  drive: 'drives',
  draft: 'drafts',
  profile: 'profiles',
  topic: 'help',
}

/** Milliseconds that a person waits for after TAB. */
const patience = 1_000

const namesHere: NameSource = async (kind, flags) => {
  const late = new Promise<readonly Candidate[]>(resolve => setTimeout(resolve, patience, []).unref())
  const found = Promise.race([late, sources[kind](flags)])
  const listed = await found.catch(() => [])
  return listed.filter(({ value }) => !/\p{Cc}/u.test(value))
}

type Flags = Readonly<Record<string, string>>

const sources = {
  async drives(_: Flags): Promise<readonly Candidate[]> {
    return (await drivesOfUser()).map(({ path, source }) => ({ value: path, says: source }))
  },

  async drafts(flags: Flags): Promise<readonly Candidate[]> {
    const named = flags['--mount']
    const mounts = named === undefined ? (await drivesOfUser()).map(({ path }) => path) : [named]
    const { answers } = settled(await askEach(mounts, drive => drive.drafts({})))
    return answers.flat().map(({ name, record, state }) => ({ value: name, says: `${record}, ${state}` }))
  },

  async profiles(flags: Flags): Promise<readonly Candidate[]> {
    const asked = flags['--config'] ?? (process.env['CALCFS_CONFIG'] || undefined)
    return configFiles(asked, process.env).flatMap(({ path, profiles }) =>
      Object.entries(profiles).map(([value, { url = path }]) => ({ value, says: String(url) })),
    )
  },
}

const shells = ['bash', 'zsh', 'fish'] as const

/** The script of a shell asks calcfs at each TAB, so that the words are those of the installed version. */
export const completionCommand = (): Command =>
  new CliCommand('completion')
    .description(
      'print what makes a shell complete commands, flags, profiles, mount points and drafts at TAB',
    )
    .addArgument(new Argument('<shell>', 'which one').choices(shells))
    .action((shell: (typeof shells)[number]) =>
      printText(readFileSync(join(packageRoot(), 'docs/completion', `calcfs.${shell}`), 'utf8')),
    )
    .examples(
      ['source <(calcfs completion bash)', 'in ~/.bashrc'],
      ['source <(calcfs completion zsh)', 'in ~/.zshrc, behind compinit'],
      ['calcfs completion fish > ~/.config/fish/completions/calcfs.fish', 'once'],
    )

/**
 * For the scripts. A line for each candidate, `value TAB description`, and at the end `:files`, `:directories`, `:names` or
 * `:words`: the shell adds files of its own, and a candidate may hold blanks. Behind `--flag=` a candidate is the value alone.
 */
export function askedCommand(whole: () => Promise<Command>): Command {
  return new CliCommand('__complete')
    .argument('[word...]', 'the words of a command line; the last one is completed')
    .helpOption(false)
    .action(async (words: readonly string[]) => {
      const { candidates, kind } = await complete(await whole(), words, namesHere)
      const lines = candidates.map(({ value, says }) => `${value}\t${says}`)
      printText([...lines, `:${kind}`, ''].join('\n'))
      // A daemon that hangs is not waited for.
      process.exit()
    })
}
