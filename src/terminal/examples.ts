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
  return command.addHelpText('after', () => `\nExamples:\n${columns(examples)}`)
}

/** Empty for a command that only has sub-commands. */
export const examplesOf = (command: Command): readonly Example[] => given.get(command) ?? []

/** Lines up to this length have their words beside them. */
const besideAtMost = 44

function columns(examples: readonly Example[]): string {
  const short = examples.map(([line]) => line.length).filter(length => length <= besideAtMost)
  const width = Math.max(0, ...short)
  return examples
    .map(([line, says]) =>
      line.length <= besideAtMost ? `  ${line.padEnd(width)}  # ${says}` : `  ${line}\n      # ${says}`,
    )
    .join('\n')
}
