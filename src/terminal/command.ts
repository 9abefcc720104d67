// A command of calcfs: commander's, with examples that its --help and its manual page show.
import { Command } from 'commander'

type Example = readonly [line: string, says: string]

export class CliCommand extends Command {
  /** Empty for a command that only has sub-commands. */
  given: readonly Example[] = []

  /** Every command has two or more; a line begins with `calcfs` and the command's own name. */
  examples(...examples: readonly [Example, Example, ...Example[]]): this {
    this.given = examples
    return this.addHelpText('after', () => shown(examples))
  }
}

/** In the help of a command that only has sub-commands: the first one of each of them. */
export function showExamplesOfParts(group: Command): void {
  group.addHelpText('after', () => shown(group.commands.flatMap(part => examplesOf(part).slice(0, 1))))
}

export const examplesOf = (command: Command): readonly Example[] =>
  command instanceof CliCommand ? command.given : []

const shown = (examples: readonly Example[]): string =>
  `\nExamples:\n${exampleLines(examples)
    .map(line => `  ${line}`)
    .join('\n')}`

/** Lines up to this length have their words beside them. */
const besideAtMost = 44
/** With what is between them and around them, 80 columns. */
const widest = 68

/** A line to type, with its words beside it, or below where it is long. */
function exampleLines(examples: readonly Example[]): readonly string[] {
  const short = examples.map(([line]) => line.length).filter(length => length <= besideAtMost)
  const width = Math.max(0, ...short)
  return examples.flatMap(([line, says]) =>
    line.length <= besideAtMost && Math.max(width, line.length) + says.length <= widest
      ? [`${line.padEnd(width)}  # ${says}`]
      : [line, `    # ${says}`],
  )
}
