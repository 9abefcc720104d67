// Words that may stand at the end of a command line: commands, flags, and values of arguments and flags.
import type { Argument, Command, Option } from 'commander'
import { isUnlisted } from '../../terminal/settings.js'
import { gist } from '../help/form.js'
import { topics } from '../help/topics.js'
import { type ValueKind, valueKinds } from './value-kinds.js'

export interface Candidate {
  readonly value: string
  readonly says: string
}

export interface Completion {
  readonly candidates: readonly Candidate[]
  /** Whether the shell adds files or directories; `names` may hold blanks, `words` do not. */
  readonly kind: 'files' | 'directories' | 'names' | 'words'
}

/** Names that only this machine knows at this moment. */
export type NameSource = (
  kind: 'drives' | 'drafts' | 'profiles',
  flags: Readonly<Record<string, string>>,
) => Promise<readonly Candidate[]>

/** A command line as far as it is typed. */
interface Typed {
  readonly command: Command
  /** Arguments that it has so far. */
  readonly args: readonly string[]
  /** Values of flags so far, by the flag: `--mount`. */
  readonly flags: Readonly<Record<string, string>>
  /** The flag whose value comes next. */
  readonly awaiting: Option | undefined
  /** Behind `--` nothing is a flag. */
  readonly isPlain: boolean
}

/** @param words all after `calcfs`; the last one is completed, and may be empty */
export async function complete(
  program: Command,
  words: readonly string[],
  names: NameSource,
): Promise<Completion> {
  const partial = words.at(-1) ?? ''
  const typed = read(program, words.slice(0, -1))
  const [, flag, begun] = /^(--[^=]+)=(.*)$/s.exec(typed.isPlain ? '' : partial) ?? []
  const option = typed.awaiting ?? (flag === undefined ? undefined : optionNamed(flag, typed.command))
  if (option !== undefined) return beginning(await valuesOf(option, typed, names), begun ?? partial)
  if (flag !== undefined) return none
  if (!typed.isPlain && partial.startsWith('-')) return flagsOf(typed.command, partial)
  const { commands } = typed.command
  if (commands.length > 0 && typed.args.length === 0)
    return beginning(asWords(commandsOf(typed.command)), partial)
  const argument = argumentAt(typed)
  return argument === undefined ? none : beginning(await valuesOf(argument, typed, names), partial)
}

const none: Completion = { candidates: [], kind: 'words' }
const asWords = (candidates: readonly Candidate[]): Completion => ({ candidates, kind: 'words' })

function beginning({ candidates, kind }: Completion, partial: string): Completion {
  return { candidates: candidates.filter(({ value }) => value.startsWith(partial)), kind }
}

function read(program: Command, words: readonly string[]): Typed {
  let typed: Typed = { command: program, args: [], flags: {}, awaiting: undefined, isPlain: false }
  for (const word of words) typed = withWord(typed, word)
  return typed
}

function withWord(typed: Typed, word: string): Typed {
  const { command, args, awaiting } = typed
  if (awaiting !== undefined) {
    const flags = awaiting.long === undefined ? typed.flags : { ...typed.flags, [awaiting.long]: word }
    return { ...typed, flags, awaiting: undefined }
  }
  if (!typed.isPlain && word === '--') return { ...typed, isPlain: true }
  if (!typed.isPlain && word.startsWith('-')) {
    const option = optionNamed(word, command)
    return option !== undefined && (option.required || option.optional)
      ? { ...typed, awaiting: option }
      : typed
  }
  const inner = args.length === 0 ? command.commands.find(one => one.name() === word) : undefined
  return inner === undefined ? { ...typed, args: [...args, word] } : { ...typed, command: inner }
}

/** Of the command itself or of one above it. */
function optionNamed(flag: string, command: Command): Option | undefined {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const found = at.options.find(({ long, short }) => long === flag || short === flag)
    if (found !== undefined) return found
  }
  return undefined
}

const commandsOf = (command: Command): readonly Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map(one => ({ value: one.name(), says: gist(one.description()) }))

/** Those that the help lists; where none of them begins so, the settings that work as flags, too. */
function flagsOf(command: Command, partial: string): Completion {
  const all: Option[] = []
  for (let at: Command | null = command; at !== null; at = at.parent)
    all.push(
      ...at
        .createHelp()
        .visibleOptions(at)
        .filter(({ long }) => !all.some(one => one.long === long)),
    )
  const named = (options: readonly Option[]) =>
    beginning(
      asWords(
        options.map(({ long, short, description }) => ({
          value: long ?? short ?? '',
          says: gist(description),
        })),
      ),
      partial,
    )
  const listed = named(all.filter(option => !isUnlisted(option)))
  return listed.candidates.length > 0 ? listed : named(all)
}

function argumentAt({ command, args }: Typed): Argument | undefined {
  const { registeredArguments } = command
  const last = registeredArguments.at(-1)
  return registeredArguments[args.length] ?? (last?.variadic === true ? last : undefined)
}

async function valuesOf(of: Option | Argument, typed: Typed, names: NameSource): Promise<Completion> {
  if (of.argChoices !== undefined) return asWords(of.argChoices.map(value => ({ value, says: '' })))
  const kind = kindOf(of)
  switch (kind) {
    case 'nothing':
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
export const placeholderOf = (of: Option | Argument): string =>
  'flags' in of ? (/[<[](.+?)(?:\.\.\.)?[>\]]$/.exec(of.flags)?.[1] ?? '') : of.name()

const kindOf = (of: Option | Argument): ValueKind => valueKinds[placeholderOf(of)] ?? 'nothing'

/** Commands and sub-commands; topics behind the first ones. */
function helped({ command, args }: Typed): readonly Candidate[] {
  let at = command.parent ?? command
  for (const word of args) {
    const inner = at.commands.find(one => one.name() === word)
    if (inner === undefined) return []
    at = inner
  }
  const found = at.commands.length === 0 ? [] : commandsOf(at)
  return args.length > 0 ? found : [...found, ...topicCandidates]
}

const topicCandidates: readonly Candidate[] = topics.map(value => ({ value, says: 'a topic' }))
