// Examples of a command: given beside its flags, shown by its --help and its manual page.
import type { Command } from 'commander'

/** What is typed, and what for. */
export type Example = readonly [line: string, says: string]

const given = new WeakMap<Command, readonly Example[]>()

/** Every command has two or more; a line begins with `calcfs` and the command's own name. */
export function withExamples(
  command: Command,
  ...examples: readonly [Example, Example, ...Example[]]
): Command {
  given.set(command, examples)
  return command.addHelpText('after', () => shown(examples))
}

/** In the help of a command that only has sub-commands: the first one of each of them. */
export function withExamplesOfParts(group: Command): Command {
  return group.addHelpText('after', () => shown(group.commands.flatMap(part => examplesOf(part).slice(0, 1))))
}

const shown = (examples: readonly Example[]): string =>
  `\nExamples:\n${exampleLines(examples)
    .map(line => `  ${line}`)
    .join('\n')}`

/** Empty for a command that only has sub-commands. */
export const examplesOf = (command: Command): readonly Example[] => given.get(command) ?? []

/** Lines up to this length have their words beside them. */
const besideAtMost = 44
/** With what is between them and around them, 80 columns. */
const widest = 68

/** What is typed, with its words beside it, or below where it is long. */
function exampleLines(examples: readonly Example[]): readonly string[] {
  const short = examples.map(([line]) => line.length).filter(length => length <= besideAtMost)
  const width = Math.max(0, ...short)
  return examples.flatMap(([line, says]) =>
    line.length <= besideAtMost && Math.max(width, line.length) + says.length <= widest
      ? [`${line.padEnd(width)}  # ${says}`]
      : [line, `    # ${says}`],
  )
}
