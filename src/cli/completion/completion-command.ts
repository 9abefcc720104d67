// `calcfs completion SHELL`, and the hidden command that its script asks at TAB.

import { Argument, Command } from 'commander'
import { withExamples } from '../../terminal/examples.js'
import { printText } from '../../terminal/print.js'
import { askedByShells, type Shell, scripts, shells } from './shells.js'

export function completionCommand(): Command {
  const command = new Command('completion')
    .description(
      'print what makes a shell complete commands, flags, profiles, mount points and drafts at TAB',
    )
    .addArgument(new Argument('<shell>', 'which one').choices(shells))
    .action((shell: Shell) => {
      printText(scripts[shell])
    })
  return withExamples(
    command,
    ['source <(calcfs completion bash)', 'in ~/.bashrc'],
    ['source <(calcfs completion zsh)', 'in ~/.zshrc, behind compinit'],
    ['calcfs completion fish > ~/.config/fish/completions/calcfs.fish', 'once'],
  )
}

/** @param whole makes the command line that is completed */
export function askedCommand(whole: () => Promise<Command>): Command {
  return new Command(askedByShells)
    .argument('[word...]', 'the words of a command line; the last one is completed')
    .helpOption(false)
    .action(async (words: readonly string[]) => {
      const [{ complete }, { namesHere }] = await Promise.all([import('./complete.js'), import('./names.js')])
      const { candidates, kind } = await complete(await whole(), words, namesHere)
      const lines = candidates.map(({ value, says }) => `${value}\t${says}`)
      printText([...lines, `:${kind}`, ''].join('\n'))
    })
}
