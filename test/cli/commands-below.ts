// All commands of a command line with their whole names, for promises about each.
import type { Command } from 'commander'

export function commandsBelow(command: Command, above = ''): readonly (readonly [string, Command])[] {
  const path = `${above} ${command.name()}`.trim()
  return [[path, command], ...command.commands.flatMap(inner => commandsBelow(inner, path))]
}
