// `calcfs login` and `calcfs logout`: their flags.
import type { Command } from 'commander'
import { CliCommand } from '../../terminal/command.js'
import { type JsonFlag, jsonFlag } from '../../terminal/print.js'
import { configured, withSettings } from '../../terminal/settings.js'

export const loginCommand = (): Command =>
  withSettings(
    new CliCommand('login')
      .description('sign in to a service; only the token is kept, readable by you alone')
      .argument('[url]', 'address of the service; default: url of the configuration file')
      .addOption(jsonFlag('{"service", "user", "until", "keptIn"}'))
      .action(async (url: string | undefined, flags: JsonFlag, command: Command) => {
        const { login } = await import('../sign-in/sign-in.js')
        return login(configured(command, url), flags)
      })
      .examples(
        ['calcfs login https://lab.example.org --user anna', 'asks for the password'],
        ['pass lab | calcfs login https://lab.example.org --user anna', 'takes it from another program'],
        ['calcfs login --profile group', 'to the service of a profile'],
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
