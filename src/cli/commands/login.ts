// `calcfs login` and `calcfs logout`: their flags.
import type { Command } from 'commander'
import { CliCommand } from '../../terminal/command.js'
import { type JsonFlag, jsonFlag } from '../../terminal/print.js'
import { configured, withSettings } from '../../terminal/settings.js'
import { meanMounted } from '../control/choose.js'

const signInCommand = (name: 'login' | 'logout', json: string): CliCommand =>
  withSettings(new CliCommand(name), 'service')
    .argument('[url]', 'address of the service; default: url of the configuration, or the only one mounted')
    .addOption(jsonFlag(json))
    .action(async (url: string | undefined, flags: JsonFlag, command: Command) => {
      const acts = await import('../sign-in/sign-in.js')
      if (url === undefined) await meanMounted(command)
      return acts[name](configured(command, url), flags)
    })

export const loginCommand = (): Command =>
  signInCommand('login', '{"service", "user", "until", "keptIn"}')
    .description('sign in to a service; only the token is kept, readable by you alone')
    .examples(
      ['calcfs login https://lab.example.org --user anna', 'asks for the password'],
      ['pass lab | calcfs login https://lab.example.org --user anna', 'takes it from another program'],
      ['calcfs login --profile group', 'to the service of a profile'],
    )

export const logoutCommand = (): Command =>
  signInCommand('logout', '{"service", "user", "wasSignedIn", "mounted", "unsaved", "keptIn"}')
    .description('forget the token kept for a service; unsaved texts stay')
    .examples(
      ['calcfs logout https://lab.example.org', 'the user of the last log-in there'],
      ['calcfs logout --profile group', 'the service of a profile'],
    )
