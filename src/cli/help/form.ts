// Form of every --help: the flags of the connection, which most commands take, are one line instead of twenty.
import { type Command, Help } from 'commander'
import { isUnlisted } from '../../terminal/settings.js'

/** For `configureHelp`. A mistyped flag is still compared with the flags that are not listed. */
export const helpForm = {
  formatHelp(command: Command, helper: Help): string {
    const all = helper.visibleOptions(command)
    helper.visibleOptions = () => all.filter(option => !isUnlisted(option))
    return Help.prototype.formatHelp.call(helper, command, helper)
  },
  subcommandDescription: (command: Command): string => gist(command.description()),
}

/** The first part of a description, for a list of commands or flags. */
export const gist = (description: string): string => description.split(/[;:(]/)[0]?.trim() ?? ''
