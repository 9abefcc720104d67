// `calcfs login` and `calcfs logout`: their flags.

import type { Command } from 'commander'
import { CliCommand } from '../../terminal/command.js'
import { type JsonFlag, jsonFlag } from '../../terminal/print.js'
import { configured, withSettings } from '../../terminal/settings.js'

interface LoginFlags extends JsonFlag {
  readonly list?: true
}

export const loginCommand = (): Command =>
  withSettings(
    new CliCommand('login')
      .description('sign in to a service; only the token is kept, readable by you alone')
      .argument('[url]', 'address of the service; default: url of the configuration file')
      .option('--list', 'list the sign-ins that are kept: whose, until when, where; nothing is asked')
      .addOption(jsonFlag('{"service", "user", "until", "keptIn"}, with --list an array of sign-ins'))
      .action(async (url: string | undefined, flags: LoginFlags, command: Command) => {
        const { list, login } = await import('../sign-in/sign-in.js')
        const given = configured(command, url)
        return flags.list === true ? list(given, flags) : login(given, flags)
      })
      .examples(
        ['calcfs login https://lab.example.org --user anna', 'asks for the password'],
        ['pass lab | calcfs login https://lab.example.org --user anna', 'takes it from another program'],
        ['calcfs login --profile group', 'to the service of a profile'],
        ['calcfs login --list', 'which sign-ins are kept, and until when'],
      ),
    'service',
  )

export const logoutCommand = (): Command =>
  withSettings(
    new CliCommand('logout')
      .description('forget the token kept for a service; unsaved texts stay')
      .argument('[url]', 'address of the service; default: url of the configuration file')
      .addOption(jsonFlag('{"service", "user", "wasSignedIn", "mounted", "unsaved", "keptIn"}'))
      .action(async (url: string | undefined, flags: JsonFlag, command: Command) => {
        const { logout } = await import('../sign-in/sign-in.js')
        return logout(configured(command, url), flags)
      })
      .examples(
        ['calcfs logout https://lab.example.org', 'the user of the last log-in there'],
        ['calcfs logout --profile group', 'the service of a profile'],
      ),
    'service',
  )
