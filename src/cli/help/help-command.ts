// `calcfs help [WORD…]`: the help of a command, or a topic.

import { Argument, Command } from 'commander'
import { nearestPhrase } from '../../config/nearest.js'
import { withExamples } from '../../terminal/examples.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { printText } from '../../terminal/print.js'
import { isTopic, topics, topicText } from './topics.js'

/** @param whole makes the command line, whose commands are looked up */
export function helpCommand(whole: () => Promise<Command>): Command {
  const command = new Command('help')
    .description('print the help of a command, or a topic: how edits are saved, what a conflict is, …')
    .addArgument(new Argument('[topic...]', `a command, or one of ${topics.join(', ')}`))
    .action(async (words: readonly string[]) => {
      const [topic = ''] = words
      if (words.length === 1 && isTopic(topic)) printText(topicText(topic))
      else found(words, await whole()).outputHelp()
    })
  return withExamples(
    command,
    ['calcfs help edits', 'how a save reaches the service'],
    ['calcfs help drafts send', 'as calcfs drafts send --help'],
    ['calcfs help settings | less', 'all flags, variables and keys'],
  )
}

function found(words: readonly string[], program: Command): Command {
  let at = program
  for (const word of words) {
    const inner = at.commands.find(command => command.name() === word)
    if (inner === undefined)
      throw new Stop(
        exitCodes.usage,
        `there is no help on '${words.join(' ')}'${nearestPhrase(word, [...topics, ...at.commands.map(one => one.name())])}; calcfs help lists the commands, and the topics are ${topics.join(', ')}.`,
      )
    at = inner
  }
  return at
}
